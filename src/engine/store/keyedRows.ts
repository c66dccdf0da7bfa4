/** Tables that are only key and value. */
import type { Database } from './database.ts';
import type { PageQuery } from './keyedPage.ts';
import { KEYED_TABLES, type KeyedTable } from './rows.ts';

export interface KeyedRow {
  readonly key: string;
  readonly value: string;
}

/** One of `make` for each table. */
export function perTable<T>(make: (table: KeyedTable) => T): Record<KeyedTable, T> {
  // trust: built from all of KEYED_TABLES
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
  const last = database.prepare<[string, string], { key: string }>(
    `SELECT key FROM ${table} WHERE key >= ? AND key < ? ORDER BY key DESC LIMIT 1`,
  );
  const range = database.prepare<[string, string, number], KeyedRow>(
    `SELECT key, value FROM ${table} WHERE key >= ? AND key < ? ORDER BY key LIMIT ?`,
  );
  const pages = {
    ascending: database.prepare<[string, string, number, number], KeyedRow>(
      `SELECT key, value FROM ${table} WHERE key >= ? AND key < ? ORDER BY key LIMIT ? OFFSET ?`,
    ),
    descending: database.prepare<[string, string, number, number], KeyedRow>(
      `SELECT key, value FROM ${table} WHERE key >= ? AND key < ? ORDER BY key DESC
       LIMIT ? OFFSET ?`,
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
