/**
 * Bars with the gaps filled, as a stream: besides the traded bars that changed, the flat bars that
 * began or ended as market time moved. Flat bars are derived from traded ones and from the moves of
 * the market clock; they are not stored.
 */
import type { Fold } from '../../engine/fold/fold.ts';
import type { ClockMove } from '../../engine/fold/marketClock.ts';
import type { BarView } from '../../engine/market/barView.ts';
import { fillPrevious, flatBar } from '../../engine/market/flatBars.ts';
import {
  type ChartResolution,
  EARLIEST_START_MS,
  intervalEnd,
  intervalStart,
} from '../../engine/market/resolution.ts';
import type { Json } from '../../engine/runtime/json.ts';
import type { ChangeCause } from '../../engine/store/rows.ts';
import type { BarNews } from './barFrames.ts';
import { type Chart, view } from './findChart.ts';
import { tradedBars } from './history.ts';

const MAX_FLAT_BARS = 500;

/** The newest traded bar, or the flat bar of the interval that has started since. */
export function newestFilled(fold: Fold, chart: Chart): BarView | null {
  const { series, resolution } = chart;
  if (series.newest === null) return null;
  const traded = view(chart, series.newest);
  const startMs = lastStarted(fold, resolution);
  if (startMs <= series.newest.startMs) return traded;
  return flatBar(resolution, startMs, traded.close, fold.marketMs);
}

/**
 * `news` of traded bars with the flat bars that changed after `seq`: by a move of the clock, or
 * because a late trade changed the close they stand at. Null: not remembered, or too many.
 */
export function filledNews<Shown extends Json>(
  fold: Fold,
  chart: Chart,
  seq: number,
  news: readonly BarNews<Shown>[],
  render: (bar: BarView) => Shown,
): BarNews<Shown>[] | null {
  const moves = fold.clock.movesAfter(seq);
  // A rollback moves time back and takes flat bars away: only a snapshot says that.
  if (moves === null || moves.some(goesBack) || news.some(isRevision)) return null;
  const { resolution } = chart;
  const movedAt = new Map<number, number>();
  for (const move of moves) if (!noteMove(resolution, move, movedAt)) return null;
  if (movedAt.size > MAX_FLAT_BARS) return null;
  const ends = news.map(({ startMs }) => intervalEnd(resolution, startMs));
  const toMs = intervalEnd(resolution, lastStarted(fold, resolution));
  const fromMs = Math.min(toMs, ...movedAt.keys(), ...ends);
  const flats = flatBars(fold, chart, fromMs, toMs);
  if (flats === null) return null;
  const changedAt = new Map(news.map(({ startMs, seq: changed }) => [startMs, changed]));
  const changed = flats.flatMap(({ bar, afterMs }): BarNews<Shown>[] => {
    const startMs = bar.time * 1000;
    const moved = movedAt.get(startMs) ?? 0;
    const at = Math.max(moved, changedAt.get(afterMs) ?? 0);
    if (at === 0) return [];
    const isNewest = at === moved && !chart.series.hadNewer(startMs, at);
    return [{ startMs, seq: at, cause: flatCause(isNewest, bar.final), bar: render(bar) }];
  });
  return [...news, ...changed].sort((a, b) => a.seq - b.seq || a.startMs - b.startMs);
}

/** The cause for a flat bar that began or ended, or whose close changed. */
function flatCause(isNewest: boolean, isFinal: boolean): ChangeCause {
  if (isNewest) return isFinal ? 'final' : 'trade';
  return isFinal ? 'lateFinal' : 'late';
}

function lastStarted({ clock }: Fold, resolution: ChartResolution): number {
  return startedBy(resolution, clock.openedMs, clock.marketMs);
}

/**
 * Start of the newest interval that has started. The end of an interval does not start the next
 * one, but every interval before that end has started, also where no entry said so.
 */
function startedBy(resolution: ChartResolution, openedMs: number, closedMs: number): number {
  return Math.max(intervalStart(resolution, openedMs), intervalStart(resolution, closedMs - 1));
}

/** A flat bar, and the start of the traded one whose close it stands at. */
interface FlatBar {
  readonly bar: BarView;
  readonly afterMs: number;
}

/**
 * Flat bars that start in [fromMs, toMs), including the interval that has started; null: too many.
 */
function flatBars(fold: Fold, chart: Chart, fromMs: number, toMs: number): FlatBar[] | null {
  const { resolution } = chart;
  const traded = tradedBars(chart, { fromMs, toMs, limit: MAX_FLAT_BARS });
  const before = tradedBars(chart, { fromMs: EARLIEST_START_MS, toMs: fromMs, limit: 1 }).bars[0];
  const { bars, cut } = fillPrevious(traded.bars, {
    resolution,
    fromMs,
    toMs,
    marketMs: toMs,
    previousClose: before?.close ?? null,
    limit: MAX_FLAT_BARS,
  });
  if (cut || traded.cut) return null;
  let afterMs = (before?.time ?? 0) * 1000;
  return bars.flatMap(({ time, trades, close }) => {
    if (trades === 0) {
      return [{ bar: flatBar(resolution, time * 1000, close, fold.marketMs), afterMs }];
    }
    afterMs = time * 1000;
    return [];
  });
}

/** Intervals that a move began or ended, with the newest move that did; false: too many. */
function noteMove(
  resolution: ChartResolution,
  move: ClockMove,
  movedAt: Map<number, number>,
): boolean {
  const { seq, closedFromMs, closedToMs, openedFromMs, openedToMs } = move;
  const started = startedBy(resolution, openedToMs, closedToMs);
  if (started > startedBy(resolution, openedFromMs, closedFromMs)) movedAt.set(started, seq);
  // Before the market began there was nothing to end.
  if (closedFromMs === 0) return true;
  let startMs = intervalStart(resolution, intervalStart(resolution, closedToMs) - 1);
  for (let steps = 0; intervalEnd(resolution, startMs) > closedFromMs; steps += 1) {
    if (steps === MAX_FLAT_BARS) return false;
    movedAt.set(startMs, Math.max(seq, movedAt.get(startMs) ?? 0));
    startMs = intervalStart(resolution, startMs - 1);
  }
  return true;
}

function goesBack(move: ClockMove): boolean {
  return move.closedToMs < move.closedFromMs || move.openedToMs < move.openedFromMs;
}

function isRevision({ cause }: BarNews): boolean {
  return cause === 'rollback';
}
