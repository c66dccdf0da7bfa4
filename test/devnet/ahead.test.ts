/** A paced chain has the slots of a clock: blocks that are asked for may not run away from it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { startChain } from '../support/ledgerWorld.ts';

test('a paced chain is at most 100 slots ahead of its clock, in calls of any size', async (t) => {
  const options = { blockPaceMs: 60_000, genesisTimeMs: Date.now() };
  const chain = await startChain(t, options);
  const refused = async (count: number, words: RegExp) => {
    const { tip } = await chain.tip();
    const answer = await chain.mine(count);
    assert.ok(answer instanceof Failure && answer.cause === 'INVALID_PARAMS');
    assert.match(answer.message, words);
    assert.deepEqual((await chain.tip()).tip, tip, 'none was made');
  };
  await refused(2160, /at most 100 can be made now/);
  const tip = await chain.mine(60);
  assert.ok(tip !== null && 'height' in tip);
  await refused(41, /60 ahead: at most 40/);
  assert.ok(!((await chain.mine(40)) instanceof Failure));
  await refused(1, /100 ahead: at most 0/);
});

test('blocks on demand have no clock to run away from', async (scope) => {
  const chain = await startChain(scope);
  const tip = await chain.mine(2160);
  assert.ok(tip !== null && 'height' in tip && tip.height === 2160);
});
