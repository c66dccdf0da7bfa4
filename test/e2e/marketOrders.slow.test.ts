/**
 * The life of orders as their owner and a visitor see it, over HTTP and over every topic at once:
 * filled, cancelled, expired, taken back by forks and given back, through a restart.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { TradingClient } from '../../src/client/trade/tradingClient.ts';
import { recordOf } from '../support/subscription.ts';
import { until } from '../support/until.ts';
import { OrderSubscriptions } from './devnet/orderSubscriptions.ts';
import { ADA, DevnetWorld } from './devnet/world.ts';

interface Scene {
  readonly t: TestContext;
  readonly world: DevnetWorld;
  readonly alice: TradingClient;
  readonly carol: TradingClient;
  readonly token: string;
  readonly subscriptions: OrderSubscriptions;
}

const FIVE = { side: 'BUY', amount: 5n * ADA } as const;

async function byBeacon({ world }: Pick<Scene, 'world'>, beacon: string) {
  const answer = await world.get(`/v1/user-history-feed/order/trades?beacon=${beacon}`);
  assert.equal(answer.status, 200, answer.message);
  return recordOf(answer.body);
}

/** An order that the price has left behind; it stays open in a block. */
async function stranded({ world, alice, carol, token, subscriptions }: Scene) {
  const move = { assetId: token, side: 'BUY', amount: 2_000n * ADA, slippage: 'infinity' } as const;
  const first = await carol.order(move);
  const late = await alice.order({ assetId: token, ...FIVE, slippage: '15' });
  await world.mine();
  await world.spent(first.id);
  await subscriptions.untilTold(late.id, 'Pending');
  return late;
}

async function fill({ world, alice, token, subscriptions }: Scene): Promise<void> {
  const placed = await alice.order({ assetId: token, ...FIVE, slippage: 'infinity' });
  await subscriptions.untilTold(placed.id, 'MempoolPending');
  await subscriptions.untilSame();
  const waiting = await byBeacon({ world }, placed.beacon);
  assert.deepEqual([waiting.orderStatus, waiting.filled, waiting.fills], ['mempool', '0', []]);
  assert.equal(waiting.toAmount, String(placed.minimumOutput));
  await world.mine();
  await world.wanted(placed.id);
  await subscriptions.untilTold(placed.id, 'MempoolEvaluated');
  await subscriptions.untilSame();
  const executing = await byBeacon({ world }, placed.beacon);
  assert.deepEqual([executing.filled, executing.evaluatedAt], ['0', null]);
  const { evaluatedTransactionId, toAmount, timestamp } = executing;
  await world.mine();
  await subscriptions.untilTold(placed.id, 'Evaluated');
  await subscriptions.untilSame();
  const filled = await byBeacon({ world }, placed.beacon);
  const { status, orderStatus, fills, evaluatedAt } = filled;
  assert.deepEqual([status, orderStatus, filled.filled], ['Evaluated', 'closed', '100']);
  assert.deepEqual(
    [filled.evaluatedTransactionId, filled.toAmount, filled.timestamp],
    [evaluatedTransactionId, toAmount, timestamp],
    'as the mempool had it; it does not move',
  );
  assert(Number(evaluatedAt) >= Number(timestamp));
  assert(Array.isArray(fills));
  const [only] = fills.map(recordOf);
  assert.equal(only?.txHash, evaluatedTransactionId);
  const [newest] = subscriptions.trades.rows.map(recordOf);
  assert.deepEqual([newest?.txHash, newest?.baseAmount], [evaluatedTransactionId, toAmount]);
  for (const subscription of subscriptions.all) {
    const told = subscription.told.get(placed.id)?.filter((each) => each !== 'Pending');
    assert.deepEqual(
      told,
      ['MempoolPending', 'MempoolEvaluated', 'Evaluated'],
      subscription.params.topic,
    );
  }
}

async function cancel(scene: Scene): Promise<void> {
  const { world, alice, subscriptions } = scene;
  const late = await stranded(scene);
  await until('its bid alone', () => {
    const tokens = subscriptions.limitBuys().map((level) => recordOf(level).amount);
    return tokens.join() === String(late.minimumOutput);
  });
  const done = await alice.cancel(late.id);
  await subscriptions.untilTold(late.id, 'MempoolRefunded');
  await subscriptions.untilSame();
  await world.mine();
  await subscriptions.untilTold(late.id, 'Refunded');
  await subscriptions.untilSame();
  const { refundReason, toAmount, evaluatedTransactionId } = await byBeacon(scene, late.beacon);
  assert.deepEqual(
    [refundReason, toAmount, evaluatedTransactionId],
    ['cancelled', '0', done.txHash],
  );
  await until('no bid', () => subscriptions.limitBuys().length === 0);
}

