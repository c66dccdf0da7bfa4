/** A pool that is taken over is a pool as any other: in rows, pairs, bars, and under roll-backs. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { lastBarTopic, mcapBarTopic } from '../../src/api/charts/topics.ts';
import { TickerViews } from '../../src/api/tickers/views.ts';
import { withLaunchTimes } from '../../src/chain/blockBatch.ts';
import { recogniseBlock } from '../../src/chain/recognise/block.ts';
import { knownState } from '../../src/chain/recognise/knownState.ts';
import type { EntryDraft } from '../../src/engine/log/writer.ts';
import { formatPrice } from '../../src/engine/market/decimal.ts';
import type { MarketEvent } from '../../src/engine/market/events.ts';
import { spotOf } from '../../src/engine/market/pool.ts';
import { type PoolRecord, poolState, readRecord } from '../../src/engine/store/records.ts';
import { openSource } from '../api/topics/openSource.ts';
import { checkRebuild } from '../support/foldCheck.ts';
import { FoldWorld } from '../support/foldWorld.ts';
import { temporaryDirectory } from '../support/server.ts';
import { recordOf } from '../support/subscription.ts';
import { appendBlock, rollBackTo, rowsOf } from './foldChain.ts';
import { hashOf, START_MS } from './foldState.ts';
import { MiddleMarket, NOTHING, REAL, type Step } from './middleMarket.ts';
import { eventOf } from './recogniseWorld.ts';

/** Bars, ticker, lists and market cap of an untraded pool come from what its output holds. */
function assertOnePrice(world: FoldWorld, token: string): void {
  const { marketCapLovelace, pool } = world.fold.directory.find(token) ?? assert.fail();
  assert.deepEqual(pool.reserves, pool.firstReserves);
  assert.ok(marketCapLovelace > 2_545_182_000n, 'not the price of the launch');
  const spot = formatPrice(spotOf(poolState(pool)).numerator, spotOf(poolState(pool)).denominator);
  const interval = 'min1';
  const pair = { base: token, quote: '.' };
  const bar = recordOf(openSource(lastBarTopic(world.node), { pair, interval }).snapshot());
  assert.deepEqual([bar.open, bar.high, bar.low, bar.close], [spot, spot, spot, spot]);
  assert.equal(bar.time, Math.floor((START_MS + 20_000) / 60_000) * 60);
  const cap = recordOf(openSource(mcapBarTopic(world.node), { pair, interval }).snapshot());
  assert.equal(BigInt(Math.round(Number(cap.mCap) * 1_000_000)), marketCapLovelace);
  const [ticker] = TickerViews.of(world.node).ofAssets([token]);
  assert.deepEqual([ticker?.price, ticker?.createdOn, ticker?.change24h], [spot, null, null]);
}

test('a time that Kupo knows is that of the launch, and only where it was before', async () => {
  const events = adopted();
  const { pool } = eventOf(events, 'adopted');
  const draft = (slot: number): EntryDraft => {
    const place = { slot, hash: hashOf('b'), height: 1 };
    const chain = { ...place, events, settled: [], dropped: [] };
    return { timeMs: 1, payload: { kind: 'block', atMs: 900_000, trades: [], chain } };
  };
  const timeOf = async (first: number | null) => {
    const asked: string[] = [];
    const firstSlotOf = async (nft: string) => {
      asked.push(nft);
      return first;
    };
    const [dated] = await withLaunchTimes([draft(500)], firstSlotOf);
    assert.ok(dated?.payload.kind === 'block');
    assert.deepEqual(asked, [pool.nft]);
    return eventOf(dated.payload.chain?.events ?? [], 'adopted').createdMs;
  };
  assert.equal(await timeOf(100), 500_000);
  assert.equal(await timeOf(null), undefined);
  assert.equal(await timeOf(500), undefined, 'the output that is adopted is not the first');
  assert.deepEqual(await withLaunchTimes([draft(500)], undefined), [draft(500)]);
});

