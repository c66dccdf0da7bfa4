/**
 * Bars of a resolution that is not stored, made of the stored bars of a finer one when they are
 * read. A bar exists as long as one of its parts does, changes with each change of a part, and ends
 * at its own end, which may be the end of no part: then the entry that moved market time past it is
 * its last change.
 * Source: protocol.md section 9.2.
 */
import { lastRollback } from '../../engine/fold/chainFold.ts';
import type { Fold } from '../../engine/fold/fold.ts';
import type { ClockMove } from '../../engine/fold/marketClock.ts';
import { type Bar, joinBars } from '../../engine/market/bar.ts';
import {
  type DerivedResolution,
  EARLIEST_START_MS,
  FOREVER_MS,
  intervalEnd,
  intervalStart,
  PART_RESOLUTIONS,
} from '../../engine/market/resolution.ts';
import type { BarChange, BarSeries, Series } from '../../engine/pools/series.ts';
import type { ChangeCause } from '../../engine/store/rows.ts';

/** Bars that are asked whether they ended where moves of the clock are forgotten. */
const MAX_ENDED = 50;

type Time = Pick<Fold, 'clock' | 'store'>;

export class DerivedSeries implements BarSeries {
  readonly #part: Series;
  readonly #resolution: DerivedResolution;
  readonly #time: Time;
  readonly #parts: number;

  constructor(part: Series, resolution: DerivedResolution, time: Time) {
    this.#part = part;
    this.#resolution = resolution;
    this.#time = time;
    this.#parts = intervalEnd(resolution, 0) / intervalEnd(PART_RESOLUTIONS[resolution], 0);
  }

  get newest(): Bar | null {
    const { newest } = this.#part;
    return newest === null ? null : this.#at(intervalStart(this.#resolution, newest.startMs));
  }

  get changedSeq(): number {
    return this.#part.changedSeq;
  }

  get loadedSeq(): number {
    return this.#part.loadedSeq;
  }

  between(fromMs: number, toMs: number, limit: number): Bar[] {
    if (toMs <= fromMs) return [];
    const resolution = this.#resolution;
    const started = intervalStart(resolution, fromMs);
    const firstMs = started < fromMs ? intervalEnd(resolution, started) : started;
    const endMs =
      toMs >= FOREVER_MS ? toMs : intervalEnd(resolution, intervalStart(resolution, toMs - 1));
    // This many parts make at least that many whole bars; where there are more bars, some have
    // fewer parts.
    const parts = this.#part.between(firstMs, endMs, limit * this.#parts);
    const groups = Map.groupBy(parts, ({ startMs }) => intervalStart(resolution, startMs));
    return [...groups].slice(0, limit).map(([startMs, found]) => this.#join(startMs, found));
  }

  hadNewer(startMs: number, seq: number): boolean {
    return this.#part.hadNewer(intervalEnd(this.#resolution, startMs) - 1, seq);
  }

  changedSince(seq: number, limit: number): { changes: BarChange[]; isAll: boolean } {
    const { changes: parts, isAll } = this.#part.changedSince(seq, limit * this.#parts);
    const ended = this.#endedSince(seq);
    if (!isAll || ended === null) return { changes: [], isAll: false };
    const groups = Map.groupBy(parts, ({ startMs }) => intervalStart(this.#resolution, startMs));
    const starts = new Set([...groups.keys(), ...ended.keys()]);
    if (starts.size > limit) return { changes: [], isAll: false };
    const changes = [...starts].map((startMs) =>
      this.#change(startMs, groups.get(startMs) ?? [], ended.get(startMs) ?? null),
    );
    return { changes: changes.sort((a, b) => a.seq - b.seq || a.startMs - b.startMs), isAll };
  }

  #change(startMs: number, parts: readonly BarChange[], end: EndCrossing | null): BarChange {
    const seq = parts.reduce((most, part) => Math.max(most, part.seq), end?.seq ?? 0);
    const bar = this.#at(startMs);
    const isUndone = end?.cause === 'rollback' || parts.some(({ cause }) => cause === 'rollback');
    if (bar === null || isUndone) return { startMs, bar, seq, cause: 'rollback' };
    const isEnd = end !== null && end.seq === seq;
    const isNewest = !this.hadNewer(startMs, seq);
    return { startMs, bar, seq, cause: causeOf(isNewest, isEnd, bar.final) };
  }

  /** The end of each bar whose end market time crossed after `seq`; null: not remembered. */
  #endedSince(seq: number): Map<number, EndCrossing> | null {
    const moves = this.#time.clock.movesAfter(seq);
    const ended = new Map<number, EndCrossing>();
    if (moves?.length === 0) return ended;
    const times = moves?.flatMap((move) => [move.closedFromMs, move.closedToMs]);
    const fromMs = times === undefined ? EARLIEST_START_MS : this.#startOf(Math.min(...times));
    const toMs = times === undefined ? FOREVER_MS : Math.max(...times) + 1;
    const bars = this.between(Math.max(EARLIEST_START_MS, fromMs), toMs, MAX_ENDED + 1);
    for (const { startMs } of bars) {
      const crossing = endCrossing(this.#time, intervalEnd(this.#resolution, startMs), seq);
      if (crossing !== null) ended.set(startMs, crossing);
    }
    return ended.size > MAX_ENDED ? null : ended;
  }

  #startOf(timeMs: number): number {
    return intervalStart(this.#resolution, timeMs);
  }

  #at(startMs: number): Bar | null {
    return this.between(startMs, startMs + 1, 1)[0] ?? null;
  }

  /** `parts`: newest first. */
  #join(startMs: number, parts: readonly Bar[]): Bar {
    const [first, ...others] = parts.toReversed();
    if (first === undefined) throw new Error('a bar is made of parts');
    const final = intervalEnd(this.#resolution, startMs) <= this.#time.clock.marketMs;
    return joinBars(startMs, [first, ...others], final);
  }
}

/** A trade or an end: of the newest bar an ordinary one, of an older or ended one a revision. */
function causeOf(isNewest: boolean, isEnd: boolean, isFinal: boolean): ChangeCause {
  if (isEnd) return isNewest ? 'final' : 'lateFinal';
  return isNewest && !isFinal ? 'trade' : 'late';
}

interface EndCrossing {
  readonly seq: number;
  readonly cause: ChangeCause;
}

/**
 * The last entry after `seq` that took market time across `endMs`, forwards or back. If an entry
 * took it back, a client may already know the bar as ended, so the whole change is a rollback.
 */
export function endCrossing(
  { clock, store }: Time,
  endMs: number,
  seq: number,
): EndCrossing | null {
  const moves = clock.movesAfter(seq);
  if (moves === null) {
    // Not remembered. Blocks are: the entry after the last one before the end began a new minute.
    const before = endMs <= clock.marketMs ? store.pointAtOrBefore(endMs - 1) : null;
    const isUndone = (lastRollback(store)?.seq ?? 0) > seq;
    const cause = isUndone ? 'rollback' : 'final';
    return before === null || before.seq < seq ? null : { seq: before.seq + 1, cause };
  }
  const crossings = moves.filter((each) => isPast(each.closedFromMs) !== isPast(each.closedToMs));
  const move = crossings.at(-1);
  if (move === undefined) return null;
  return { seq: move.seq, cause: crossings.some(goesBack) ? 'rollback' : 'final' };

  function isPast(timeMs: number): boolean {
    return timeMs >= endMs;
  }
}

function goesBack({ closedFromMs, closedToMs }: ClockMove): boolean {
  return closedToMs < closedFromMs;
}
