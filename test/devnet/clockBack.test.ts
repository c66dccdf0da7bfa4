/** A devnet whose machine's clock is set back: it makes no block, and says so until it does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../src/engine/runtime/clock.ts';
import { startDevnet } from '../support/devnetNode.ts';
import { HandClock } from '../support/handClock.ts';
import type { Scope } from '../support/server.ts';

const SECOND_MS = 1_000;

async function paced(scope: Scope) {
  const hand = new HandClock();
  let backMs = 0;
  const clock: Clock = {
    nowMs: () => hand.nowMs() - backMs,
    monotonicMs: hand.monotonicMs,
    soon: hand.soon,
    after: hand.after.bind(hand),
  };
  const said: (string | null)[] = [];
  const waits = (message: string | null) => void said.push(message);
  const devnet = await startDevnet(scope, { clock, paceMs: SECOND_MS, waits });
  const height = () => Number(devnet.node.chain.tip?.height ?? 0);
  await hand.advance(5 * SECOND_MS);
  assert.ok(height() >= 5);
  return {
    said,
    height,
    node: devnet.node,
    advance: (seconds: number) => hand.advance(seconds * SECOND_MS),
    setBack: (seconds: number) => {
      backMs = seconds * SECOND_MS;
    },
    health: async () => {
      const answer = await fetch(`${devnet.devnetUrl}/health`);
      const body: unknown = await answer.json();
      return { status: answer.status, problem: String(Reflect.get(Object(body), 'problem')) };
    },
  };
}

test('set back by ten minutes: named at once, in health too, until it is right', async (t) => {
  const { said, height, advance, setBack, health } = await paced(t);
  assert.deepEqual(await health(), { status: 200, problem: 'undefined' });
  setBack(600);
  const before = height();
  await advance(3);
  assert.equal(height(), before);
  assert.equal(said.length, 1);
  assert.match(String(said[0]), /\b(599|60[01]) s ahead of .*Set the clock right/);
  const told = await health();
  assert.equal(told.status, 503);
  assert.match(told.problem, /59[789] s ahead of this machine's clock/);
  setBack(0);
  await advance(3);
  assert.ok(height() > before);
  assert.deepEqual(said.slice(1), [null]);
  assert.deepEqual(await health(), { status: 200, problem: 'undefined' });
});

test('set back by twenty seconds: named after ten without a block', async (t) => {
  const { said, height, advance, setBack } = await paced(t);
  setBack(20);
  const before = height();
  await advance(9);
  assert.deepEqual(said, []);
  await advance(4);
  assert.equal(said.length, 1);
  await advance(10);
  assert.ok(height() > before);
  assert.equal(said[1], null);
});

test('a few blocks on demand are no problem', async (t) => {
  const { said, advance, node, health } = await paced(t);
  await Promise.all([node.mine(5), advance(0)]);
  await advance(8);
  assert.deepEqual([said, await health()], [[], { status: 200, problem: 'undefined' }]);
});