function adopted(): readonly MarketEvent[] {
  const market = new MiddleMarket();
  for (const step of [{ do: 'launch' }, { do: 'block' }] as const) market.perform(step);
  market.perform({ do: 'foreign', pool: 0, size: 20 });
  market.perform({ do: 'block' });
  return recogniseBlock(100, market.blocks[1] ?? [], NOTHING, REAL);
}

test('begins with what its first output tells, and trades on', async (t) => {
  const world = await FoldWorld.open(t, join(temporaryDirectory(), 'data'));
  const market = new MiddleMarket();
  const order: Step = { do: 'order', pool: 0, side: 'buy', size: 30 };
  const foreign: Step = { do: 'foreign', pool: 0, size: 20 };
  const execute: Step = { do: 'execute', pool: 0, most: 5 };
  const steps: Step[] = [{ do: 'launch' }, { do: 'block' }, foreign, { do: 'block' }];
  for (const step of [...steps, order, { do: 'block' } as const, execute]) market.perform(step);
  const [, ...seen] = market.blocks;
  for (const [index, transactions] of seen.entries()) {
    const [slot, height] = [100 + index, 1 + index];
    const events = recogniseBlock(slot, transactions, knownState(world.fold.store), REAL);
    const atMs = START_MS + height * 20_000;
    await appendBlock(world, { slot, hash: hashOf(`block ${height}`), height, atMs, events });
  }
  assert.deepEqual(world.said.foldFailures, []);
  const [text = '{}'] = rowsOf(world, 'pools').values();
  const pool = readRecord<PoolRecord>(text);
  assert.deepEqual([pool.launchTx, pool.fills, pool.graduatedMs], ['', 1, null]);
  assert.deepEqual([pool.createdMs, pool.firstMs], [null, START_MS + 20_000], 'never when seen');
  assert.equal(pool.crownedMs, null, 'it may have been on top before');
  assert.equal(pool.sinceSlot, 100, 'its history is cut, and says so');
  assert.equal(rowsOf(world, 'pairs').size, 2);
  assert.equal(rowsOf(world, 'trades').size, 1, 'the trade after it was seen, and no other');
  await checkRebuild(world);
  await rollBackTo(world, 1);
  assert.equal(rowsOf(world, 'trades').size, 0);
  assert.equal(rowsOf(world, 'pools').size, 1);
  assertOnePrice(world, pool.token);
  await rollBackTo(world, 0);
  assert.equal(rowsOf(world, 'pools').size, 0);
  await checkRebuild(world);
});

test('what an output held before its pool was known is not counted, nor taken away', async (t) => {
  const world = await FoldWorld.open(t, join(temporaryDirectory(), 'data'));
  const events = adopted();
  const { pool } = eventOf(events, 'adopted');
  const output = (ref: string, amount: string): MarketEvent => {
    const owner = { address: 'addr_test1wallet', pkh: 'ab'.repeat(28), isOurs: false };
    const assets = { [pool.token]: amount, [`${'cd'.repeat(28)}.41`]: '7' };
    return { tx: hashOf(ref), kind: 'made', ref, ...owner, lovelace: '2', assets, datum: null };
  };
  const spent = (ref: string): MarketEvent => ({ tx: hashOf('spend'), kind: 'spent', ref });
  const [early, late] = [`${hashOf('early')}:0`, `${hashOf('late')}:0`];
  const blocks = [[output(early, '5')], events, [output(late, '3')], [spent(early)], [spent(late)]];
  const held: (string | undefined)[] = [];
  for (const [index, added] of blocks.entries()) {
    const [slot, height] = [100 + index, 1 + index];
    const place = { slot, hash: hashOf(`block ${height}`), height };
    await appendBlock(world, { ...place, atMs: START_MS + height * 20_000, events: added });
    held.push([...rowsOf(world, 'holdings').values()].join());
  }
  assert.deepEqual(world.said.foldFailures, []);
  assert.deepEqual(held, ['', '', '3', '3', '']);
  await checkRebuild(world);
  await rollBackTo(world, 3);
  assert.equal([...rowsOf(world, 'holdings').values()].join(), '3');
});
