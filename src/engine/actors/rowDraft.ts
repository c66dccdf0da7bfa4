/**
 * What an entry changes, while it is folded: each row with what it was before and what it becomes,
 * and the streams that its changes belong to.
 */

import type { StreamChange } from '../store/changeIndex.ts';
import type { KeyedTable, RowChange } from '../store/rows.ts';
import type { StateStore } from '../store/state.ts';

interface DraftedRow {
  readonly table: KeyedTable;
  readonly key: string;
  readonly before: string | null;
  after: string | null;
}

export class RowDraft {
  readonly tags = new Set<string>();
  readonly #store: StateStore;
  readonly #rows = new Map<string, DraftedRow>();
  readonly #streamChanges = new Map<string, StreamChange>();
  /** The stream changes are those of a rollback. */
  readonly #undone: boolean;

  constructor(store: StateStore, { undone = false } = {}) {
    this.#store = store;
    this.#undone = undone;
  }

  get(table: KeyedTable, key: string): string | null {
    const drafted = this.#rows.get(`${table}\t${key}`);
    return drafted === undefined ? this.#store.get(table, key) : drafted.after;
  }

  /** null removes the row. */
  set(table: KeyedTable, key: string, after: string | null): void {
    const name = `${table}\t${key}`;
    const drafted = this.#rows.get(name);
    if (drafted !== undefined) drafted.after = after;
    else this.#rows.set(name, { table, key, before: this.#store.get(table, key), after });
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
    const count = Number(this.get('counts', key) ?? 0) + by;
    this.set('counts', key, count === 0 ? null : String(count));
  }

  /** `ref` of the stream `scope` changed; see store/changeIndex. */
  noteChange(scope: string, ref: string, about = ''): void {
    this.tags.add(scope);
    this.#streamChanges.set(`${scope}\t${ref}`, { scope, ref, about, undone: this.#undone });
  }

  get streamChanges(): readonly StreamChange[] {
    return [...this.#streamChanges.values()];
  }

  /** In the order in which rows were first set. */
  changes(): RowChange[] {
    return [...this.#rows.values()]
      .filter(({ before, after }) => before !== after)
      .map((row) => ({ ...row, cause: 'trade' }));
  }
}
