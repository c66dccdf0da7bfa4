/** Bars of a span of time, traded or filled, oldest first. */
import type { Fold } from '../../engine/actors/fold.ts';
import { decodeBar } from '../../engine/market/barText.ts';
import type { BarView } from '../../engine/market/barView.ts';
import { fillPrevious } from '../../engine/market/flatBars.ts';
import {
  EARLIEST_START_MS,
  intervalStart,
  STORED_RESOLUTION_IDS,
} from '../../engine/market/resolution.ts';
import type { BarRow } from '../../engine/store/barRows.ts';
import { type Chart, view } from './findChart.ts';

interface Span {
  /** Bars that start in [fromMs, toMs). */
  readonly fromMs: number;
  readonly toMs: number;
  /** At most this many, the newest ones. */
  readonly limit: number;
}

interface Bars {
  readonly bars: readonly BarView[];
  /** Older ones in the span were left out. */
  readonly cut: boolean;
}

export function tradedBars(fold: Fold, chart: Chart, { fromMs, toMs, limit }: Span): Bars {
  const rows = readRows(fold, chart, fromMs, toMs, limit + 1);
  const bars = rows.slice(0, limit).map((row) => viewRow(chart, row));
  return { bars: bars.reverse(), cut: rows.length > limit };
}

/** As `tradedBars`, with flat bars between, up to the moment that intervals have started. */
export function filledBars(fold: Fold, chart: Chart, span: Span): Bars {
  const traded = tradedBars(fold, chart, span);
  const oldest = traded.bars[0];
  // Cut traded bars are more than the limit allows, so nothing before the oldest is asked for.
  const fromMs = traded.cut && oldest !== undefined ? oldest.time * 1000 : span.fromMs;
  const [before] = traded.cut ? [] : readRows(fold, chart, EARLIEST_START_MS, fromMs, 1);
  const filled = fillPrevious(traded.bars, {
    resolution: chart.resolution,
    fromMs,
    toMs: span.toMs,
    marketMs: startedUpTo(fold),
    previousClose: before === undefined ? null : viewRow(chart, before).close,
    limit: span.limit,
  });
  return { bars: filled.bars, cut: filled.cut || traded.cut };
}

/**
 * Market time, for bars that start before it. It includes an interval that starts at this moment if
 * an entry has started it: streams have reported it, and both speak of one position.
 */
export function startedUpTo({ clock }: Fold): number {
  const { openedMs, marketMs } = clock;
  const begins = openedMs === marketMs && intervalStart('min1', marketMs) === marketMs;
  return begins ? marketMs + 1 : marketMs;
}

function readRows(fold: Fold, chart: Chart, fromMs: number, toMs: number, limit: number): BarRow[] {
  const resolution = STORED_RESOLUTION_IDS[chart.resolution];
  return fold.store.bars(chart.pool.pair.id, resolution, fromMs, toMs, limit);
}

function viewRow(chart: Chart, { start, value }: BarRow): BarView {
  return view(chart, decodeBar(start, value ?? ''));
}
