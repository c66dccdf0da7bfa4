/**
 * Rows that are not written yet: the newest value of each, and what each entry did, to undo it by.
 * Reads overlay them on the stored rows, so a row can be read before it is written.
 */
import { assert } from '../runtime/assert.ts';
import type { BarSlot } from './barRows.ts';
import { PendingChangeIndex } from './changeIndex.ts';
import { perTable } from './keyedRows.ts';
import { type BarEnds, PendingBars } from './pendingBars.ts';
import { KEYED_TABLES, type RowChange, type RowValue } from './rows.ts';
import { PendingTrades } from './tradeIds.ts';
import type { EntryEffects } from './undoRows.ts';

interface PendingRow {
  readonly value: RowValue | null;
  readonly seq: number;
}

const BARS_A_PAIR = 6;

export class PendingWrites {
  readonly bars = new PendingBars();
  readonly keyed = perTable(() => new Map<string, PendingRow>());
  readonly trades = new PendingTrades();
  readonly changeIndex = new PendingChangeIndex();
  readonly entries: EntryEffects[] = [];
  /** Entries after this one were undone, before anything else of this stage. */
  undoneTo: number | null = null;
  /** About as many as a commit writes. */
  rows = 0;

  /** `isDeep`: nothing will undo it, so what rows were before it need not wait. */
  add(effects: EntryEffects, isDeep: boolean): void {
    this.put(effects.changes, effects.seq);
    this.trades.add(effects.trades);
    this.entries.push(isDeep ? { ...effects, changes: [] } : effects);
    this.rows += effects.trades.trades.length + 1;
  }

  /** Counts the bars of a pair that will change, one per resolution. */
  noteBars(): void {
    this.rows += BARS_A_PAIR;
  }

  addEnds(ends: BarEnds): void {
    this.bars.addEnds(ends);
    this.rows += ends.pairs.size;
  }

  put(changes: readonly RowChange[], seq: number): void {
    for (const { table, key, after } of changes) this.keyed[table].set(key, { value: after, seq });
    this.rows += changes.length;
  }

  restore(toSeq: number, changes: readonly RowChange[], bars: readonly BarSlot[], seq: number) {
    this.undoneTo = toSeq;
    this.put(changes, seq);
    for (const slot of bars) this.bars.restore(slot);
    this.rows += bars.length + 1;
  }

  /** Adds the rows that were staged later. */
  append(later: PendingWrites): void {
    assert(later.undoneTo === null, 'a rollback is staged only when nothing waits before it');
    this.bars.append(later.bars);
    for (const table of KEYED_TABLES) {
      for (const [key, row] of later.keyed[table]) this.keyed[table].set(key, row);
    }
    this.trades.append(later.trades);
    for (const change of later.changeIndex.all()) this.changeIndex.put(change);
    for (const entry of later.entries) this.entries.push(entry);
    this.rows += later.rows;
  }
}
