/** Another program that closes the database must not remove the write-ahead log under us. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openDatabase } from '../../../src/engine/store/database.ts';
import {
  checkPages,
  checkpointWithChecksums,
  copyWithChecksums,
  releaseLocked,
} from '../../../src/engine/store/pageChecksums.ts';
import { temporaryDirectory } from '../../support/server.ts';

/** Python's SQLite, because Node's would leave the write-ahead log alone. */
const READER = `
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.execute("SELECT count(*) FROM rows").fetchall()
database.close()`;

test('sums and copies of a live database keep its locks, and a copy has right sums', async (t) => {
  const directory = temporaryDirectory(t);
  const file = join(directory, 'live.sqlite');
  const database = openDatabase(file, { synchronous: 'NORMAL', maxMb: 0 });
  t.after(() => releaseLocked(file));
  t.after(() => database.close());
  database.exec('CREATE TABLE rows (value TEXT) STRICT');
  const insert = database.prepare('INSERT INTO rows VALUES (?)');
  for (let row = 0; row < 2_000; row += 1) insert.run(`value ${row}`);
  checkpointWithChecksums(database);
  const copy = join(directory, 'copy.sqlite');
  await copyWithChecksums(database, copy);
  assert.equal(await checkPages(copy), 'whole');
  insert.run('after the copy');
  const { ino } = statSync(`${file}-wal`);
  execFileSync('python3', ['-c', READER, file]);
  assert(existsSync(`${file}-wal`), 'the log is still there');
  assert.equal(statSync(`${file}-wal`).ino, ino);
  insert.run('and still written');
});
