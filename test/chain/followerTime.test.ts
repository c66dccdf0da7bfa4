/** Time on a chain whose blocks are rare: minutes that end without one, blocks that come late. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { chainTip } from '../../src/chain/chainPoints.ts';
import { pairName } from '../../src/engine/market/pair.ts';
import {
  intervalStart,
  MINUTE_MS,
  STORED_RESOLUTION_IDS,
} from '../../src/engine/market/resolution.ts';
import { isOpen } from '../../src/engine/store/barRows.ts';
import { GRACE_MS } from '../support/chainPolicies.ts';
import { FoldWorld } from '../support/foldWorld.ts';
import { temporaryDirectory } from '../support/server.ts';
import { until } from '../support/until.ts';
import { type FollowingChange, followFrom, MadeElsewhere } from './distantChain.ts';
import { launchOf } from './recogniseWorld.ts';

async function open(t: TestContext, chain = new MadeElsewhere(), some: FollowingChange = {}) {
  const world = await FoldWorld.open(t, join(temporaryDirectory(), 'data'));
  const launch = launchOf('Timed');
  chain.block([launch.tx]);
  const launchedMs = chain.blocks[0]?.timeMs ?? 0;
  chain.nowMs = launchedMs;
  const { faults } = followFrom(t, world, chain, some);
  const followed = () =>
    until('all blocks are in the log', () => {
      return chainTip(world.fold.store)?.hash === chain.tip?.hash;
    });
  await followed();
  const endMs = intervalStart('min1', launchedMs) + MINUTE_MS;
  /** `end 0`, `start 0`: seconds after the end of the launch's minute. */
  const times = async () =>
    (await world.entries()).flatMap(({ entry: { payload, timeMs } }) => {
      if (payload.kind === 'time') return [`${payload.phase} ${(timeMs - endMs) / 1000}`];
      return payload.kind === 'rollback' ? ['rollback'] : [];
    });
  /** Waits until the follower has looked at the clock again, and then once more. */
  const looked = async () => {
    const before = chain.waits;
    await until('the follower looks at the clock', () => chain.waits > before + 2);
  };
  return { chain, world, faults, followed, endMs, times, looked, launch };
}

/** Whether the bar of a token's minute is final; null: there is none. */
function isFinal(world: FoldWorld, token: string, startMs: number): boolean | null {
  const pool = world.fold.pairBars(pairName(token, '.'));
  if (pool === null) return null;
  assert(pool !== 'quarantined');
  const row = world.fold.store.bar(pool.pair.id, STORED_RESOLUTION_IDS.min1, startMs);
  return row === null || row.value === null ? null : !isOpen(row.value);
}

test('a minute without a block is over after the grace, its bar final', async (t) => {
  const { chain, world, faults, endMs, times, looked, launch } = await open(t);
  const before = await times();
  chain.nowMs = endMs + GRACE_MS - 1;
  await looked();
  assert.deepEqual(await times(), before);
  assert.equal(isFinal(world, launch.token, endMs - MINUTE_MS), false);
  chain.nowMs = endMs + GRACE_MS;
  await until('the minute is over', () => world.fold.marketMs === endMs);
  assert.deepEqual((await times()).slice(before.length), ['end 0', 'start 0']);
  assert.equal(isFinal(world, launch.token, endMs - MINUTE_MS), true);
  // Nothing more until the next one is over; several at once are one step, every end told.
  await looked();
  chain.nowMs = endMs + 7 * MINUTE_MS + GRACE_MS;
  await until('seven more are over', () => world.fold.marketMs === endMs + 7 * MINUTE_MS);
  const told = (await times()).slice(before.length + 2);
  assert.equal(told.at(-1), 'start 420');
  assert(
    told.some((time) => time.startsWith('end ')),
    'the five minutes of the launch are over',
  );
  assert.deepEqual(faults, []);
});

test('a block that comes late keeps its moment; its bar is made final at once', async (t) => {
  const { chain, world, faults, followed, endMs, looked } = await open(t);
  chain.nowMs = endMs + GRACE_MS;
  await until('the minute is over', () => world.fold.marketMs === endMs);
  const late = launchOf('Late');
  const block = chain.block([late.tx], 1);
  assert(block.timeMs < endMs);
  await followed();
  assert.equal(world.fold.marketMs, endMs, 'market time does not go back');
  assert.equal(isFinal(world, late.token, endMs - MINUTE_MS), true);
  await looked();
  const { stateHash } = await world.rebuilt();
  assert.equal(world.node.stateHash(), stateHash);
  assert.deepEqual([faults, world.said.foldFailures], [[], []]);
});

test('a rollback takes the time back; it passes again, and the new blocks are right', async (t) => {
  const { chain, world, faults, followed, endMs, times, launch } = await open(t);
  const next = launchOf('Next');
  chain.block([next.tx], 5);
  await followed();
  chain.nowMs = endMs + GRACE_MS;
  await until('the minute is over', () => world.fold.marketMs === endMs);
  assert.equal(isFinal(world, next.token, endMs - MINUTE_MS), true);
  chain.cut(1);
  await followed();
  await until('the minute is over again', () => world.fold.marketMs === endMs);
  assert.deepEqual((await times()).slice(-3), ['rollback', 'end 0', 'start 0']);
  assert.equal(isFinal(world, next.token, endMs - MINUTE_MS), null, 'it is undone');
  assert.equal(isFinal(world, launch.token, endMs - MINUTE_MS), true);
  chain.block([next.tx], 6);
  await followed();
  assert.equal(isFinal(world, next.token, endMs - MINUTE_MS), true);
  const { stateHash } = await world.rebuilt();
  assert.equal(world.node.stateHash(), stateHash);
  assert.deepEqual([faults, world.said.foldFailures], [[], []]);
});

test('while blocks are missing or none is reported, the clock ends no minute', async (t) => {
  let told = true;
  const chain = new MadeElsewhere();
  const tip = () => (told ? chain.tip : null);
  const { world, looked, endMs, launch } = await open(t, chain, { tip });
  told = false;
  chain.nowMs = endMs + 9 * MINUTE_MS;
  await looked();
  assert(world.fold.marketMs < endMs);
  assert.equal(isFinal(world, launch.token, endMs - MINUTE_MS), false);
  told = true;
  chain.tellTo(1);
  chain.block();
  await looked();
  assert(world.fold.marketMs < endMs, 'a block is missing');
  chain.tellTo(2);
  await until('time has passed', () => world.fold.marketMs >= endMs);
});

test('a chain that is itself far behind says what time it is, not the clock', async (t) => {
  const { chain, world, faults, followed, endMs, times, looked } = await open(t);
  const before = await times();
  // A node that loads the chain: its newest block is followed, and old.
  chain.nowMs = endMs + 365 * 24 * 60 * MINUTE_MS;
  await looked();
  assert.deepEqual(await times(), before);
  const next = launchOf('Old');
  const block = chain.block([next.tx], 600);
  await followed();
  assert.equal(world.fold.marketMs, block.timeMs, 'it is not late');
  chain.nowMs = block.timeMs + 2 * MINUTE_MS + GRACE_MS;
  await until('at the present the clock counts again', () => world.fold.marketMs > block.timeMs);
  assert.deepEqual(faults, []);
});
