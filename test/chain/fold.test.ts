/**
 * Blocks of a chain in the fold: each event's effect on the rows, and the undoing of each by a
 * roll-back.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { POOLS_TAG, poolTag } from '../../src/engine/fold/streamTags.ts';
import { type LockRecord, type OrderRecord, readRecord } from '../../src/engine/store/records.ts';
import { checkRebuild } from '../support/foldCheck.ts';
import { FoldWorld } from '../support/foldWorld.ts';
import { temporaryDirectory } from '../support/server.ts';
import { appendBlock, passTo, rollBackTo, rowsOf } from './foldChain.ts';
import { type Action, BlockMaker } from './foldMarket.ts';
import { ownerOf } from './foldState.ts';
import { checkBars, checkRows } from './foldTruth.ts';

async function newMarket(t: TestContext) {
  const world = await FoldWorld.open(t, join(temporaryDirectory(), 'data'));
  const maker = new BlockMaker();
  const block = async (...actions: Action[]) => {
    await appendBlock(world, maker.block(actions, 20_000));
    checkRows(world, maker.state);
    checkBars(world, maker.state);
  };
  return { world, maker, block, back: (n: number) => rollBackTo(world, maker.back(n)) };
}

const LAUNCH: Action = { do: 'launch', user: 0, buy: 0 };
const buyOf = (amount: number): Action => ({ do: 'place', user: 1, pool: 0, side: 'buy', amount });
const EXECUTE: Action = { do: 'execute', pool: 0 };

test('a launch makes a pool and two pairs, traded or not', async (t) => {
  const { world, maker, block } = await newMarket(t);
  await block(LAUNCH);
  const [token = ''] = maker.state.pools.keys();
  assert.deepEqual(
    new Set(rowsOf(world, 'pairs').keys()),
    new Set([`${token}_.`, `${token}_mcap`]),
  );
  assert.deepEqual(world.said.tags.has(poolTag(token)), true);
  assert.deepEqual(world.said.tags.has(POOLS_TAG), true);
  await block({ do: 'launch', user: 1, buy: 5 });
  const [, bought] = maker.state.pools.values();
  assert.equal(bought?.trades.length, 1, 'the initial buy is a trade');
});

test('orders wait, fill, are refunded and cancelled', async (t) => {
  const { world, maker, block } = await newMarket(t);
  await block(LAUNCH);
  await block(buyOf(20), buyOf(10), buyOf(5));
  assert.equal(rowsOf(world, 'open_orders').size, 3);
  await block({ do: 'refund', index: 2 }, { do: 'cancel', index: 1 });
  await block(EXECUTE);
  const states = [...rowsOf(world, 'orders').values()].map((text) => readRecord<OrderRecord>(text));
  assert.deepEqual(states.map(({ state }) => state).sort(), ['cancelled', 'executed', 'refunded']);
  const executed = states.find(({ state }) => state === 'executed');
  assert.equal(executed?.venue, 'CURVE');
  assert.equal(executed?.closedMs, maker.state.atMs);
  await block({ do: 'place', user: 1, pool: 0, side: 'sell', amount: 40 }, buyOf(30));
  await block(EXECUTE);
  assert.equal(maker.state.pools.values().next().value?.trades.length, 3);
});

test('locks are found by owner and token until they are withdrawn', async (t) => {
  const { world, block } = await newMarket(t);
  await block({ do: 'launch', user: 0, buy: 20 });
  await block({ do: 'lock', user: 0, pool: 0, to: 2 });
  const keys = [...rowsOf(world, 'lock_index').keys()];
  assert.deepEqual(keys.filter((key) => key.startsWith(`owner/${ownerOf(2)}/`)).length, 1);
  await block({ do: 'withdraw', index: 0 });
  assert.equal(rowsOf(world, 'lock_index').size, 0);
  const [lock] = [...rowsOf(world, 'locks').values()].map((text) => readRecord<LockRecord>(text));
  assert.equal(typeof lock?.withdrawnBy, 'string');
});

test('graduation, trading on the AMM and a Collect', async (t) => {
  const { maker, block } = await newMarket(t);
  await block(LAUNCH);
  await block(buyOf(150), EXECUTE, buyOf(53), EXECUTE, EXECUTE);
  const [pool] = maker.state.pools.values();
  assert.equal(pool?.venue, 'AMM');
  await block({ do: 'transfer', user: 1, pool: 0, to: 2 }, buyOf(20), EXECUTE);
  assert((pool?.owed ?? 0n) > 0n);
  await block({ do: 'collect', pool: 0 });
});

test('rolling back any number of blocks leaves the rows of the blocks that are left', async (t) => {
  const { world, maker, block, back } = await newMarket(t);
  const blocks: Action[][] = [
    [{ do: 'launch', user: 0, buy: 30 }],
    [buyOf(40), { do: 'lock', user: 0, pool: 0, to: 1 }],
    [EXECUTE, { do: 'launch', user: 2, buy: 0 }],
    [{ do: 'withdraw', index: 0 }, buyOf(100)],
    [EXECUTE, buyOf(32)],
    [EXECUTE, EXECUTE, buyOf(9)],
    [EXECUTE, { do: 'collect', pool: 0 }],
  ];
  for (let depth = 1; depth <= blocks.length; depth += 1) {
    for (const actions of blocks.slice(maker.state.height)) await block(...actions);
    await back(depth);
    checkRows(world, maker.state);
    checkBars(world, maker.state);
    await checkRebuild(world);
  }
  assert.equal(rowsOf(world, 'pools').size, 0);
  assert.equal(rowsOf(world, 'pairs').size, 0);
});

test('time that passes without blocks makes bars final, and nothing else', async (t) => {
  const { world, maker, block } = await newMarket(t);
  await block({ do: 'launch', user: 0, buy: 30 });
  await passTo(world, maker.state.atMs + 3_600_000);
  checkRows(world, maker.state);
  checkBars(world, maker.state);
  await checkRebuild(world);
});
