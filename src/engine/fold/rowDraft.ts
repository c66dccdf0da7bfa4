/**
 * The changes of an entry while it is folded: each row with its old and new value, and the streams
 * that its changes belong to.
 */

import type { StreamChange } from '../store/changeIndex.ts';
import type { KeyedRow } from '../store/keyedRows.ts';
import {
  type KeyedTable,
  type RowChange,
  RowRecord,
  type RowValue,
  textOf,
} from '../store/rows.ts';
import type { StateStore } from '../store/state.ts';

/** A row that was read or set. */
interface DraftedRow {
  readonly table: KeyedTable;
  readonly key: string;
  readonly before: RowValue | null;
  after: RowValue | null;
  isSet: boolean;
}

export class RowDraft {
  readonly tags = new Set<string>();
  readonly #store: StateStore;
  readonly #rows = new Map<KeyedTable, Map<string, DraftedRow>>();
  /**
   * In the order in which they were first set: so the changes have the same order on every node.
   */
  readonly #set: DraftedRow[] = [];
  readonly #streamChanges = new Map<string, StreamChange>();
  /** The stream changes come from a rollback. */
  readonly #undone: boolean;

  constructor(store: StateStore, { undone = false } = {}) {
    this.#store = store;
    this.#undone = undone;
  }

  get(table: KeyedTable, key: string): string | null {
    const { after } = this.#row(table, key);
    return after === null ? null : textOf(after);
  }

  /** null removes the row. */
  set(table: KeyedTable, key: string, after: RowValue | null): void {
    this.#toSet(table, key).after = after;
  }

  /** The record of a row. It must not be changed: `put` takes another one. */
  record<T extends object>(table: KeyedTable, key: string): T | null {
    const row = this.#row(table, key);
    if (typeof row.after === 'string') row.after = RowRecord.ofText(row.after);
    // trust: which record a table holds is said in records.ts
    return (row.after?.record ?? null) as T | null;
  }

  put(table: KeyedTable, key: string, record: object): void {
    this.#toSet(table, key).after = RowRecord.of(record);
  }

  #row(table: KeyedTable, key: string): DraftedRow {
    let rows = this.#rows.get(table);
    if (rows === undefined) {
      rows = new Map();
      this.#rows.set(table, rows);
    }
    let row = rows.get(key);
    if (row === undefined) {
      const before = this.#store.value(table, key);
      row = { table, key, before, after: before, isSet: false };
      rows.set(key, row);
    }
    return row;
  }

  #toSet(table: KeyedTable, key: string): DraftedRow {
    const row = this.#row(table, key);
    if (!row.isSet) {
      row.isSet = true;
      this.#set.push(row);
    }
    return row;
  }

  /** References of a token's orders that were open before this entry. */
  openOrders(token: string, limit: number): string[] {
    return this.#store.withPrefix('open_orders', `${token}/`, limit).map(({ value }) => value);
  }

  /** The largest holders of a token before this entry, the largest first. */
  largestHolders(token: string, limit: number): readonly KeyedRow[] {
    return this.#store.withPrefix('holder_ranks', `${token}/`, limit);
  }

  /** Keys of the points that were there before this entry, oldest first. */
  points(limit: number): string[] {
    return this.#store.withPrefix('points', '', limit).map(({ key }) => key);
  }

  /** Adds to a count; a count of 0 has no row. */
  count(key: string, by: 1 | -1): void {
    const row = this.#toSet('counts', key);
    const count = (row.after === null ? 0 : Number(textOf(row.after))) + by;
    row.after = count === 0 ? null : String(count);
  }

  /** `ref` of the stream `scope` changed; see store/changeIndex. */
  noteChange(scope: string, ref: string, about = ''): void {
    this.tags.add(scope);
    this.#streamChanges.set(`${scope}\t${ref}`, { scope, ref, about, undone: this.#undone });
  }

  get streamChanges(): readonly StreamChange[] {
    return [...this.#streamChanges.values()];
  }

  /** In the order in which rows were first set; of one table, or of all. */
  changes(of?: KeyedTable): RowChange[] {
    const changes: RowChange[] = [];
    for (const { table, key, before, after } of this.#set) {
      if (of !== undefined && table !== of) continue;
      if (!isSame(before, after)) changes.push({ table, key, before, after, cause: 'trade' });
    }
    return changes;
  }
}

/** A record that was put counts as a change: its text is not made to compare it. */
function isSame(before: RowValue | null, after: RowValue | null): boolean {
  if (before === after) return true;
  if (before === null || typeof after !== 'string') return false;
  return textOf(before) === after;
}
