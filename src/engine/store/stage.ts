/**
 * Rows that are not written yet: the newest value of each, and the undo record of every entry.
 * Reads overlay them on the stored rows, so a row can be read before it is written.
 */
import { assert } from '../runtime/assert.ts';
import { type BarChange, type BarPlace, type BarRow, type BarValue, barText } from './barRows.ts';
import { StagedChangeIndex } from './changeIndex.ts';
import { perTable } from './keyedRows.ts';
import { type Cause, KEYED_TABLES, type RowChange } from './rows.ts';
import type { Point } from './undoRows.ts';

interface StagedRow {
  readonly value: string | null;
  readonly seq: number;
}

interface StagedUndo extends Point {
  readonly block: boolean;
  readonly changes: readonly RowChange[];
  readonly bars: readonly BarChange[];
}

const PRUNED_AT = 1_000;

export class Stage {
  readonly bars = new StagedBars();
  readonly keyed = perTable(() => new Map<string, StagedRow>());
  readonly changeIndex = new StagedChangeIndex();
  undo: StagedUndo[] = [];
  /** Entries after this one were undone, before anything else of this stage. */
  undoneTo: number | null = null;
  rows = 0;

  put(changes: readonly RowChange[], bars: readonly BarChange[], seq: number): void {
    for (const { table, key, after } of changes) this.keyed[table].set(key, { value: after, seq });
    for (const { place, after, cause } of bars) {
      this.bars.set(place, after, seq, cause, cause === 'rollback');
    }
    this.rows += changes.length + bars.length + 1;
  }

  /** Forgets before-images from before `horizonSeq`, now and then: nothing goes back to them. */
  prune(horizonSeq: number): void {
    const oldest = this.undo[PRUNED_AT >> 1];
    if (this.undo.length < PRUNED_AT || oldest === undefined || oldest.seq >= horizonSeq) return;
    this.undo = this.undo.filter(({ seq }) => seq >= horizonSeq);
  }

  /** Takes in what was staged after this. */
  append(later: Stage): void {
    assert(later.undoneTo === null, 'a rollback is staged only when nothing waits before it');
    for (const { place, value, seq, cause, undone } of later.bars.all()) {
      this.bars.set(place, value, seq, cause, undone);
    }
    for (const table of KEYED_TABLES) {
      for (const [key, row] of later.keyed[table]) this.keyed[table].set(key, row);
    }
    for (const change of later.changeIndex.all()) this.changeIndex.put(change);
    for (const entry of later.undo) this.undo.push(entry);
    this.rows += later.rows;
  }
}

interface StagedBar {
  readonly place: BarPlace;
  value: BarValue;
  seq: number;
  cause: Cause;
  /** A rollback was among the changes since the last commit: a final bar may be open again. */
  undone: boolean;
}

/**
 * Bars that are not written yet, overlaid on reads of the table. No read has to commit first, so a
 * full disk never stops a reader.
 */
class StagedBars {
  readonly #pairs = new Map<number, Map<string, StagedBar>>();

  set(place: BarPlace, value: BarValue, seq: number, cause: Cause, undone: boolean): void {
    let bars = this.#pairs.get(place.pair);
    if (bars === undefined) {
      bars = new Map();
      this.#pairs.set(place.pair, bars);
    }
    const staged = bars.get(place.key);
    if (staged === undefined) {
      bars.set(place.key, { place, value, seq, cause, undone });
      return;
    }
    staged.value = value;
    staged.seq = seq;
    staged.cause = cause;
    if (undone) staged.undone = true;
  }

  get(pair: number, key: string): BarRow | undefined {
    const staged = this.#pairs.get(pair)?.get(key);
    return staged === undefined ? undefined : readStaged(staged);
  }

  *all(): Generator<StagedBar> {
    for (const bars of this.#pairs.values()) yield* bars.values();
  }

  /** How many rows a read of the table may lose to what is staged. */
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
    const staged = [...bars.values()].filter(({ place }) => place.resolution === resolution);
    const replaced = new Set(staged.map(({ place }) => place.start));
    const shown = staged.filter(({ place: { start }, value, seq, cause }) =>
      wanted({ start, seq, cause, isThere: value !== null }),
    );
    return [...stored.filter(({ start }) => !replaced.has(start)), ...shown.map(readStaged)];
  }
}

function readStaged({ place: { start }, value, seq, cause }: StagedBar): BarRow {
  return { start, seq, cause, value: barText(value) };
}
