/** However blocks come and forks go, the same chain is the same market. Again: `{ seed, path }`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { KEPT_POINTS } from '../../src/engine/fold/chainRows.ts';
import type { FoldWorld } from '../support/foldWorld.ts';
import { type FollowingChange, followFrom, MadeElsewhere } from './distantChain.ts';
import { assertRebuilt, caughtUp, marketOf, openWorld, transactionsOf } from './followed.ts';

const RUNS = Number(process.env.RUNS ?? 4);

test('what is written does not depend on how blocks come in batches', async (t) => {
  const block = fc.record({
    actions: fc.array(fc.nat(20), { maxLength: 3 }),
    apart: fc.constantFrom(1, 20, 61, 4_000),
  });
  const blocks = fc.array(block, { minLength: 1, maxLength: 40 });
  const property = fc.asyncProperty(blocks, async (planned) => {
    const chain = new MadeElsewhere();
    const tokens: string[] = [];
    for (const { actions, apart } of planned) chain.block(transactionsOf(actions, tokens), apart);
    const [batched, single] = [await openWorld(t), await openWorld(t)];
    for (const [world, some] of [
      [batched, {}],
      [single, { tip: () => null }],
    ] as const satisfies readonly [FoldWorld, FollowingChange][]) {
      const { follower, faults } = followFrom(t, world, chain, some);
      await caughtUp(world, chain);
      await follower.stop();
      assert.deepEqual(faults, []);
    }
    assert.equal(batched.node.stateHash(), single.node.stateHash());
    assert.equal(batched.seq, single.seq);
    await Promise.all([batched.stop(), single.stop()]);
  });
  await fc.assert(property, { numRuns: 2 * RUNS, endOnFailure: true });
});

test('after any forks the market is what the chain says', async (t) => {
  const fork = fc.record({
    depth: fc.constantFrom(1, 2, 7, 300, KEPT_POINTS - 1),
    actions: fc.array(fc.array(fc.nat(20), { maxLength: 2 }), { minLength: 1, maxLength: 6 }),
    isAwaited: fc.boolean(),
  });
  const property = fc.asyncProperty(
    fc.array(fork, { minLength: 1, maxLength: 4 }),
    async (forks) => {
      const chain = new MadeElsewhere();
      const tokens: string[] = [];
      chain.empty(200);
      for (let made = 0; made < 40; made += 1) chain.block(transactionsOf([made], tokens), 61);
      chain.empty(KEPT_POINTS + 20);
      const world = await openWorld(t);
      const { follower, faults } = followFrom(t, world, chain);
      await caughtUp(world, chain);
      for (const { depth, actions, isAwaited } of forks) {
        chain.cut(chain.blocks.length - depth);
        // The fork also contains the earlier launches, or the orders in it would mean nothing.
        for (const each of actions) chain.block(transactionsOf(each, tokens), 61);
        chain.empty(depth);
        if (isAwaited) await caughtUp(world, chain);
      }
      await caughtUp(world, chain);
      await follower.stop();
      await assertRebuilt(world);
      const other = await openWorld(t);
      const again = followFrom(t, other, chain);
      await caughtUp(other, chain);
      await again.follower.stop();
      assert.deepEqual(marketOf(world), marketOf(other));
      assert.deepEqual([faults, again.faults, world.said.foldFailures], [[], [], []]);
      await Promise.all([world.stop(), other.stop()]);
    },
  );
  await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
});
