/** The tables of the state file. A change of meaning is a new version: the state is rebuilt then. */
import { assert } from '../runtime/assert.ts';
import type { Database } from './database.ts';

/** Of rows and fold together; part of the checkpoint. */
export const STATE_VERSION = 1;

const TABLES = `
  CREATE TABLE IF NOT EXISTS checkpoint (id INTEGER PRIMARY KEY CHECK (id = 1), text TEXT NOT NULL)
    STRICT;
  CREATE TABLE IF NOT EXISTS pairs (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, seq INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS trade_ids (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, seq INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS feeds (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, seq INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS market (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, seq INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- value is NULL in a tombstone: the bar vanished at seq.
  CREATE TABLE IF NOT EXISTS bars (
    pair INTEGER NOT NULL, resolution INTEGER NOT NULL, start INTEGER NOT NULL,
    seq INTEGER NOT NULL, cause INTEGER NOT NULL, open INTEGER NOT NULL, value TEXT,
    PRIMARY KEY (pair, resolution, start)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS bars_by_seq ON bars (pair, resolution, seq);
  CREATE INDEX IF NOT EXISTS open_bars ON bars (pair) WHERE open = 1;
  CREATE INDEX IF NOT EXISTS bar_tombstones ON bars (seq) WHERE value IS NULL;
  CREATE TABLE IF NOT EXISTS undo (
    seq INTEGER PRIMARY KEY, block INTEGER NOT NULL, at_ms INTEGER NOT NULL, images TEXT NOT NULL
  ) STRICT;
`;

export function createTables(database: Database): void {
  const found = database.pragma('user_version', { simple: true });
  assert(found === 0 || found === STATE_VERSION, `state version ${STATE_VERSION}, found ${found}`);
  database.exec(TABLES);
  database.pragma(`user_version = ${STATE_VERSION}`);
}
