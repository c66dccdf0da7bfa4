/** Keyed tables as they are now: what is stored, seen through what waits to be written. */
import { type PageQuery, pageOverlaid } from './keyedPage.ts';
import type { KeyedRow, keyedReads } from './keyedRows.ts';
import type { KeyedTable } from './rows.ts';
import type { Stage } from './stage.ts';

export class KeyedView {
  readonly #stored: Record<KeyedTable, ReturnType<typeof keyedReads>>;
  /** Newest first. */
  readonly #stages: () => readonly Stage[];

  constructor(
    stored: Record<KeyedTable, ReturnType<typeof keyedReads>>,
    stages: () => readonly Stage[],
  ) {
    this.#stored = stored;
    this.#stages = stages;
  }

  get(table: KeyedTable, key: string): string | null {
    for (const stage of this.#stages()) {
      const staged = stage.table(table).get(key);
      if (staged !== undefined) return staged.value;
    }
    return this.#stored[table].get(key);
  }

  withPrefix(table: KeyedTable, prefix: string, limit: number, after?: string): KeyedRow[] {
    const from = after === undefined ? prefix : `${after}\0`;
    const to = endOf(prefix);
    const staged = this.#staged(table, from, to);
    const rows = this.#stored[table]
      .range(from, to, limit + staged.size)
      .filter(({ key }) => !staged.has(key));
    for (const [key, value] of staged) if (value !== null) rows.push({ key, value });
    return rows.sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, limit);
  }

  page(table: KeyedTable, prefix: string, wish: PageQuery): KeyedRow[] {
    return this.#page(table, prefix, wish, (from, to) => this.#staged(table, from, to));
  }

  /** `page`, for many at one moment: what waits is looked through once. */
  pages(table: KeyedTable): (prefix: string, wish: PageQuery) => KeyedRow[] {
    const rows = [...this.#staged(table, '', endOf(''))].sort(([a], [b]) => (a < b ? -1 : 1));
    const between = (from: string, to: string) =>
      new Map(rows.slice(firstFrom(rows, from), firstFrom(rows, to)));
    return (prefix, wish) => this.#page(table, prefix, wish, between);
  }

  #page(
    table: KeyedTable,
    prefix: string,
    wish: PageQuery,
    staged: (from: string, to: string) => ReadonlyMap<string, string | null>,
  ): KeyedRow[] {
    const { order, after } = wish;
    const isUp = order === 'ascending';
    const from = isUp && after !== undefined ? `${after}\0` : prefix;
    const to = !isUp && after !== undefined ? after : endOf(prefix);
    const { page, get } = this.#stored[table];
    const rows = (offset: number, limit: number) => page(order, from, to, offset, limit);
    const stored = { rows, has: (key: string) => get(key) !== null };
    return pageOverlaid(stored, staged(from, to), wish);
  }

  lastKey(table: KeyedTable, prefix: string): string | null {
    let last = this.#stored[table].lastKey(prefix);
    for (const stage of this.#stages()) {
      for (const key of stage.table(table).keys()) {
        if (key.startsWith(prefix) && (last === null || key > last)) last = key;
      }
    }
    return last;
  }

  #staged(table: KeyedTable, from: string, to: string): Map<string, string | null> {
    const staged = new Map<string, string | null>();
    for (const stage of this.#stages().toReversed()) {
      for (const [key, { value }] of stage.table(table)) {
        if (key >= from && key < to) staged.set(key, value);
      }
    }
    return staged;
  }
}

/** Index of the first row whose key is not below `key`. */
function firstFrom(rows: readonly (readonly [string, unknown])[], key: string): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle]?.[0] ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function endOf(prefix: string): string {
  return `${prefix}\u{10ffff}`;
}
