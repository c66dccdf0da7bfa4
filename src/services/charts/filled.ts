/**
 * Bars with the gaps filled, as a stream: besides the traded bars that changed, the flat bars that
 * began or ended as market time moved. Flat bars are derived from traded ones and from the moves of
 * the market clock; nothing of them is stored.
 */
import type { Fold } from '../../actors/fold.ts';
import type { ClockMove } from '../../actors/marketClock.ts';
import type { BarView } from '../../market/barView.ts';
import { fillPrevious, flatBar } from '../../market/fill.ts';
import { intervalEnd, intervalStart, type Resolution } from '../../market/resolution.ts';
import type { Json } from '../../runtime/json.ts';
import { tradedBars } from './history.ts';
import { type Chart, view } from './market.ts';
import type { BarNews } from './parts.ts';

const MAX_FLAT_BARS = 500;

/** The newest traded bar, or the flat one of the interval that has begun since. */
export function newestFilled(fold: Fold, chart: Chart): BarView | null {
  const { series, resolution } = chart;
  if (series.newest === null) return null;
  const traded = view(chart, series.newest);
  const startMs = intervalStart(resolution, fold.clock.openedMs);
  if (startMs <= series.newest.startMs) return traded;
  return flatBar(resolution, startMs, traded.close, fold.marketMs);
}

/** `news` of traded bars with the flat bars that changed after `seq`; null: not remembered. */
export function filledNews(
  fold: Fold,
  chart: Chart,
  seq: number,
  news: readonly BarNews[],
  render: (bar: BarView) => Json,
): BarNews[] | null {
  const moves = fold.clock.movesAfter(seq);
  // A rollback moves time back and takes flat bars away: only a snapshot says that.
  if (moves === null || moves.some(goesBack) || news.some(isRevision)) return null;
  const { resolution } = chart;
  const changedAt = new Map<number, number>();
  for (const move of moves) noteChanges(resolution, move, changedAt);
  const starts = [...changedAt.keys()].sort((a, b) => a - b);
  const [firstMs] = starts;
  const lastMs = starts[starts.length - 1];
  if (firstMs === undefined || lastMs === undefined) return [...news];
  const flats = flatBars(fold, chart, firstMs, intervalEnd(resolution, lastMs)).map(
    (bar): BarNews => {
      const startMs = bar.time * 1000;
      return { startMs, seq: changedAt.get(startMs) ?? seq + 1, cause: 'trade', bar: render(bar) };
    },
  );
  return [...news, ...flats].sort((a, b) => a.seq - b.seq || a.startMs - b.startMs);
}

function flatBars(fold: Fold, chart: Chart, fromMs: number, toMs: number): BarView[] {
  const { resolution } = chart;
  const traded = tradedBars(fold, chart, { fromMs, toMs, limit: MAX_FLAT_BARS });
  const before = tradedBars(fold, chart, { fromMs: 0, toMs: fromMs, limit: 1 }).bars[0];
  const { bars } = fillPrevious(traded.bars, {
    resolution,
    fromMs,
    toMs,
    // Intervals up to the one that has begun, that one included.
    marketMs: intervalEnd(resolution, intervalStart(resolution, fold.clock.openedMs)),
    previousClose: before?.close ?? null,
    limit: MAX_FLAT_BARS,
  });
  return bars
    .filter((bar) => bar.trades === 0)
    .map((bar) => flatBar(resolution, bar.time * 1000, bar.close, fold.marketMs));
}

/** Intervals that a move began or ended, with the newest move that did. */
function noteChanges(
  resolution: Resolution,
  move: ClockMove,
  changedAt: Map<number, number>,
): void {
  const { seq, closedFromMs, closedToMs, openedFromMs, openedToMs } = move;
  const begun = intervalStart(resolution, openedToMs);
  if (begun > intervalStart(resolution, openedFromMs)) changedAt.set(begun, seq);
  let startMs = intervalStart(resolution, intervalStart(resolution, closedToMs) - 1);
  for (let steps = 0; steps < MAX_FLAT_BARS; steps += 1) {
    if (startMs < 0 || intervalEnd(resolution, startMs) <= closedFromMs) return;
    changedAt.set(startMs, Math.max(seq, changedAt.get(startMs) ?? 0));
    startMs = intervalStart(resolution, startMs - 1);
  }
}

function goesBack(move: ClockMove): boolean {
  return move.closedToMs < move.closedFromMs || move.openedToMs < move.openedFromMs;
}

function isRevision({ cause }: BarNews): boolean {
  return cause === 'rollback';
}
