/** Rows that one entry changes, each with its value before the entry; reads see what was set. */
import type { KeyedTable, RowChange } from '../store/rows.ts';
import type { StateStore } from '../store/state.ts';

interface DraftedRow {
  readonly table: KeyedTable;
  readonly key: string;
  readonly before: string | null;
  after: string | null;
}

export class RowDraft {
  readonly #store: StateStore;
  readonly #rows = new Map<string, DraftedRow>();

  constructor(store: StateStore) {
    this.#store = store;
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

  /** In the order in which rows were first set. */
  changes(): RowChange[] {
    return [...this.#rows.values()]
      .filter(({ before, after }) => before !== after)
      .map((row) => ({ ...row, cause: 'trade' }));
  }
}
