/** Tables that are only key and value: pairs, trade ids, feed cursors, the market's own numbers. */
import type { Database } from './database.ts';
import type { TableName } from './rows.ts';

export function keyedRows(database: Database, table: Exclude<TableName, 'bars'>) {
  const get = database.prepare<[string], { value: string }>(
    `SELECT value FROM ${table} WHERE key = ?`,
  );
  const all = database.prepare<[], { key: string; value: string }>(
    `SELECT key, value FROM ${table} ORDER BY key`,
  );
  const upsert = database.prepare<[string, string, number]>(
    `INSERT INTO ${table} (key, value, seq) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET value = excluded.value, seq = excluded.seq`,
  );
  const remove = database.prepare<[string]>(`DELETE FROM ${table} WHERE key = ?`);
  return {
    get: (key: string): string | null => get.get(key)?.value ?? null,
    all: (): { key: string; value: string }[] => all.all(),
    put(key: string, value: string | null, seq: number): void {
      if (value === null) remove.run(key);
      else upsert.run(key, value, seq);
    },
  };
}
