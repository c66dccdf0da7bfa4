/** Tables that are only key and value: pairs, trade ids, feed cursors, the market's own numbers. */
import type { Database } from './database.ts';
import type { KeyedTable } from './rows.ts';

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
  return {
    get: (key: string): string | null => get.get(key)?.value ?? null,
    all: (): { key: string; value: string }[] => all.all(),
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
  return {
    put(key: string, value: string | null, seq: number): void {
      if (value === null) remove.run(key);
      else upsert.run(key, value, seq);
    },
  };
}
