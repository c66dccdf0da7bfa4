/** Tables of the state file. A change of meaning is a new version: the state is rebuilt then. */

import { createHash } from 'node:crypto';
import { Fault } from '../runtime/assert.ts';
import type { Database } from './database.ts';
import { KEYED_TABLES, TABLES, type TableName } from './rows.ts';

/**
 * Version of rows and fold together; part of the checkpoint. A test pins the rows that this version
 * makes of a small market: it fails where they change and the version does not.
 */
export const STATE_VERSION = 7;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS checkpoint (id INTEGER PRIMARY KEY CHECK (id = 1), text TEXT NOT NULL)
    STRICT;
  -- value is NULL in a tombstone: the bar vanished at seq. Open bars come first, so that the few
  -- that a pair's next trade changes lie on one page.
  CREATE TABLE IF NOT EXISTS bars (
    pair INTEGER NOT NULL, final INTEGER NOT NULL, resolution INTEGER NOT NULL,
    start INTEGER NOT NULL, seq INTEGER NOT NULL, cause INTEGER NOT NULL, value TEXT,
    PRIMARY KEY (pair, final, resolution, start)
  ) STRICT, WITHOUT ROWID;
  -- Only what did not change in the order of time needs to be found by seq (cause late, rollback,
  -- lateFinal): the rest is found by start, and an index over every bar would double the work of a
  -- commit.
  CREATE INDEX IF NOT EXISTS revised_bars ON bars (pair, resolution, seq) WHERE cause >= 2;
  CREATE INDEX IF NOT EXISTS bar_tombstones ON bars (seq) WHERE value IS NULL;
  -- One row a commit: what each entry did up to to_seq, and the bars as they were before it.
  CREATE TABLE IF NOT EXISTS undo (
    to_seq INTEGER PRIMARY KEY, horizon_seq INTEGER NOT NULL, records BLOB NOT NULL,
    bars BLOB NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS change_index (
    scope TEXT NOT NULL, ref TEXT NOT NULL, seq INTEGER NOT NULL, undone_seq INTEGER NOT NULL,
    about TEXT NOT NULL, PRIMARY KEY (scope, ref)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS change_index_in_order ON change_index (scope, seq, ref);
  CREATE INDEX IF NOT EXISTS change_index_by_age ON change_index (seq);
`;

/**
 * Rows of a quarter of a page, found by a hash. If they were sorted by the hash, their tree would
 * be nine pages deep, and rows that are read together would lie apart. A file that was made before
 * keeps its order.
 */
const IN_ORDER_OF_ARRIVAL: ReadonlySet<TableName> = new Set(['orders']);

export function createTables(database: Database): void {
  const found = database.pragma('user_version', { simple: true });
  if (found !== 0 && found !== STATE_VERSION) {
    const message = `it is of version ${found}, this program writes ${STATE_VERSION}`;
    throw new Fault('otherStateVersion', message);
  }
  database.exec(SCHEMA);
  for (const table of KEYED_TABLES) {
    const order = IN_ORDER_OF_ARRIVAL.has(table) ? '' : ', WITHOUT ROWID';
    database.exec(
      `CREATE TABLE IF NOT EXISTS ${table} (
        key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL, seq INTEGER NOT NULL
      ) STRICT${order};`,
    );
  }
  if (found === 0) database.pragma(`user_version = ${STATE_VERSION}`);
}

const BARS = `
  SELECT pair, resolution, start, final, seq, cause, value FROM bars
  WHERE value IS NOT NULL OR seq > ? ORDER BY pair, resolution, start`;

const DROPPED = 'SELECT key, value, seq FROM dropped WHERE seq > ? ORDER BY key';

/**
 * Hash of each table's rows, hex, to compare a state with a rebuild. Leaves out tombstones at or
 * below `horizonSeq`: they may have been pruned already.
 */
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
  // trust: built from every table of TABLES
  return Object.fromEntries(TABLES.map((name) => [name, digest(table(name))])) as Record<
    TableName,
    string
  >;
}
