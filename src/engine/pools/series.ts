/**
 * The part of a pair's bars at one resolution that is in memory: open ones, the newest, and the few
 * that changed last. Everything that changed after `#floorSeq` is here; older changes are asked
 * from the store.
 */
import { addBar, type Bar, copyBar, MOVED_ALL } from '../market/bar.ts';
import { decodeBar } from '../market/barText.ts';
import {
  EARLIEST_START_MS,
  FOREVER_MS,
  intervalEnd,
  intervalStart,
  type Resolution,
  STORED_RESOLUTION_IDS,
} from '../market/resolution.ts';
import type { BarRow, BarSlot } from '../store/barRows.ts';
import type { PairWrites } from '../store/pendingBars.ts';
import type { ChangeCause } from '../store/rows.ts';
import type { StateStore } from '../store/state.ts';

/** A bar and why it last changed; `bar` is null in a tombstone. */
export interface BarChange {
  readonly startMs: number;
  readonly bar: Bar | null;
  readonly seq: number;
  readonly cause: ChangeCause;
}

/**
 * The interface of charts to the bars of one pair at one resolution, stored or made of stored ones.
 */
export interface BarSeries {
  readonly newest: Bar | null;
  /** Seq of the last entry that changed a bar. Time passing does not count. */
  readonly changedSeq: number;
  readonly loadedSeq: number;
  between(fromMs: number, toMs: number, limit: number): Bar[];
  hadNewer(startMs: number, seq: number): boolean;
  changedSince(seq: number, limit: number): { changes: BarChange[]; isAll: boolean };
}

/** The pair of a series. */
interface SeriesOwner {
  /** Puts trades and ends that wait into the bars. */
  catchUp(): void;
}

interface HeldBar extends BarSlot {
  readonly value: Bar;
  readonly endMs: number;
  seq: number;
  cause: ChangeCause;
  /** Entry that made the bar; 0 for a loaded bar, because it is not known. */
  bornSeq: number;
  /** Made since the last `finish`. */
  isNew: boolean;
  /** Changed since the last `finish`. */
  isDirty: boolean;
  /** `serial` of the staged pair that holds it; 0: none does. */
  stagedIn: number;
}

const HELD_BARS = 8;

export class Series implements BarSeries {
  readonly resolution: Resolution;
  /** Made from the store as of this position; a rollback of its bars makes it again. */
  readonly loadedSeq: number;
  readonly #pairId: number;
  readonly #resolutionId: number;
  readonly #store: StateStore;
  /** Has pending trades and ends: readers put them into the bars first. */
  readonly #owner: SeriesOwner;
  /** Few, mostly one: a map takes four times the room, twelve times in each pair. */
  #held: HeldBar[] = [];
  /** The first bar that changed since the last `finish`, and the others: mostly there are none. */
  #dirty: HeldBar | null = null;
  #alsoDirty: HeldBar[] | null = null;
  #newest: HeldBar | null = null;
  /** No open bar ends before this. */
  nextEndMs = Number.POSITIVE_INFINITY;
  #floorSeq: number;
  #changedSeq: number;
  /** Start of the newest bar that was released. */
  #releasedMs = Number.NEGATIVE_INFINITY;

  constructor(
    store: StateStore,
    pairId: number,
    resolution: Resolution,
    owner: SeriesOwner,
    loadedSeq: number,
  ) {
    this.resolution = resolution;
    this.#store = store;
    this.#owner = owner;
    this.#pairId = pairId;
    this.#resolutionId = STORED_RESOLUTION_IDS[resolution];
    this.loadedSeq = loadedSeq;
    this.#floorSeq = this.loadedSeq;
    this.#changedSeq = this.#floorSeq;
  }

