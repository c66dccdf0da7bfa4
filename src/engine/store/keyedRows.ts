/** Tables of key and value: stored rows, and staged rows overlaid on them. */
import type { AtOnce, Database } from './database.ts';
import type { PendingWrites } from './pendingWrites.ts';
import {
  KEYED_TABLES,
  type KeyedTable,
  type RowChange,
  RowRecord,
  type RowValue,
  recordOf,
  textOf,
} from './rows.ts';

export interface KeyedRow {
  readonly key: string;
  readonly value: string;
}

/** Calls `make` for each table. */
export function perTable<T>(make: (table: KeyedTable) => T): Record<KeyedTable, T> {
  // trust: built from every table of KEYED_TABLES
  return Object.fromEntries(KEYED_TABLES.map((table) => [table, make(table)])) as Record<
    KeyedTable,
    T
  >;
}

export function keyedReads(database: Database, table: KeyedTable) {
  const get = database.prepare<[string], { value: string }>(
    `SELECT value FROM ${table} WHERE key = ?`,
  );
  const all = database.prepare<[], { key: string; value: string }>(
    `SELECT key, value FROM ${table} ORDER BY key`,
  );
  const count = database.prepare<[string, string], { rows: number }>(
    `SELECT COUNT(*) AS rows FROM ${table} WHERE key >= ? AND key < ?`,
  );
  const last = database.prepare<[string, string], { key: string }>(
    `SELECT key FROM ${table} WHERE key >= ? AND key < ? ORDER BY key DESC LIMIT 1`,
  );
  const range = database.prepare<[string, string, number], KeyedRow>(
    `SELECT key, value FROM ${table} WHERE key >= ? AND key < ? ORDER BY key LIMIT +?`,
  );
  const pages = {
    ascending: database.prepare<[string, string, number, number], KeyedRow>(
      `SELECT key, value FROM ${table} WHERE key >= ? AND key < ? ORDER BY key LIMIT +? OFFSET ?`,
    ),
    descending: database.prepare<[string, string, number, number], KeyedRow>(
      `SELECT key, value FROM ${table} WHERE key >= ? AND key < ? ORDER BY key DESC
       LIMIT +? OFFSET ?`,
    ),
  };
  return {
    get: (key: string): string | null => get.get(key)?.value ?? null,
    all: (): KeyedRow[] => all.all(),
    /** Rows with keys in [from, to), ascending. */
    range: (from: string, to: string, limit: number): KeyedRow[] => range.all(from, to, limit),
    /** The same in either order, behind `offset` of them. */
    page: (order: PageQuery['order'], from: string, to: string, offset: number, limit: number) =>
      pages[order].all(from, to, limit, offset),
    count: (from: string, to: string): number => count.get(from, to)?.rows ?? 0,
    /** The largest key with this prefix. */
    lastKey: (prefix: string): string | null =>
      last.get(prefix, `${prefix}\u{10ffff}`)?.key ?? null,
  };
}

export function keyedWrites(database: Database, table: KeyedTable) {
  const upsert = database.prepare<[string, string, number]>(
    `INSERT INTO ${table} (key, value, seq) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET value = excluded.value, seq = excluded.seq`,
  );
  const remove = database.prepare<[string]>(`DELETE FROM ${table} WHERE key = ?`);
  const prune = database.prepare<[number]>(`DELETE FROM ${table} WHERE seq <= ?`);
  return {
    put(key: string, value: string | null, seq: number): void {
      if (value === null) remove.run(key);
      else upsert.run(key, value, seq);
    },
    /** Forgets rows last changed at or before `seq`. */
    prune(seq: number): void {
      prune.run(seq);
    },
  };
}

/** Keys in [from, to); an end that is left out is the end of the prefix. */
export interface KeySpan {
  readonly from?: string;
  readonly to?: string;
}

export interface PageQuery extends KeySpan {
  /** `descending`: the largest key first. */
  readonly order: 'ascending' | 'descending';
  readonly offset: number;
  readonly limit: number;
  /** Begins behind this key, in the order asked. */
  readonly after?: string;
}

/** Rows of a table between two keys, in the order of the query. */
interface StoredRange {
  rows(offset: number, limit: number): KeyedRow[];
  has(key: string): boolean;
}

/**
 * A page by offset: stored rows with the staged ones overlaid. The database skips to the offset;
 * the few staged rows shift ranks by at most their number.
 * `staged`: the newest staged value of each key of the range; null: removed.
 */
function pageOverlaid(
  stored: StoredRange,
  staged: ReadonlyMap<string, string | null>,
  { order, offset, limit }: PageQuery,
): KeyedRow[] {
  if (staged.size === 0) return stored.rows(offset, limit);
  const isBefore = (a: string, b: string) => (order === 'ascending' ? a < b : a > b);
  const start = Math.max(0, offset - staged.size);
  const slice = stored.rows(start, offset - start + limit + staged.size);
  // With all staged rows there are at most `offset` rows then.
  if (slice.length === 0 && start > 0) return [];
  const first = start === 0 ? undefined : slice[0]?.key;
  // Rank of the slice's first row among all rows.
  let rank = start;
  const rows = slice.filter(({ key }) => !staged.has(key));
  for (const [key, value] of staged) {
    const isSkipped = first !== undefined && isBefore(key, first);
    if (!isSkipped && value !== null) rows.push({ key, value });
    if (isSkipped) rank += (value === null ? 0 : 1) - (stored.has(key) ? 1 : 0);
  }
  rows.sort((a, b) => (isBefore(a.key, b.key) ? -1 : 1));
  return rows.slice(offset - rank, offset - rank + limit);
}

type PendingRows = Pick<PendingWrites, 'keyed'>;

