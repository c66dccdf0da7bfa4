/**
 * Histories read from pages equal those read from rows: each change of bars once, and a full disk.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openDatabase } from '../../../src/engine/store/database.ts';
import { FoldWorld } from '../../support/foldWorld.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { ASKS, CHANGE_NAMES, CHANGES, Runner, type Step } from './historyRunner.ts';

async function opened(t: TestContext): Promise<Runner> {
  const directory = join(temporaryDirectory(), 'data');
  const world = await FoldWorld.open(t, directory);
  const runner = new Runner(world);
  await runner.fill(240);
  for (const ask of ASKS) await runner.compare(ask);
  assert(runner.made > 8 && runner.read > runner.made, `${runner.made} pages, ${runner.read} read`);
  return runner;
}

for (const change of CHANGE_NAMES) {
  test(`bars in pages that change are read again: ${change}`, async (t) => {
    const runner = await opened(t);
    const steps: readonly Step[] = CHANGES[change];
    for (const step of [...steps, { do: 'commit' } as const]) {
      await runner.step(step);
      for (const ask of ASKS) await runner.compare(ask);
    }
    assert.deepEqual(runner.world.said.rejected, []);
    await runner.fill(60);
    for (const ask of ASKS) await runner.compare(ask);
    const { made } = runner;
    for (const ask of ASKS) await runner.compare({ ...ask, limit: ask.limit - 1 });
    assert.equal(runner.made, made, 'pages are made once');
  });
}

test('an answer ends where its limit says, and says where the next one begins', async (t) => {
  const runner = await opened(t);
  for (let limit = 1; limit < 40; limit += 1) {
    for (const ask of ASKS) await runner.compare({ ...ask, limit });
  }
});

test('another state in the place of a damaged one is asked again', async (t) => {
  const directory = join(temporaryDirectory(), 'data');
  const world = await FoldWorld.open(t, directory);
  const runner = new Runner(world);
  await runner.fill(240);
  const whole = await FoldWorld.open(t, await world.image());
  assert.equal(whole.fold.store.checkpoint?.epoch, world.fold.store.checkpoint?.epoch);
  const file = openDatabase(world.files.state, { synchronous: 'NORMAL', maxMb: 0 });
  const bars = 'bars WHERE resolution = 0 AND final = 1';
  file.exec(`UPDATE ${bars.replace(' WHERE', ` SET value = (SELECT value FROM ${bars}) WHERE`)}`);
  file.close();
  for (const ask of ASKS) await runner.compare(ask);
  runner.node = whole.node;
  for (const ask of ASKS) await runner.compare(ask);
});

test('nothing of pages is left in the directory', async (t) => {
  const runner = await opened(t);
  const names = readdirSync(runner.world.directory);
  assert.deepEqual(
    names.filter((name) => name.includes('history')),
    [],
  );
});

test('where the disk refuses pages, the rows answer', async (t) => {
  const runner = await opened(t);
  runner.refuse();
  await runner.fill(120);
  for (const ask of ASKS) await runner.compare(ask);
});
