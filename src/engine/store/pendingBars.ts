/**
 * Bars that are not written yet, overlaid on reads of the table. No read has to commit first, so a
 * full disk never stops a reader.
 *
 * A pair keeps its newest trades to itself until somebody needs its bars (`BarOwner.settle`): six
 * bars change with each trade, and a commit writes each once.
 */
import { MINUTE_MS } from '../market/resolution.ts';
import { type BarRow, type BarSlot, barKey, barText } from './barRows.ts';
import { CHANGE_CAUSES } from './rows.ts';
import { TextPieces } from './textPieces.ts';

export interface BarOwner {
  /** Brings the staged bars of the pair up to its newest trade. */
  stagePending(): void;
  /** `staged` is in the table. A reference to it keeps the whole commit, of all pairs. */
  written(staged: PairWrites): void;
}

/**
 * Market time has passed the ends of bars. A minute ends for thousands of pairs at once, so the
 * bars of each are changed when the pair is read or traded, or by the commit.
 */
export interface BarEnds {
  /** Pairs that may have bars to end. */
  readonly pairs: ReadonlySet<number>;
  /** Makes these bars of a pair final, in `staged`, like the entry that passed their ends. */
  makeFinal(pair: number, staged: PairWrites): void;
}

/** `BarEnds`, and the pairs whose bars are ended. */
interface WaitingEnds {
  readonly ends: BarEnds;
  readonly ended: Set<number>;
  /** Goes through them once, for the commit. */
  readonly rest: Iterator<number>;
}

let serials = 0;

/** The staged bars of one pair. */
export class PairWrites {
  /** Names it: a reference would keep the whole commit in memory. No other has had it. */
  readonly serial: number;
  readonly #stage: PendingBars;
  readonly #slots = new Map<number, BarSlot>();
  #owner: BarOwner | null = null;
  /** Later changes of the pair belong to the next commit. */
  #isEncoded = false;

  constructor(stage: PendingBars) {
    this.#stage = stage;
    serials += 1;
    this.serial = serials;
  }

  /** Later changes of the pair are staged elsewhere. */
  get isClosed(): boolean {
    return this.#stage.isClosed;
  }

  set owner(owner: BarOwner) {
    this.#owner = owner;
  }

  put(slot: BarSlot): void {
    this.#slots.set(slotKey(slot.resolution, slot.start), slot);
  }

  get(resolution: number, start: number): BarSlot | undefined {
    this.#settle();
    return this.#slots.get(slotKey(resolution, start));
  }

  all(): Iterable<BarSlot> {
    this.#settle();
    return this.#slots.values();
  }

  get size(): number {
    this.#settle();
    return this.#slots.size;
  }