/** Values at the time of `hold` of rows that changed since. */
interface Held {
  readonly before: PendingRows;
  readonly view: KeyedView;
}

/** Rows at one moment; what changes is kept as it was until they are released. */
export interface HeldRows {
  readonly rows: Pick<KeyedView, 'get' | 'page' | 'pages' | 'withPrefix' | 'count' | 'record'>;
  release(): void;
}

/** Keyed tables as they are now: stored rows with the staged ones overlaid. */
export class KeyedView {
  readonly #stored: Record<KeyedTable, ReturnType<typeof keyedReads>>;
  /** Newest first. */
  readonly #stages: () => readonly PendingRows[];
  readonly #atOnce: AtOnce;
  readonly #held = new Set<Held>();
  /** Staged rows of tables, by key, until anything else is staged. */
  readonly #sorted = new Map<KeyedTable, readonly [string, string | null][]>();

  constructor(
    stored: Record<KeyedTable, ReturnType<typeof keyedReads>>,
    stages: () => readonly PendingRows[],
    atOnce: AtOnce,
  ) {
    this.#stored = stored;
    this.#stages = stages;
    this.#atOnce = atOnce;
  }

  /** Tell it of every row before it is staged. */
  notePending(changes: readonly RowChange[]): void {
    this.#sorted.clear();
    for (const held of this.#held) this.#keep(held, changes);
  }

  /** The file holds them now, and they are not staged any more. */
  noteCommitted(): void {
    this.#sorted.clear();
  }

  /** For a reader that takes many turns of the loop. */
  snapshot(): HeldRows {
    const before: PendingRows = { keyed: perTable(() => new Map()) };
    const stages = () => [before, ...this.#stages()];
    const held = { before, view: new KeyedView(this.#stored, stages, this.#atOnce) };
    this.#held.add(held);
    return { rows: held.view, release: () => void this.#held.delete(held) };
  }

  #keep({ before, view }: Held, changes: readonly RowChange[]): void {
    view.#sorted.clear();
    for (const { table, key } of changes) {
      const kept = before.keyed[table];
      // The value is read here and not taken from the change, because a rollback's change does not
      // always contain it.
      if (!kept.has(key)) kept.set(key, { value: this.value(table, key), seq: 0 });
    }
  }

  get(table: KeyedTable, key: string): string | null {
    const value = this.value(table, key);
    return value === null ? null : textOf(value);
  }

  value(table: KeyedTable, key: string): RowValue | null {
    for (const stage of this.#stages()) {
      const staged = stage.keyed[table].get(key);
      if (staged !== undefined) return staged.value;
    }
    const text = this.#stored[table].get(key);
    return text === null ? null : RowRecord.ofText(text);
  }

  record<T extends object>(table: KeyedTable, key: string): T | null {
    const value = this.value(table, key);
    return value === null ? null : recordOf<T>(value);
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

  page(table: KeyedTable, prefix: string, query: PageQuery): KeyedRow[] {
    return this.#page(table, prefix, query, (from, to) => this.#staged(table, from, to));
  }

  /** `page`, for many pages at one moment: sorts the staged rows once. */
  pages(table: KeyedTable): (prefix: string, query: PageQuery) => KeyedRow[] {
    const rows = this.#sorted.get(table) ?? this.#sort(table);
    const between = (from: string, to: string) =>
      new Map(rows.slice(firstFrom(rows, from), firstFrom(rows, to)));
    return (prefix, query) => this.#page(table, prefix, query, between);
  }

  #sort(table: KeyedTable): readonly [string, string | null][] {
    const rows = [...this.#staged(table, '', endOf(''))].sort(([a], [b]) => (a < b ? -1 : 1));
    this.#sorted.set(table, rows);
    return rows;
  }

  #page(
    table: KeyedTable,
    prefix: string,
    query: PageQuery,
    staged: (from: string, to: string) => ReadonlyMap<string, string | null>,
  ): KeyedRow[] {
    const { order, after } = query;
    const isUp = order === 'ascending';
    const span = spanOf(prefix, query);
    const from = isUp && after !== undefined ? later(`${after}\0`, span.from) : span.from;
    const to = !isUp && after !== undefined ? earlier(after, span.to) : span.to;
    const { page, get } = this.#stored[table];
    const rows = (offset: number, limit: number) => page(order, from, to, offset, limit);
    const stored = { rows, has: (key: string) => get(key) !== null };
    return this.#atOnce(() => pageOverlaid(stored, staged(from, to), query));
  }

  /** How many rows have this prefix, within a span. */
  count(table: KeyedTable, prefix: string, span: KeySpan): number {
    const { from, to } = spanOf(prefix, span);
    const { count, get } = this.#stored[table];
    return this.#atOnce(() => {
      let rows = count(from, to);
      for (const [key, value] of this.#staged(table, from, to)) {
        rows += (value === null ? 0 : 1) - (get(key) === null ? 0 : 1);
      }
      return rows;
    });
  }

  #staged(table: KeyedTable, from: string, to: string): Map<string, string | null> {
    const staged = new Map<string, string | null>();
    for (const stage of this.#stages().toReversed()) {
      for (const [key, { value }] of stage.keyed[table]) {
        if (key < from || key >= to) continue;
        staged.set(key, value === null ? null : textOf(value));
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

function spanOf(prefix: string, { from, to }: KeySpan): Required<KeySpan> {
  const end = endOf(prefix);
  return { from: later(from ?? prefix, prefix), to: earlier(to ?? end, end) };
}

function later(a: string, b: string): string {
  return a > b ? a : b;
}

function earlier(a: string, b: string): string {
  return a < b ? a : b;
}

function endOf(prefix: string): string {
  return `${prefix}\u{10ffff}`;
}
