/**
 * The bars of one pair at one resolution, as far as they are in memory: open ones, the newest, and
 * the few that changed last. Everything that changed after `#floorSeq` is here; older changes are
 * asked from the store.
 */
import { addBar, type Bar, copyBar, MOVED_ALL } from '../market/bar.ts';
import { decodeBar } from '../market/barText.ts';
import {
  EARLIEST_START_MS,
  intervalEnd,
  intervalStart,
  type Resolution,
  STORED_RESOLUTION_IDS,
} from '../market/resolution.ts';
import {
  type BarPlace,
  type BarRow,
  barPlace,
  type BarChange as RowChange,
} from '../store/barRows.ts';
import type { Cause } from '../store/rows.ts';
import type { StateStore } from '../store/state.ts';

/** A bar and why it last changed; `bar` is null in a tombstone. */
export interface BarChange {
  readonly startMs: number;
  readonly bar: Bar | null;
  readonly seq: number;
  readonly cause: Cause;
}

/** What charts read of bars of one pair at one resolution, stored or made of stored ones. */
export interface BarSeries {
  readonly newest: Bar | null;
  /** Nothing of the bars has changed, as far as it is not the passing of time, since this one. */
  readonly changedSeq: number;
  readonly loadedSeq: number;
  between(fromMs: number, toMs: number, limit: number): Bar[];
  hadNewer(startMs: number, seq: number): boolean;
  changedSince(seq: number, limit: number): { changes: BarChange[]; isAll: boolean };
}

interface HeldBar {
  /** Changed in place during one entry only: what was staged is never changed again. */
  bar: Bar;
  readonly endMs: number;
  readonly place: BarPlace;
  seq: number;
  cause: Cause;
  /** Entry that made the bar; 0 for one that was loaded: it is not known. */
  bornSeq: number;
  /** As the entries before left it; null: it was not there. The bar itself while not `dirty`. */
  before: Bar | null;
  dirty: boolean;
}

const HELD_BARS = 8;
const FOREVER_MS = Number.MAX_SAFE_INTEGER;

export class Series implements BarSeries {
  readonly resolution: Resolution;
  /** Made from the store as of this position; a rollback of its bars makes it again. */
  readonly loadedSeq: number;
  readonly #pairId: number;
  readonly #resolutionId: number;
  readonly #store: StateStore;
  readonly #held = new Map<number, HeldBar>();
  readonly #dirty: HeldBar[] = [];
  #newest: HeldBar | null = null;
  /** No open bar ends before this. */
  #nextEndMs = Number.POSITIVE_INFINITY;
  #floorSeq: number;
  #changedSeq: number;
  /** Start of the newest bar that was released. */
  #releasedMs = Number.NEGATIVE_INFINITY;

  constructor(store: StateStore, pairId: number, resolution: Resolution, stored: boolean) {
    this.resolution = resolution;
    this.#store = store;
    this.#pairId = pairId;
    this.#resolutionId = STORED_RESOLUTION_IDS[resolution];
    this.loadedSeq = store.checkpoint?.seq ?? 0;
    this.#floorSeq = this.loadedSeq;
    this.#changedSeq = this.#floorSeq;
    if (stored) this.#load();
  }

  get newest(): Bar | null {
    return this.#newest?.bar ?? null;
  }

