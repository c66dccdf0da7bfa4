/**
 * A follower whose log others wrote, too: its node may be behind entries that others appended.
 * Again: `{ seed, path }`.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { chainTip } from '../../src/chain/chainPoints.ts';
import type { FoldWorld } from '../support/foldWorld.ts';
import { until } from '../support/until.ts';
import { followFrom, MadeElsewhere } from './distantChain.ts';
import { assertRebuilt, caughtUp, marketOf, openWorld, transactionsOf } from './followed.ts';
import { orderOf } from './recogniseWorld.ts';

/** A chain that another node wrote to the log: twelve blocks, of which some say something. */
async function written(t: TestContext) {
  const chain = new MadeElsewhere();
  const tokens: string[] = [];
  for (let made = 0; made < 12; made += 1) chain.block(transactionsOf([made], tokens));
  const world = await openWorld(t);
  const { follower } = followFrom(t, world, chain);
  await caughtUp(world, chain);
  await follower.stop();
  return { chain, tokens, world };
}

function goOn(t: TestContext, world: FoldWorld, chain: MadeElsewhere) {
  return followFrom(t, world, chain, { isShared: true });
}

function heard(chain: MadeElsewhere): Promise<void> {
  return until('all is heard', () => chain.isHeard);
}

const heightOf = (world: FoldWorld) => chainTip(world.fold.store)?.height;

test('the follower waits for a node that is behind and rolls nothing back', async (t) => {
  const { chain, tokens, world } = await written(t);
  const missing = chain.blocks.slice(7);
  chain.cut(7);
  const before = [world.seq, world.node.stateHash()];
  const { follower, faults, rolledBack, late } = goOn(t, world, chain);
  await until('it says so', () => late.length > 0);
  assert.deepEqual(late, [[7, 12]]);
  for (const block of missing.slice(0, 4)) {
    chain.again(block);
    await heard(chain);
    assert.equal(follower.waitsForNode, true);
  }
  // Rollbacks and new blocks above the log's tip concern only the node, as does its mempool.
  const { tx } = orderOf(tokens[0] ?? assert.fail(), 'buy');
  chain.wait(tx);
  chain.cut(9);
  await heard(chain);
  chain.again(...missing.slice(2, 4));
  await heard(chain);
  assert.deepEqual([world.seq, world.node.stateHash()], before);
  chain.again(...missing.slice(4));
  await until('its node has all of it', () => !follower.waitsForNode);
  chain.block();
  await caughtUp(world, chain);
  await until('the pending transaction is known', () =>
    [...world.fold.mempool.ids()].includes(tx.id),
  );
  assert.deepEqual([late.length, rolledBack, faults], [1, [], []]);
  await assertRebuilt(world);
});

test('another chain counts once it is as long as what is written', async (t) => {
  const { chain, tokens, world } = await written(t);
  const same = chain.blocks.slice(7, 9);
  chain.cut(7);
  const { follower, faults, rolledBack, late } = goOn(t, world, chain);
  await until('its node is waited for', () => follower.waitsForNode);
  chain.again(...same);
  const waits = async () => {
    await heard(chain);
    assert.deepEqual([follower.waitsForNode, heightOf(world), rolledBack], [true, 12, []]);
  };
  for (let made = 10; made < 12; made += 1) {
    chain.block(transactionsOf([made, 1], tokens));
    await waits();
  }
  // The node switches to another fork of which the log has no block.
  chain.cut(10);
  await waits();
  chain.block(transactionsOf([2], tokens), 61);
  await waits();
  chain.block(transactionsOf([3], tokens));
  await caughtUp(world, chain);
  assert.deepEqual([rolledBack, late, faults], [[[9, 12]], [[7, 12]], []]);
  chain.cut(11);
  chain.block([], 61);
  chain.block([], 61);
  await caughtUp(world, chain);
  assert.deepEqual(rolledBack.slice(1), [[11, 12]]);
  await assertRebuilt(world);
});

test('a node that starts again counts once it has the whole chain', async (t) => {
  const { chain, world } = await written(t);
  const all = [...chain.blocks];
  chain.cut(0);
  const { follower, rolledBack } = goOn(t, world, chain);
  await until('its node is waited for', () => follower.waitsForNode);
  for (const block of all) {
    assert.equal(heightOf(world), 12);
    chain.again(block);
    await heard(chain);
  }
  chain.block();
  await caughtUp(world, chain);
  assert.deepEqual(rolledBack, []);
});

test('whatever a node does, the log goes back only for a chain as long', async (t) => {
  const step = fc.record({
    cut: fc.nat(15),
    again: fc.nat(6),
    actions: fc.array(fc.array(fc.nat(20), { maxLength: 2 }), { maxLength: 4 }),
    isNew: fc.boolean(),
  });
  const property = fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
    const { chain, tokens, world } = await written(t);
    let { follower, faults, rolledBack } = goOn(t, world, chain);
    for (const { cut, again, actions, isNew } of steps) {
      const lost = chain.blocks.slice(Math.max(0, chain.blocks.length - cut));
      chain.cut((chain.tip?.height ?? 0) - lost.length);
      if (!isNew) await heard(chain);
      chain.again(...lost.slice(0, again));
      for (const each of actions) chain.block(transactionsOf(each, tokens), 61);
      await heard(chain);
      const height = chain.tip?.height ?? 0;
      for (const [, from] of rolledBack) assert(from <= height, `${from} was left for ${height}`);
      rolledBack.length = 0;
      if (!isNew) continue;
      // Another node begins to lead, with the same chain.
      await follower.stop();
      ({ follower, faults, rolledBack } = goOn(t, world, chain));
    }
    await heard(chain);
    while ((chain.tip?.height ?? 0) <= (heightOf(world) ?? 0)) chain.block([], 61);
    await caughtUp(world, chain);
    await follower.stop();
    await assertRebuilt(world);
    const other = await openWorld(t);
    const told = followFrom(t, other, chain);
    await caughtUp(other, chain);
    await told.follower.stop();
    assert.deepEqual(marketOf(world), marketOf(other));
    assert.deepEqual([faults, world.said.foldFailures], [[], []]);
    await Promise.all([world.stop(), other.stop()]);
  });
  await fc.assert(property, { numRuns: 10, endOnFailure: true });
});
