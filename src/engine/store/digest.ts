/** A hash of everything a table holds, to compare a state with a rebuild. */
import { createHash } from 'node:crypto';
import type { Database } from './database.ts';
import { TABLES, type TableName } from './rows.ts';

const BARS = `
  SELECT pair, resolution, start, final, seq, cause, value FROM bars
  WHERE value IS NOT NULL OR seq > ? ORDER BY pair, resolution, start`;

const DROPPED = 'SELECT key, value, seq FROM dropped WHERE seq > ? ORDER BY key';

/** Hex by table. Tombstones at or below `horizonSeq` may have been pruned already: left out. */
export function digestTables(database: Database, horizonSeq: number): Record<TableName, string> {
  const digest = (rows: IterableIterator<unknown>) => {
    const sum = createHash('sha256');
    for (const row of rows) sum.update(`${JSON.stringify(row)}\n`);
    return sum.digest('hex');
  };
  const table = (name: TableName) => {
    if (name === 'bars') return database.prepare<[number]>(BARS).iterate(horizonSeq);
    // Forgotten beyond the horizon, sooner or later.
    if (name === 'dropped') return database.prepare<[number]>(DROPPED).iterate(horizonSeq);
    return database.prepare<[]>(`SELECT key, value, seq FROM ${name} ORDER BY key`).iterate();
  };
  // trust: built from all of TABLES
  return Object.fromEntries(TABLES.map((name) => [name, digest(table(name))])) as Record<
    TableName,
    string
  >;
}
