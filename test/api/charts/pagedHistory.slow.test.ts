/**
 * Histories read from pages equal those read from rows, whatever happens to the bars. Replay a
 * failure: put the printed `{ seed, path }` into the options of `fc.assert`.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { FoldWorld } from '../../support/foldWorld.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { Runner, turn } from './historyRunner.ts';

test('pages answer what the rows answer', async () => {
  let [compared, bars, made, again, rejected, fed] = [0, 0, 0, 0, 0, 0];
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 4, maxLength: 10 }), async (turns) => {
      const ends: (() => void | Promise<void>)[] = [];
      const scope = { after: (end: () => void | Promise<void>) => void ends.push(end) };
      const directory = join(temporaryDirectory(), 'data');
      const world = await FoldWorld.open(scope, directory);
      const runner = new Runner(world);
      try {
        await runner.begin();
        for (const each of turns) await runner.take(each);
      } finally {
        for (const end of ends.toReversed()) await end();
      }
      rejected += runner.world.said.rejected.length;
      fed += runner.fed;
      compared += runner.compared;
      bars += runner.bars;
      made += runner.made;
      again += runner.again;
    }),
    { numRuns: 20 },
  );
  // After a rollback, trades may be behind market time.
  assert(rejected < fed / 10, `${rejected} of ${fed} trades were rejected`);
  assert(
    compared > 100 && bars > 4_000 && made > 100,
    `${compared} answers of ${bars} bars, ${made} pages, ${again} in several turns`,
  );
});
