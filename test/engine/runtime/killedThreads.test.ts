/**
 * When a thread is killed, its waiting calls reject and its owner reports the end. The devnet's is
 * killed in test/devnet/thread.slow.test.ts, the traders' in test/traders.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { OgmiosChain } from '../../../src/chain/ogmios/ogmios.ts';
import { threadLogFile } from '../../../src/engine/log/logOwner.ts';
import { openDatabase } from '../../../src/engine/store/database.ts';
import { createTables } from '../../../src/engine/store/schema.ts';
import { threadWriter } from '../../../src/engine/store/stateWriter.ts';
import { QUIET, remembering, SHORT } from '../../chain/ogmios/ogmiosWorld.ts';
import { temporaryDirectory } from '../../support/server.ts';

/** Kills the next thread that is created, before it answers. */
async function killNext(): Promise<void> {
  // trust: Node tells of the thread that was created
  const [worker] = (await once(process, 'worker')) as [Worker];
  await worker.terminate();
}

test("the log's thread: if killed, it rejects its call and starts again", async (t) => {
  const log = threadLogFile({ file: join(temporaryDirectory(t), 'log.db'), maxMb: 16 });
  t.after(() => log.close());
  const killed = killNext();
  await assert.rejects(log.call('span', []), {
    kind: 'threadEnded',
    message: /the log's thread ended with code/,
  });
  await killed;
  assert.ok(await log.call('span', []));
});

test("the state's thread: if killed, it rejects its call and starts again", async (t) => {
  const directory = temporaryDirectory(t);
  const file = join(directory, 'state.db');
  const database = openDatabase(file, { synchronous: 'NORMAL', maxMb: 16, cacheMb: 1 });
  createTables(database);
  database.close();
  const writer = threadWriter({ file, maxMb: 16 });
  t.after(() => writer.close());
  const killed = killNext();
  await assert.rejects(writer.copy(join(directory, 'one.db')), {
    kind: 'threadEnded',
    message: /the state's thread ended with code/,
  });
  await killed;
  await writer.copy(join(directory, 'other.db'));
});

test('the thread that follows the node: the start rejects, and the end is reported', async (t) => {
  const told = remembering();
  const chain = new OgmiosChain({
    ...QUIET,
    url: 'ws://127.0.0.1:1',
    observer: told,
    limits: { ...SHORT },
  });
  t.after(() => chain.stop());
  const killed = killNext();
  await assert.rejects(chain.start(), { kind: 'threadEnded' });
  await killed;
  assert.match(String(told.failures), /the thread that follows the node ended with code/);
});