  get newest(): Bar | null {
    this.#owner.catchUp();
    return this.#newest?.value ?? null;
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
    return this.#held.some(({ start, bornSeq }) => {
      return start > startMs && bornSeq <= seq;
    });
  }

  /** Seq of the last entry that changed the series. */
  get changedSeq(): number {
    this.#owner.catchUp();
    return this.#changedSeq;
  }

  /** Trades from here up to `openToMs` only change the newest bar, which is open. */
  get openFromMs(): number {
    const newest = this.#newest;
    return newest === null || newest.value.final ? Number.POSITIVE_INFINITY : newest.start;
  }

  get openToMs(): number {
    return this.#newest?.endMs ?? Number.NEGATIVE_INFINITY;
  }

  /** Reads what `add` of a trade at this moment will need: `add` itself reads nothing. */
  prepare(timeMs: number): void {
    this.#find(timeMs);
  }

  /**
   * Adds trades of one moment; `candidates` as in `addBar`. Returns what they moved. The end of a
   * bar that is new and will have to be closed goes to `endsMs`.
   */
  add(part: Bar, candidates: number, marketMs: number, endsMs: number[]): number {
    const { timeMs } = part.open;
    const found = this.#find(timeMs);
    if (found !== null) {
      const isNewest = found === this.#newest && !found.value.final;
      this.#change(found, isNewest ? 'trade' : 'late');
      return addBar(found.value, part, candidates);
    }
    const startMs = intervalStart(this.resolution, timeMs);
    const bar = copyBar(part, startMs);
    const behind = this.#newest !== null && startMs < this.#newest.start;
    const ended = intervalEnd(this.resolution, startMs) <= marketMs;
    bar.final = ended;
    const held = this.#hold(bar, 0, behind || ended ? 'late' : 'trade');
    if (!behind) this.#newest = held;
    held.isNew = true;
    this.#markDirty(held);
    if (!ended) endsMs.push(held.endMs);
    return MOVED_ALL;
  }

  /** Makes every open bar final whose interval has ended. */
  finalise(marketMs: number): void {
    if (marketMs < this.nextEndMs) return;
    this.nextEndMs = Number.POSITIVE_INFINITY;
    for (const held of this.#held) {
      if (held.value.final) continue;
      if (held.endMs > marketMs) {
        this.nextEndMs = Math.min(this.nextEndMs, held.endMs);
        continue;
      }
      this.#change(held, held === this.#newest ? 'final' : 'lateFinal');
      held.value.final = true;
    }
  }

  /**
   * Stamps the bars that changed since the last call with `seq`; they go to `staged`. Answers
   * whether there are any.
   */
  finish(seq: number, staged: PairWrites | null): boolean {
    const first = this.#dirty;
    if (first === null) return false;
    const others = this.#alsoDirty;
    this.#dirty = null;
    this.#alsoDirty = null;
    if (others === null) stamp(first, seq, staged);
    else {
      // By start: the order of held bars depends on evictions.
      const changed = [first, ...others].sort((a, b) => a.start - b.start);
      for (const held of changed) stamp(held, seq, staged);
    }
    this.#changedSeq = seq;
    if (this.#held.length > HELD_BARS) this.#release();
    return true;
  }

  /**
   * Bars that changed after `seq`, oldest change first. When more than `limit` did, the oldest of
   * them up to a position that is not cut in two: none when one entry changed more than that.
   */
  changedSince(seq: number, limit: number): { changes: BarChange[]; isAll: boolean } {
    this.#owner.catchUp();
    const found = seq >= this.#floorSeq ? this.#heldSince(seq) : this.#storedSince(seq, limit);
    const beyond = found[limit];
    if (beyond === undefined) return { changes: found, isAll: true };
    return { changes: found.filter((change) => change.seq < beyond.seq), isAll: false };
  }

  #heldSince(seq: number): BarChange[] {
    const changes: BarChange[] = [];
    for (const { start, value, seq: changed, cause } of this.#held) {
      if (changed > seq) changes.push({ startMs: start, bar: value, seq: changed, cause });
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
    if (timeMs >= newest.start) return newest;
    const startMs = intervalStart(this.resolution, timeMs);
    const held = this.#heldAt(startMs);
    if (held !== undefined) return held;
    const row = this.#store.bar(this.#pairId, this.#resolutionId, startMs);
    return row === null || row.value === null ? null : this.#holdRow(row, row.value);
  }

  /** Loads a pair that has rows already, up to date at this market time. */
  load(marketMs: number): void {
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
    this.#newest = this.#heldAt(last.start) ?? this.#holdRow(last, last.value);
  }

  #heldAt(startMs: number): HeldBar | undefined {
    return this.#held.find(({ start }) => start === startMs);
  }

  #holdRow(row: BarRow, value: string): HeldBar {
    return this.#hold(decodeBar(row.start, value), row.seq, row.cause);
  }

  #hold(bar: Bar, seq: number, cause: ChangeCause): HeldBar {
    const endMs = intervalEnd(this.resolution, bar.startMs);
    const held: HeldBar = {
      pair: this.#pairId,
      resolution: this.#resolutionId,
      start: bar.startMs,
      value: bar,
      endMs,
      seq,
      cause,
      bornSeq: 0,
      isNew: false,
      isDirty: false,
      stagedIn: 0,
    };
    // Not pushed to an empty list, which would take room for seventeen.
    if (this.#held.length === 0) this.#held = [held];
    else this.#held.push(held);
    if (!bar.final) this.nextEndMs = Math.min(this.nextEndMs, endMs);
    return held;
  }

  #change(held: HeldBar, cause: ChangeCause): void {
    held.cause = cause;
    if (!held.isDirty) this.#markDirty(held);
  }

  #markDirty(held: HeldBar): void {
    held.isDirty = true;
    if (this.#dirty === null) this.#dirty = held;
    else if (this.#alsoDirty === null) this.#alsoDirty = [held];
    else this.#alsoDirty.push(held);
  }

  /** Evicts final bars, the longest unchanged first, down to half of the limit. */
  #release(): void {
    const final = this.#held
      .filter((held) => held.value.final && held !== this.#newest)
      .sort((a, b) => a.seq - b.seq);
    const released = new Set(final.slice(0, HELD_BARS / 2));
    for (const { seq, start } of released) {
      this.#floorSeq = Math.max(this.#floorSeq, seq);
      this.#releasedMs = Math.max(this.#releasedMs, start);
    }
    this.#held = this.#held.filter((held) => !released.has(held));
  }
}

function stamp(held: HeldBar, seq: number, staged: PairWrites | null): void {
  if (held.isNew) held.bornSeq = seq;
  held.isNew = false;
  held.isDirty = false;
  held.seq = seq;
  if (staged === null || held.stagedIn === staged.serial) return;
  held.stagedIn = staged.serial;
  staged.put(held);
}