  /** Adds them to the lines of the stage, once. True: that ended a piece of them. */
  encode(): boolean {
    if (this.#isEncoded) return false;
    let lines = '';
    for (const slot of this.all()) if (!this.#stage.restored.has(slot)) lines += lineOf(slot);
    this.#isEncoded = true;
    return this.#stage.lines.add(lines);
  }

  /** Its bars wait for another commit. */
  reopen(): void {
    this.#isEncoded = false;
  }

  /** They are in the table. */
  noteWritten(): void {
    this.#owner?.written(this);
  }

  #settle(): void {
    if (!this.#isEncoded) this.#owner?.stagePending();
  }
}

/** Unique within a pair: starts are whole minutes. Small, so that it is no object in memory. */
function slotKey(resolution: number, start: number): number {
  return (start / MINUTE_MS) * 8 + resolution;
}

/** `key, seq, cause, value` (tab-separated; no value: a tombstone), for the writer. */
export function lineOf({ pair, resolution, start, seq, cause, value }: BarSlot): string {
  const key = barKey(pair, resolution, start);
  return `${key}\t${seq}\t${CHANGE_CAUSES.indexOf(cause)}\t${barText(value) ?? ''}\n`;
}

export class PendingBars {
  readonly #pairs = new Map<number, PairWrites>();
  /** In the order of their entries. */
  #ends: WaitingEnds[] = [];
  /** As a rollback left them, before anything else. */
  readonly restored = new Set<BarSlot>();
  /** Lines of encoded pairs, for the commit. */
  lines = new TextPieces();
  /** Handed over to be written. */
  isClosed = false;

  of(pair: number): PairWrites {
    let staged = this.#pairs.get(pair);
    if (staged === undefined) {
      staged = new PairWrites(this);
      this.#pairs.set(pair, staged);
    }
    return staged;
  }

  find(pair: number): PairWrites | undefined {
    return this.#pairs.get(pair);
  }

  pairs(): Iterable<PairWrites> {
    return this.#pairs.values();
  }

  noteWritten(): void {
    for (const pair of this.#pairs.values()) pair.noteWritten();
  }

  addEnds(ends: BarEnds): void {
    this.#ends.push({ ends, ended: new Set(), rest: ends.pairs.values() });
  }

  hasEnds(pair: number): boolean {
    if (this.#ends.length === 0) return false;
    return this.#ends.some(({ ends, ended }) => ends.pairs.has(pair) && !ended.has(pair));
  }

  /** Each end once. */
  endBars(pair: number): void {
    for (const { ends, ended } of this.#ends) {
      if (!ends.pairs.has(pair) || ended.has(pair)) continue;
      ended.add(pair);
      ends.makeFinal(pair, this.of(pair));
    }
    this.#forgetEnded();
  }

  /** Pairs with bars to end, by older entries than the last `count`. */
  endedBeforeLast(count: number): number[] {
    const older = this.#ends.slice(0, Math.max(0, this.#ends.length - count));
    return older.flatMap(({ ends, ended }) => [...ends.pairs].filter((pair) => !ended.has(pair)));
  }

  /** A pair whose bars have ends to be put in; null: none has. */
  nextEnded(): number | null {
    for (let first = this.#ends[0]; first !== undefined; first = this.#ends[0]) {
      const { value } = first.rest.next();
      if (value === undefined) this.#ends.shift();
      else if (!first.ended.has(value)) return value;
    }
    return null;
  }

  #forgetEnded(): void {
    for (let first = this.#ends[0]; first !== undefined; first = this.#ends[0]) {
      if (first.ended.size < first.ends.pairs.size) return;
      this.#ends.shift();
    }
  }

  /** Its pair changes it in place. */
  get(pair: number, resolution: number, start: number): BarSlot | undefined {
    return this.#pairs.get(pair)?.get(resolution, start);
  }

  /** How many rows a read of the table may lose to staged rows. */
  count(pair: number): number {
    return this.#pairs.get(pair)?.size ?? 0;
  }

  /** `stored` as it will be once written: staged rows take the place of stored ones. */
  overlay(
    pair: number,
    resolution: number,
    stored: readonly BarRow[],
    wanted: (row: Omit<BarRow, 'value'> & { readonly isThere: boolean }) => boolean,
  ): BarRow[] {
    const bars = this.#pairs.get(pair);
    if (bars === undefined) return [...stored];
    const staged = [...bars.all()].filter((slot) => slot.resolution === resolution);
    const replaced = new Set(staged.map(({ start }) => start));
    const shown = staged.filter(({ start, value, seq, cause }) =>
      wanted({ start, seq, cause, isThere: value !== null }),
    );
    return [...stored.filter(({ start }) => !replaced.has(start)), ...shown.map(rowOf)];
  }

  restore(slot: BarSlot): void {
    this.of(slot.pair).put(slot);
    this.restored.add(slot);
  }

  /** Adds the bars that were staged after this stage was closed; it is open again. */
  append(later: PendingBars): void {
    for (const [pair, bars] of later.#pairs) {
      const mine = this.of(pair);
      for (const slot of bars.all()) mine.put(slot);
    }
    for (const { ends, ended } of later.#ends) {
      this.#ends.push({ ends, ended, rest: ends.pairs.values() });
    }
    later.isClosed = true;
    this.isClosed = false;
    for (const pair of this.#pairs.values()) pair.reopen();
    this.lines = new TextPieces();
  }
}

export function rowOf({ start, seq, cause, value }: BarSlot): BarRow {
  return { start, seq, cause, value: barText(value) };
}