  /** Bars that start in [fromMs, toMs), newest first, at most `limit`. */
  between(fromMs: number, toMs: number, limit: number): Bar[] {
    return this.#store
      .bars(this.#pairId, this.#resolutionId, fromMs, toMs, limit)
      .map(({ start, value }) => decodeBar(start, value ?? ''));
  }

  /** Whether a bar after `startMs` was there at `seq`; also true where that is not remembered. */
  hadNewer(startMs: number, seq: number): boolean {
    if (this.#releasedMs > startMs) return true;
    return [...this.#held.values()].some((held) => {
      return held.bar.startMs > startMs && held.bornSeq <= seq;
    });
  }

  /** Nothing of the series has changed since this position. */
  get changedSeq(): number {
    return this.#changedSeq;
  }

  /**
   * Adds trades of one moment; `candidates` as in `addBar`. Returns what they moved. The end of a
   * bar that is new and will have to be closed goes to `endsMs`.
   */
  add(part: Bar, candidates: number, marketMs: number, endsMs: number[]): number {
    const { timeMs } = part.open;
    const found = this.#find(timeMs);
    if (found !== null) {
      this.#change(found, found === this.#newest && !found.bar.final ? 'trade' : 'late');
      return addBar(found.bar, part, candidates);
    }
    const startMs = intervalStart(this.resolution, timeMs);
    const bar = copyBar(part, startMs);
    const behind = this.#newest !== null && startMs < this.#newest.bar.startMs;
    const ended = intervalEnd(this.resolution, startMs) <= marketMs;
    bar.final = ended;
    const held = this.#hold(bar, null, 0, behind || ended ? 'late' : 'trade');
    if (!behind) this.#newest = held;
    held.dirty = true;
    this.#dirty.push(held);
    if (!ended) endsMs.push(held.endMs);
    return MOVED_ALL;
  }

  /** Makes every open bar final whose interval has ended. */
  finalise(marketMs: number): void {
    if (marketMs < this.#nextEndMs) return;
    this.#nextEndMs = Number.POSITIVE_INFINITY;
    for (const held of this.#held.values()) {
      if (held.bar.final) continue;
      if (held.endMs > marketMs) {
        this.#nextEndMs = Math.min(this.#nextEndMs, held.endMs);
        continue;
      }
      this.#change(held, held === this.#newest ? 'final' : 'lateFinal');
      held.bar.final = true;
    }
  }

  /** The row changes since the last call, stamped with `seq`. */
  finish(seq: number, changes: RowChange[]): boolean {
    if (this.#dirty.length === 0) return false;
    // By start: the order of what is held depends on what was evicted.
    if (this.#dirty.length > 1) this.#dirty.sort((a, b) => a.bar.startMs - b.bar.startMs);
    for (const held of this.#dirty) {
      const { place, before, bar, cause } = held;
      changes.push({ place, before, after: bar, cause });
      if (before === null) held.bornSeq = seq;
      held.before = bar;
      held.seq = seq;
      held.dirty = false;
    }
    this.#dirty.length = 0;
    this.#changedSeq = seq;
    if (this.#held.size > HELD_BARS) this.#release();
    return true;
  }

  /**
   * Bars that changed after `seq`, oldest change first. When more than `limit` did, the oldest of
   * them up to a position that is not cut in two: none when one entry changed more than that.
   */
  changedSince(seq: number, limit: number): { changes: BarChange[]; isAll: boolean } {
    const found = seq >= this.#floorSeq ? this.#heldSince(seq) : this.#storedSince(seq, limit);
    const beyond = found[limit];
    if (beyond === undefined) return { changes: found, isAll: true };
    return { changes: found.filter((change) => change.seq < beyond.seq), isAll: false };
  }

  #heldSince(seq: number): BarChange[] {
    const changes: BarChange[] = [];
    for (const { bar, seq: changed, cause } of this.#held.values()) {
      if (changed > seq) changes.push({ startMs: bar.startMs, bar, seq: changed, cause });
    }
    return changes.sort((a, b) => a.seq - b.seq || a.startMs - b.startMs);
  }

  #storedSince(seq: number, limit: number): BarChange[] {
    return this.#store
      .barsChangedSince(this.#pairId, this.resolution, seq, limit + 1)
      .map(({ start, seq: changed, cause, value }) => ({
        startMs: start,
        bar: value === null ? null : decodeBar(start, value),
        seq: changed,
        cause,
      }));
  }

  #find(timeMs: number): HeldBar | null {
    const newest = this.#newest;
    if (newest === null || timeMs >= newest.endMs) return null;
    if (timeMs >= newest.bar.startMs) return newest;
    const startMs = intervalStart(this.resolution, timeMs);
    const held = this.#held.get(startMs);
    if (held !== undefined) return held;
    const row = this.#store.bar(this.#pairId, this.#resolutionId, startMs);
    return row === null || row.value === null ? null : this.#holdRow(row, row.value);
  }

  #load(): void {
    const marketMs = this.#store.checkpoint?.marketMs ?? 0;
    for (const row of this.#store.openBars(this.#pairId, this.resolution, marketMs)) {
      if (row.value !== null) this.#holdRow(row, row.value);
    }
    const [last] = this.#store.bars(
      this.#pairId,
      this.#resolutionId,
      EARLIEST_START_MS,
      FOREVER_MS,
      1,
    );
    if (last === undefined || last.value === null) return;
    this.#newest = this.#held.get(last.start) ?? this.#holdRow(last, last.value);
  }

  #holdRow(row: BarRow, value: string): HeldBar {
    const bar = decodeBar(row.start, value);
    return this.#hold(bar, bar, row.seq, row.cause);
  }

  #hold(bar: Bar, before: Bar | null, seq: number, cause: Cause): HeldBar {
    const place = barPlace(this.#pairId, this.#resolutionId, bar.startMs);
    const endMs = intervalEnd(this.resolution, bar.startMs);
    const held: HeldBar = { bar, endMs, place, seq, cause, bornSeq: 0, before, dirty: false };
    this.#held.set(bar.startMs, held);
    if (!bar.final) this.#nextEndMs = Math.min(this.#nextEndMs, endMs);
    return held;
  }

  /** Before a bar is changed in place. */
  #change(held: HeldBar, cause: Cause): void {
    held.cause = cause;
    if (held.dirty) return;
    held.bar = copyBar(held.bar);
    held.dirty = true;
    this.#dirty.push(held);
  }

  /** Forgets final bars, the longest unchanged first, down to half of what may be held. */
  #release(): void {
    const final = [...this.#held.values()]
      .filter((held) => held.bar.final && held !== this.#newest)
      .sort((a, b) => a.seq - b.seq);
    for (const held of final.slice(0, HELD_BARS / 2)) {
      this.#held.delete(held.bar.startMs);
      this.#floorSeq = Math.max(this.#floorSeq, held.seq);
      this.#releasedMs = Math.max(this.#releasedMs, held.bar.startMs);
    }
  }
}
