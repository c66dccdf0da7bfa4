/**
 * Rows that wait to be written: the newest value of each, and the undo record of every entry.
 * Reads look through it, so nothing has to be written before it can be read.
 */
import { assert } from '../runtime/assert.ts';
import { StagedChangeIndex } from './changeIndex.ts';
import { type Cause, KEYED_TABLES, type KeyedTable, type RowChange } from './rows.ts';
import { StagedBars } from './stagedBars.ts';
import type { Point } from './undoRows.ts';

export interface StagedRow {
  readonly value: string | null;
  readonly seq: number;
  readonly cause: Cause;
}

export interface StagedUndo extends Point {
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
