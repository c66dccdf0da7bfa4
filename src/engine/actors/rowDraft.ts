/**
 * What an entry changes, while it is folded: each row with what it was before and what it becomes,
 * and the streams that its changes belong to. A record that an entry changes several times is read
 * once, and becomes text once, when it is asked for as text.
 */

import type { StreamChange } from '../store/changeIndex.ts';
import { readRecord } from '../store/records.ts';
import type { KeyedTable, RowChange } from '../store/rows.ts';
import type { StateStore } from '../store/state.ts';

/** A row that was read or set. */
class DraftedRow {
  readonly table: KeyedTable;
  readonly key: string;
  readonly before: string | null;
  isSet = false;
  /** undefined: that of `#record` is not made yet. */
  #text: string | null | undefined;
  /** What the text says; undefined: it is not read yet. */
  #record: object | null | undefined;

  constructor(table: KeyedTable, key: string, before: string | null) {
    this.table = table;
    this.key = key;
    this.before = before;
    this.#text = before;
  }

  get text(): string | null {
    this.#text ??= this.#record == null ? null : JSON.stringify(this.#record);
    return this.#text;
  }

  set text(text: string | null) {
    this.#text = text;
    this.#record = undefined;
  }

  get record(): object | null {
    this.#record ??= this.#text == null ? null : readRecord<object>(this.#text);
    return this.#record;
  }

  set record(record: object) {
    this.#record = record;
    this.#text = undefined;
  }
}

export class RowDraft {
  readonly tags = new Set<string>();
  readonly #store: StateStore;
  readonly #rows = new Map<KeyedTable, Map<string, DraftedRow>>();
  /** In the order in which they were first set: that of the changes is the same on every node. */
  readonly #set: DraftedRow[] = [];
  readonly #streamChanges = new Map<string, StreamChange>();
  /** The stream changes are those of a rollback. */
  readonly #undone: boolean;

  constructor(store: StateStore, { undone = false } = {}) {
    this.#store = store;
    this.#undone = undone;
  }

  get(table: KeyedTable, key: string): string | null {
    return this.#row(table, key).text;
  }

  /** null removes the row. */
  set(table: KeyedTable, key: string, after: string | null): void {
    this.#toSet(table, key).text = after;
  }

  /** The record of a row. It must not be changed: `put` takes another one. */
  record<T extends object>(table: KeyedTable, key: string): T | null {
    // trust: which record a table holds is said in records.ts
    return this.#row(table, key).record as T | null;
  }

  put(table: KeyedTable, key: string, record: object): void {
    this.#toSet(table, key).record = record;
  }

  #row(table: KeyedTable, key: string): DraftedRow {
    let rows = this.#rows.get(table);
    if (rows === undefined) {
      rows = new Map();
      this.#rows.set(table, rows);
    }
    let row = rows.get(key);
    if (row === undefined) {
      row = new DraftedRow(table, key, this.#store.get(table, key));
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

  /** Keys of the points that were there before this entry, oldest first. */
  points(limit: number): string[] {
    return this.#store.withPrefix('points', '', limit).map(({ key }) => key);
  }

  /** Adds to a count; a count of 0 has no row. */
  count(key: string, by: 1 | -1): void {
    const row = this.#toSet('counts', key);
    const count = Number(row.text ?? 0) + by;
    row.text = count === 0 ? null : String(count);
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
    for (const { table, key, before, text: after } of this.#set) {
      if (of !== undefined && table !== of) continue;
      if (before !== after) changes.push({ table, key, before, after, cause: 'trade' });
    }
    return changes;
  }
}