async function expire(scene: Scene): Promise<void> {
  const { world, subscriptions } = scene;
  const late = await stranded(scene);
  const { expiresAt } = await byBeacon(scene, late.beacon);
  while (world.nowMs < Number(expiresAt)) await world.mine();
  await subscriptions.untilTold(late.id, 'MempoolRefunded');
  await world.spent(late.id);
  await subscriptions.untilTold(late.id, 'Refunded');
  await subscriptions.untilSame();
  assert.equal((await byBeacon(scene, late.beacon)).refundReason, 'expired');
}

/** Taken back for good: dropped, and found by its beacon. */
async function lose(scene: Scene): Promise<void> {
  const { world, alice, token, subscriptions } = scene;
  const before = world.tip?.slot;
  const late = await world.place(alice, { assetId: token, ...FIVE, slippage: 'infinity' });
  await world.wanted(late.id);
  const at = world.tip?.slot;
  await world.fork(1, 'none');
  await subscriptions.untilTold(late.id, 'removed');
  await subscriptions.untilSame();
  for (const { revised } of subscriptions.all) assert.deepEqual(revised.at(-1), [at, before]);
  const gone = await byBeacon(scene, late.beacon);
  assert.deepEqual(
    [gone.status, gone.orderStatus, gone.toAmount, gone.entityId],
    ['Dropped', 'cancelled', '0', late.id],
  );
}

/** Taken back, and into a block again: filled, as if nothing had been. */
async function comeBack(scene: Scene): Promise<void> {
  const { world, alice, token, subscriptions } = scene;
  const request = { assetId: token, ...FIVE, slippage: 'infinity' } as const;
  const [late] = await world.filled(alice, request);
  await subscriptions.untilTold(late.id, 'Evaluated');
  await world.fork(2, 'all');
  for (const subscription of subscriptions.all) {
    await until('it waits again', () => {
      subscription.hear();
      return subscription.client.mempool.has(late.id);
    });
  }
  // Into a block, and then its fill: more blocks might be past its time.
  await world.mine();
  await world.spent(late.id);
  await subscriptions.untilTold(late.id, 'Evaluated');
  await subscriptions.untilSame();
}

/** The devnet keeps its mempool: what waited waits after a restart as well, and is filled. */
async function restart(scene: Scene): Promise<void> {
  const { t, world, alice, token, subscriptions } = scene;
  const request = { assetId: token, ...FIVE, slippage: 'infinity' } as const;
  const early = await world.place(alice, request);
  await world.wanted(early.id);
  await subscriptions.untilTold(early.id, 'MempoolEvaluated');
  const late = await alice.order(request);
  await subscriptions.untilTold(late.id, 'MempoolPending');
  await subscriptions.untilSame();
  const before = subscriptions.all.map(({ snapshots }) => snapshots);
  for (const subscription of subscriptions.all) subscription.close();
  await world.app.stop();
  const env = { ORDER_REFUND_AFTER_MS: '10000' };
  const next = await DevnetWorld.start(t, { directory: world.directory, env });
  for (const [at, subscription] of subscriptions.all.entries()) {
    await subscription.connect(t, next);
    await subscription.untilSame(next);
    assert.equal(subscription.snapshots, before[at], 'since continues');
  }
  // A devnet judges it again at its start: until then it may be told as removed.
  await subscriptions.untilTold(late.id, 'MempoolPending');
  assert.equal((await byBeacon({ world: next }, late.beacon)).orderStatus, 'mempool');
  await next.mine();
  for (const { id, beacon } of [early, late]) {
    await next.spent(id);
    for (const subscription of subscriptions.all) await subscription.untilSame(next);
    const { status, timestamp } = await byBeacon({ world: next }, beacon);
    assert.equal(status, 'Evaluated');
    assert.equal(timestamp, Math.floor(next.order(id).placedMs / 1000));
  }
}

test('an order is seen all its life, by everyone alike', async (t) => {
  const env = { ORDER_REFUND_AFTER_MS: '10000' };
  const world = await DevnetWorld.start(t, { env });
  const alice = await world.funded('alice', 500, 6);
  const carol = await world.funded('carol', 9_999, 2);
  const { asset: token } = await world.launch(alice, { initialLovelace: 40n * ADA });
  const subscriptions = await OrderSubscriptions.take(t, world, token, alice.wallet);
  const scene = { t, world, alice, carol, token, subscriptions };
  await t.test('filled', () => fill(scene));
  await t.test('cancelled', () => cancel(scene));
  await t.test('expired', () => expire(scene));
  await t.test('taken back by a fork', () => lose(scene));
  await t.test('taken back and given back', () => comeBack(scene));
  await t.test('over a restart', () => restart(scene));
});
