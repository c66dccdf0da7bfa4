import assert from 'node:assert/strict';
import { statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openLocalLog } from '../../../src/engine/log/localOpen.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { openDatabase } from '../../../src/engine/store/database.ts';
import { temporaryDirectory } from '../../support/server.ts';

test('a log that was cut is refused with its file and what to do', async (t) => {
  const file = join(temporaryDirectory(t), 'log.sqlite');
  const options = { maxMb: 0, sumsOutdated: () => {} };
  await (await openLocalLog(file, systemClock, options)).close();
  const database = openDatabase(file, { synchronous: 'FULL', maxMb: 0 });
  const insert = database.prepare(
    'INSERT INTO entries (seq, kind, hash, text) VALUES (?, ?, ?, ?)',
  );
  for (let seq = 1; seq <= 500; seq += 1) insert.run(seq, 'tick', 'aa', 'x'.repeat(200));
  database.close();
  for (const part of [0.5, 0.1]) {
    truncateSync(file, Math.floor(statSync(file).size * part));
    const refusal = /log\.sqlite.*(damaged|does not match).*restore DATA_DIR from a backup/s;
    await assert.rejects(openLocalLog(file, systemClock, options), refusal);
  }
});
