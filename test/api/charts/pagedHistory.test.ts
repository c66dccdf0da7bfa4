/** Histories out of pages are what the rows answer: each change of bars once, and a full disk. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { FoldWorld } from '../../support/foldWorld.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { ASKS, CHANGE_NAMES, CHANGES, LATENESS_MS, Runner } from './historyRunner.ts';

async function opened(t: TestContext): Promise<Runner> {
  const directory = join(temporaryDirectory(), 'data');
  const world = await FoldWorld.open(t, directory, { latenessMs: LATENESS_MS });
  const runner = new Runner(world);
  await runner.fill(240);
  for (const ask of ASKS) await runner.compare(ask);
  assert(runner.made > 8 && runner.read > runner.made, `${runner.made} pages, ${runner.read} read`);
  return runner;
}

for (const change of CHANGE_NAMES) {
  test(`bars in pages that change are read again: ${change}`, async (t) => {
    const runner = await opened(t);
    for (const step of CHANGES[change]) await runner.step(step);
    for (const ask of ASKS) await runner.compare(ask);
    await runner.step({ do: 'commit' });
    for (const ask of ASKS) await runner.compare(ask);
    await runner.fill(60);
    for (const ask of ASKS) await runner.compare(ask);
  });
}

test('pages are made once, and nothing of them is left in the directory', async (t) => {
  const runner = await opened(t);
  const { made, read } = runner;
  for (const ask of ASKS) await runner.compare({ ...ask, limit: ask.limit - 1 });
  assert.equal(runner.made, made);
  assert(runner.read > read);
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
