/**
 * Rows that are not written yet: the newest value of each, and the undo record of every entry.
 * Reads overlay them on the stored rows, so a row can be read before it is written.
 */
import { assert } from '../runtime/assert.ts';
import { type BarRow, parseBarKey } from './barRows.ts';
import { StagedChangeIndex } from './changeIndex.ts';
import { type Cause, KEYED_TABLES, type KeyedTable, type RowChange } from './rows.ts';
import type { Point } from './undoRows.ts';

interface StagedRow {
  readonly value: string | null;
  readonly seq: number;
  readonly cause: Cause;
}

interface StagedUndo extends Point {
  readonly block: boolean;
  readonly changes: readonly RowChange[];
}

export class Stage {
  readonly bars = new StagedBars();
  readonly keyed = new Map<KeyedTable, Map<string, StagedRow>>();
  readonly changeIndex = new StagedChangeIndex();
  readonly undo: StagedUndo[] = [];
  /** Entries after this one were undone, before anything else of this stage. */
  undoneTo: number | null = null;
  rows = 0;

  constructor() {
    for (const table of KEYED_TABLES) this.keyed.set(table, new Map());
  }

  put(changes: readonly RowChange[], seq: number): void {
    for (const { table, key, after, cause } of changes) {
      const row = { value: after, seq, cause };
      if (table === 'bars') this.bars.set(key, row);
      else this.table(table).set(key, row);
    }
    this.rows += changes.length + 1;
  }

  /** Takes in what was staged after this. */
  append(later: Stage): void {
    assert(later.undoneTo === null, 'a rollback is staged only when nothing waits before it');
    for (const [key, row] of later.bars.entries()) this.bars.set(key, row);
    for (const [table, rows] of later.keyed) {
      for (const [key, row] of rows) this.table(table).set(key, row);
    }
    for (const change of later.changeIndex.all()) this.changeIndex.put(change);
    for (const entry of later.undo) this.undo.push(entry);
    this.rows += later.rows;
  }

  table(name: KeyedTable): Map<string, StagedRow> {
    const rows = this.keyed.get(name);
    assert(rows !== undefined, `${name} is a table`);
    return rows;
  }
}

interface StagedBar extends BarRow {
  readonly resolution: number;
  /** A rollback was among the changes since the last commit: a final bar may be open again. */
  readonly undone: boolean;
}

/**
 * Bars that are not written yet, overlaid on reads of the table. No read has to commit first, so a
 * full disk never stops a reader.
 */
class StagedBars {
  readonly #pairs = new Map<number, Map<string, StagedBar>>();

  set(
    key: string,
    row: { value: string | null; seq: number; cause: Cause; undone?: boolean },
  ): void {
    const { pair, resolution, start } = parseBarKey(key);
    let bars = this.#pairs.get(pair);
    if (bars === undefined) {
      bars = new Map();
      this.#pairs.set(pair, bars);
    }
    const undone =
      row.cause === 'rollback' || row.undone === true || bars.get(key)?.undone === true;
    bars.set(key, { ...row, resolution, start, undone });
  }

  get(pair: number, key: string): BarRow | undefined {
    return this.#pairs.get(pair)?.get(key);
  }

  *entries(): Generator<[string, StagedBar]> {
    for (const bars of this.#pairs.values()) yield* bars;
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
    wanted: (row: BarRow) => boolean,
  ) {
    const bars = this.#pairs.get(pair);
    if (bars === undefined) return [...stored];
    const staged = [...bars.values()].filter((row) => row.resolution === resolution);
    const replaced = new Set(staged.map((row) => row.start));
    return [...stored.filter((row) => !replaced.has(row.start)), ...staged.filter(wanted)];
  }
}
