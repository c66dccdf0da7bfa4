/**
 * Makes `test/data/states/*`: log and state of a node that was killed, as small as they get.
 *
 *     node --import ./pack/useStripped.mjs scripts/recordState.ts DATA_DIR TARGET
 *
 * The log is whole. The state keeps only its version, its checkpoint, and the tables that are
 * compared. The node is a devnet's (`npm start`) of the version in question, after some minutes.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { openDatabase } from '../src/engine/store/database.ts';
import { temporaryDirectory } from '../test/support/server.ts';

const KEPT: ReadonlySet<string> = new Set(['checkpoint', 'bars', 'trades']);

const [, , from = '', to = ''] = process.argv;
const copy = temporaryDirectory();
cpSync(from, copy, { recursive: true });
mkdirSync(to, { recursive: true });
for (const name of ['log.sqlite', 'state.sqlite']) {
  const file = join(copy, name);
  const database = openDatabase(file, { synchronous: 'NORMAL', maxMb: 0 });
  // trust: the column of this statement
  const tables = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
    .pluck()
    .all() as string[];
  const emptied = name === 'log.sqlite' ? [] : tables.filter((table) => !KEPT.has(table));
  for (const table of emptied) database.exec(`DELETE FROM ${table}`);
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.exec('VACUUM');
  database.pragma('journal_mode = DELETE');
  database.close();
  writeFileSync(join(to, `${name}.gz`), gzipSync(readFileSync(file), { level: 9 }));
}
