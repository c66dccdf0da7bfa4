/** Bars of a span of time, traded or filled, oldest first. */
import type { Fold } from '../../engine/fold/fold.ts';
import type { BarView } from '../../engine/market/barView.ts';
import { fillPrevious } from '../../engine/market/flatBars.ts';
import { EARLIEST_START_MS, intervalStart } from '../../engine/market/resolution.ts';
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

export function tradedBars(chart: Chart, { fromMs, toMs, limit }: Span): Bars {
  const found = chart.series.between(fromMs, toMs, limit + 1);
  const bars = found.slice(0, limit).map((bar, at) => view(chart, bar, found[at + 1]));
  return { bars: bars.reverse(), cut: found.length > limit };
}

/** As `tradedBars`, with flat bars between, up to the moment that intervals have started. */
export function filledBars(fold: Fold, chart: Chart, span: Span): Bars {
  const traded = tradedBars(chart, span);
  const oldest = traded.bars[0];
  // Cut traded bars are more than the limit allows, so nothing before the oldest is asked for.
  const fromMs = traded.cut && oldest !== undefined ? oldest.time * 1000 : span.fromMs;
  const [before] = traded.cut ? [] : chart.series.between(EARLIEST_START_MS, fromMs, 1);
  const filled = fillPrevious(traded.bars, {
    resolution: chart.resolution,
    fromMs,
    toMs: span.toMs,
    marketMs: startedUpTo(fold),
    previousClose: before === undefined ? null : view(chart, before).close,
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
