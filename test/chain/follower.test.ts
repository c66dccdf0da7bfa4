/**
 * A chain that is far away, followed: runs of blocks, batches, forks below skipped blocks, a start
 * in the middle, kills.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KEPT_POINTS, pointKey } from '../../src/engine/fold/chainRows.ts';
import type { FoldWorld } from '../support/foldWorld.ts';
import { until } from '../support/until.ts';
import { followFrom, MadeElsewhere } from './distantChain.ts';
import { rowsOf } from './foldChain.ts';
import { assertRebuilt, caughtUp, marketOf, openWorld } from './followed.ts';
import { launchOf, orderOf } from './recogniseWorld.ts';

const { tx: LAUNCH, token: TOKEN } = launchOf('Distant');

async function kindsOf(world: FoldWorld): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { entry } of await world.entries()) {
    const { kind } = entry.payload;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

test('empty blocks are merged while no fork can reach them, then logged one by one', async (t) => {
  const chain = new MadeElsewhere();
  chain.empty(2_500);
  chain.block([LAUNCH]);
  chain.empty(500);
  chain.block([orderOf(TOKEN, 'buy').tx]);
  chain.empty(KEPT_POINTS);
  const world = await openWorld(t);
  const { faults } = followFrom(t, world, chain);
  await caughtUp(world, chain);
  const kinds = await kindsOf(world);
  assert(kinds.passed !== undefined && kinds.passed >= 5 && kinds.passed < 20);
  // The launch, and every block that a fork could still reach; the order's block is one of the
  // latter.
  assert.equal(kinds.block, KEPT_POINTS + 2);
  const passed = (await world.entries()).flatMap(({ entry: { payload } }) =>
    payload.kind === 'passed' ? [payload.blocks] : [],
  );
  assert.equal(
    passed.reduce((sum, count) => sum + count, 0),
    chain.blocks.length - KEPT_POINTS - 2,
  );
  const points = [...rowsOf(world, 'points').keys()];
  assert.equal(points[0], pointKey(chain.blocks.length - KEPT_POINTS));
  assert.equal(points.length, KEPT_POINTS + 1);
  assert.equal(rowsOf(world, 'orders').size, 1);
  await assertRebuilt(world);
  assert.deepEqual([faults, world.said.foldFailures], [[], []]);
});

test('a run that outlives what a fork can reach leaves no older point', async (t) => {
  const chain = new MadeElsewhere();
  chain.empty(9_000);
  chain.tellTo(3_500);
  const world = await openWorld(t);
  followFrom(t, world, chain);
  await caughtUp(world, chain, 3_500);
  const heights = [...rowsOf(world, 'points').keys()].map(Number);
  assert(heights.every((height) => height >= 3_500 - KEPT_POINTS));
  assert((heights[0] ?? 0) <= 2_000, 'and those that a fork could reach are all there');
  await assertRebuilt(world);
});

test('a way back into a run goes to the newest block known before it', async (t) => {
  const chain = new MadeElsewhere();
  chain.empty(900);
  chain.block([LAUNCH]);
  chain.empty(8_000);
  chain.tellTo(2_700);
  const world = await openWorld(t);
  const { faults } = followFrom(t, world, chain);
  await caughtUp(world, chain, 2_700);
  const { tx } = orderOf(TOKEN, 'buy');
  chain.cut(1_300);
  chain.block([tx]);
  chain.empty(9_000);
  await caughtUp(world, chain, 2_700);
  assert.equal(rowsOf(world, 'orders').size, 1);
  chain.cut(1_250);
  chain.empty(6_000);
  chain.tellTo(Number.POSITIVE_INFINITY);
  await caughtUp(world, chain);
  assert.equal(rowsOf(world, 'orders').size, 0);
  assert.equal(rowsOf(world, 'pools').size, 1);
  assert.equal(chain.opened, 3, 'the chain was asked twice for the next block');
  await assertRebuilt(world);
  assert.deepEqual([faults, world.said.foldFailures], [[], []]);
});

test('a chain that shares nothing with what was followed is refused', async (t) => {
  const chain = new MadeElsewhere();
  chain.empty(KEPT_POINTS + 200);
  const world = await openWorld(t);
  const first = followFrom(t, world, chain);
  await caughtUp(world, chain);
  await first.follower.stop();
  const { seq } = world;
  const other = new MadeElsewhere('another network');
  other.empty(KEPT_POINTS + 300);
  const { faults } = followFrom(t, world, other);
  await until('it is refused', () => faults.length > 0);
  assert.match(String(faults[0]), /none of the newest blocks known here.*NETWORK, OGMIOS_URL/);
  assert.equal(world.seq, seq);
});

test('in the middle of a long way nothing is thrown away either', async (t) => {
  const chain = new MadeElsewhere();
  for (let made = 0; made < 9_000; made += 1) chain.block([], 61);
  chain.tellTo(3_500);
  const world = await openWorld(t);
  const first = followFrom(t, world, chain);
  await caughtUp(world, chain, 3_500);
  await first.follower.stop();
  const { seq } = world;
  // A node that has only started to load the chain.
  const behind = new MadeElsewhere();
  behind.empty(10);
  const { faults } = followFrom(t, world, behind);
  await until('it is refused', () => faults.length > 0);
  assert.match(String(faults[0]), /still far behind/);
  assert.equal(world.seq, seq);
});

test('starts at the configured point, and reports one that is not on the chain', async (t) => {
  const chain = new MadeElsewhere();
  chain.empty(50);
  const start = chain.blocks[19]?.point ?? assert.fail();
  const world = await openWorld(t);
  const { faults } = followFrom(t, world, chain, { start });
  await caughtUp(world, chain);
  const heights = [...rowsOf(world, 'points').keys()].map(Number);
  assert.equal(heights[0], 21);
  // Back to the very start, and on: the first block comes again.
  chain.cut(20);
  chain.empty(3);
  await caughtUp(world, chain);
  assert.equal(rowsOf(world, 'points').size, 3);
  await assertRebuilt(world);
  assert.deepEqual(faults, []);
  const nowhere = { slot: 7, hash: 'ab'.repeat(32) };
  const lost = followFrom(t, await openWorld(t), chain, { start: nowhere });
  await until('it is refused', () => lost.faults.length > 0);
  assert.match(String(lost.faults[0]), /does not have block 7\.abab.*START_POINT/);
});

test('after kills it continues where the log ends', async (t) => {
  const chain = new MadeElsewhere();
  const rounds = Array.from({ length: 4 }, (_, round) => {
    const { tx, token } = launchOf(`Killed${round}`);
    return [tx, orderOf(token, 'buy').tx];
  });
  for (const transactions of rounds) {
    chain.empty(700);
    for (const tx of transactions) chain.block([tx]);
  }
  chain.empty(2_000);
  chain.tellTo(0);
  let world = await openWorld(t);
  for (const height of [500, 1_405, 2_400, chain.blocks.length]) {
    const { follower, faults } = followFrom(t, world, chain);
    chain.tellTo(height);
    await caughtUp(world, chain, height);
    assert.deepEqual(faults, []);
    await follower.stop();
    if (height < chain.blocks.length) world = await world.crashed();
  }
  const undisturbed = await openWorld(t);
  followFrom(t, undisturbed, chain);
  await caughtUp(undisturbed, chain);
  assert.deepEqual(marketOf(world), marketOf(undisturbed));
  await assertRebuilt(world);
});

test('pending transactions are recognised once the blocks before them are applied', async (t) => {
  const chain = new MadeElsewhere();
  chain.empty(20);
  chain.block([LAUNCH]);
  chain.empty(20);
  chain.tellTo(5);
  const { tx } = orderOf(TOKEN, 'buy');
  chain.wait(tx);
  const world = await openWorld(t);
  const { faults } = followFrom(t, world, chain);
  await caughtUp(world, chain, 5);
  chain.tellTo(Number.POSITIVE_INFINITY);
  await caughtUp(world, chain);
  await until('it waits', () => world.fold.mempool.has(tx.id));
  assert.deepEqual(faults, []);
});

test('it can be stopped while it waits for the chain to open', async (t) => {
  const chain = new MadeElsewhere();
  chain.empty(9_000);
  chain.tellTo(2_700);
  const world = await openWorld(t);
  const { follower, faults } = followFrom(t, world, chain);
  await caughtUp(world, chain, 2_700);
  // The node is away just as the chain goes back into a run.
  const node = Promise.withResolvers<void>();
  chain.reached = node.promise;
  const { opened } = chain;
  chain.cut(2_500);
  await until('it is asked', () => chain.opened > opened);
  await follower.stop();
  node.resolve();
  await until('what was opened too late is closed', () => chain.streams === 0);
  assert.deepEqual(faults, []);
});
