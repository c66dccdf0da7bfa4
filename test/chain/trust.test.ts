/**
 * Which keys the fold counts as bundlers, snipers and insiders, and which tokens it counts as held.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { insightsOf } from '../../src/api/holders/insights.ts';
import { poolOf } from '../../src/api/holders/routes.ts';
import { FoldWorld } from '../support/foldWorld.ts';
import { temporaryDirectory } from '../support/server.ts';
import { appendBlock, rollBackTo } from './foldChain.ts';
import { type Action, BlockMaker, type MadeBlock } from './foldMarket.ts';
import { trustTruth } from './trustTruth.ts';

async function newMarket(t: TestContext) {
  const world = await FoldWorld.open(t, join(temporaryDirectory(), 'data'));
  const maker = new BlockMaker();
  let blocks: MadeBlock[] = [];
  const insights = () => {
    const [token = ''] = maker.state.pools.keys();
    const pool = poolOf(world.fold, token);
    assert(pool !== null);
    const found = insightsOf(world.fold, pool);
    const { bundlers, snipers, insiders, largestPercent, lockedPercent } = found;
    const { author, ...truth } = trustTruth(blocks, token);
    const { top10Percent, holders } = found;
    const said = { bundlers, snipers, insiders, largestPercent, lockedPercent };
    assert.deepEqual({ ...said, top10Percent, holders }, truth);
    assert.equal(found.author.percent, author.percent);
    return found;
  };
  const block = async (...actions: Action[]) => {
    blocks.push(maker.block(actions, 20_000));
    await appendBlock(world, blocks.at(-1) ?? assert.fail());
  };
  const back = async (count: number) => {
    blocks = blocks.slice(0, -count);
    await rollBackTo(world, maker.back(count));
  };
  return { block, back, insights };
}

const EXECUTE: Action = { do: 'execute', pool: 0 };
const buyOf = (user: number, amount = 5): Action => {
  return { do: 'place', user, pool: 0, side: 'buy', amount };
};
const sellOf = (user: number): Action => {
  return { do: 'place', user, pool: 0, side: 'sell', amount: 100 };
};
const launch = (more: { readonly to?: number } = {}): Action => {
  return { do: 'launch', user: 0, buy: 30, ...more };
};

test('a buy counts by the block of its placement, once it is filled', async (t) => {
  const { block, back, insights } = await newMarket(t);
  await block(launch(), buyOf(0), buyOf(1));
  assert.equal(insights().bundlers?.keys, 0, 'not filled yet');
  await block(buyOf(2), buyOf(1));
  await block(buyOf(3));
  await block(buyOf(4));
  await block(buyOf(5), { do: 'cancel', index: 4 });
  await block(EXECUTE, EXECUTE);
  const { bundlers, snipers, insiders } = insights();
  assert.equal(bundlers?.keys, 1, 'placed with the launch, by another key than the author’s');
  assert.equal(snipers?.keys, 2, 'of five, one bundled, one was cancelled and one came later');
  assert.equal(insiders?.keys, 0, 'fills make no insider');
  await back(1);
  assert.deepEqual([insights().bundlers?.keys, insights().snipers?.keys], [0, 0], 'undone');
});

test('tokens of an own open sell order are held, locked ones stand apart', async (t) => {
  const { block, insights } = await newMarket(t);
  await block(launch());
  assert.equal(insights().author.percent, '100.00');
  await block(sellOf(0));
  const { author, holders, top10Percent } = insights();
  assert.deepEqual([author.percent, holders, top10Percent], ['100.00', 1, '100.00']);
  await block({ do: 'cancel', index: 0 }, { do: 'lock', user: 0, pool: 0, to: 0 });
  const locked = insights();
  assert.deepEqual([locked.author.percent, locked.lockedPercent], ['0.00', '100.00']);
  assert.equal(locked.holders, 0);
});

test('an insider gets tokens with the launch, or where the author loses some', async (t) => {
  const { block, back, insights } = await newMarket(t);
  await block(launch({ to: 3 }));
  assert.deepEqual(insights().insiders, { keys: 1, percent: '50.00' });
  await block({ do: 'transfer', user: 3, pool: 0, to: 5 });
  assert.deepEqual(
    insights().insiders,
    { keys: 1, percent: '25.00' },
    'of another than the author',
  );
  await block({ do: 'transfer', user: 0, pool: 0, to: 6 });
  assert.deepEqual(insights().insiders, { keys: 2, percent: '50.00' });
  await back(1);
  assert.deepEqual(insights().insiders, { keys: 1, percent: '25.00' });
});

test('an owner who withdraws a lock is no insider, even where the author pays', async (t) => {
  const { block, insights } = await newMarket(t);
  await block(launch(), buyOf(2));
  await block(EXECUTE, { do: 'lock', user: 2, pool: 0, to: 2 });
  // User 2 gets the locked tokens, user 1 gets tokens from the author.
  await block({ do: 'withdraw', index: 0, giver: 0 });
  assert.equal(insights().insiders?.keys, 1);
});
