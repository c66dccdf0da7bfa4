/** A paced chain has the slots of a clock: blocks that are asked for may not run away from it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { startDevnet } from '../support/devnetNode.ts';

const PACE_MS = 60_000;

test('a paced chain is at most 100 slots ahead of its clock, in calls of any size', async (t) => {
  const { node } = await startDevnet(t, { paceMs: PACE_MS });
  const refused = async (count: number, words: RegExp) => {
    const { tip } = node.chain;
    const answer = await node.mine(count);
    assert.ok(answer instanceof Failure && answer.cause === 'INVALID_PARAMS');
    assert.match(answer.message, words);
    assert.deepEqual(node.chain.tip, tip, 'none was made');
  };
  await refused(2160, /at most 100 can be made now/);
  assert.equal(await node.mine(60), 60);
  await refused(41, /these are 60: at most 40/);
  assert.equal(await node.mine(40), 100);
  await refused(1, /these are 100: at most 0/);
});

test('calls at once are not further ahead together than alone', async (t) => {
  const { node } = await startDevnet(t, { paceMs: PACE_MS });
  const answers = await Promise.all([node.mine(60), node.mine(60), node.mine(40)]);
  assert.deepEqual(
    answers.map((answer) => (answer instanceof Failure ? answer.cause : answer)),
    [60, 'INVALID_PARAMS', 100],
  );
});

test('blocks on demand have no clock to run away from', async (t) => {
  const { node } = await startDevnet(t);
  assert.equal(await node.mine(2160), 2160);
});
