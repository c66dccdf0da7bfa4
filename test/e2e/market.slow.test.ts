/**
 * A token's whole life over the public API: quotes equal fills at both venues, bars show them, and
 * at the end the books of the chain are right to the lovelace.
 */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { parseRef } from '../../src/cardano/codec/output.ts';
import { amountOf } from '../../src/cardano/codec/value.ts';
import type {
  OrderRequest,
  PlacedOrder,
  TradingClient,
} from '../../src/client/trade/tradingClient.ts';
import { Listener } from '../api/marketApi.ts';
import { refusalOf } from '../support/apiError.ts';
import { assertSound, verifyDirectory } from '../support/app.ts';
import { temporaryDirectory } from '../support/server.ts';
import { StrictClient } from '../support/strictClient.ts';
import type { StrictSubscription } from '../support/subscription.ts';
import { until } from '../support/until.ts';
import { audit } from './devnet/audit.ts';
import { assertSeen, retold, seen } from './devnet/truth.ts';
import { ADA, DevnetWorld } from './devnet/world.ts';
import { untilSame } from './market.ts';

const A_MINUTE_MS = 60_000;

/** Exact, at most 18 digits, half to even: written here again, not taken from the server. */
function decimal(numerator: bigint, denominator: bigint): string {
  const scale = 10n ** 18n;
  let digits = (numerator * scale) / denominator;
  const rest = 2n * ((numerator * scale) % denominator);
  if (rest > denominator || (rest === denominator && digits % 2n === 1n)) digits += 1n;
  const fraction = String(digits % scale)
    .padStart(18, '0')
    .replace(/0+$/, '');
  return `${digits / scale}${fraction === '' ? '' : `.${fraction}`}`;
}

interface Watcher {
  readonly world: DevnetWorld;
  readonly alice: TradingClient;
  readonly token: string;
  readonly bars: StrictSubscription;
  readonly caps: Listener;
}

async function watcherOf(
  t: TestContext,
  world: DevnetWorld,
  alice: TradingClient,
  token: string,
): Promise<Watcher> {
  const strict = await StrictClient.connect(t, world.port);
  const bars = await strict.chart({ base: token, quote: '.', interval: 'min1' });
  const data = { pair: { base: token, quote: '.' }, interval: 'min1' };
  const caps = await Listener.open(t, world, 'MCapBar', data);
  return { world, alice, token, bars, caps };
}

/** Coin side of a trade, and the fee output's share of it, by the fee table in plain numbers. */
function feesOf(venue: string, coin: bigint): [bigint, bigint] {
  if (venue === 'CURVE') return [coin / 100n, coin / 100n];
  return [(coin * 15n) / 10_000n, (coin * 100n) / 10_000n + (coin * 15n) / 10_000n];
}

/** Quote, order, fill: the fill pays the quoted amount, and every answer shows it. */
async function trade(watcher: Watcher, side: OrderRequest['side'], amount: bigint): Promise<void> {
  const { world, alice, token, bars, caps } = watcher;
  const request = { assetId: token, side, amount, slippage: '15' } as const;
  const before = world.pool(token);
  const seen = caps.frames.length;
  const quote = await alice.quote(request);
  const [placed, order] = await world.filled(alice, request);
  const what = `${side} of ${amount} on ${placed.venue}`;
  assert.equal(String(placed.outputAmount), quote.outputAmount, what);
  assert.equal(String(placed.inputAmount), quote.inputAmount, what);
  assert.deepEqual([order.state, order.received], ['executed', quote.outputAmount], what);
  assert.equal(order.venue, placed.venue);
  const isBuy = side !== 'SELL';
  assert.equal(placed.orderLovelace, (isBuy ? placed.inputAmount : 0n) + 2_600_000n);
  if (side === 'BUY_WITH_OUTPUT') assert.equal(placed.minimumOutput, amount, what);
  else assertMinimum(placed);

  const utxos = await alice.utxos();
  const paid = utxos.filter(({ ref }) => ref.txHash === order.closedTx);
  assert.equal(paid.length, 1, what);
  const [{ value } = assert.fail(what)] = paid;
  const coins = (isBuy ? 0n : placed.outputAmount) + 1_500_000n;
  assert.deepEqual(
    [value.lovelace, amountOf(value, token)],
    [coins, isBuy ? placed.outputAmount : 0n],
  );

  const after = world.pool(token);
  const moved = BigInt(after.reserves.x) - BigInt(before.reserves.x);
  const tokens = BigInt(after.reserves.y) - BigInt(before.reserves.y);
  const coin = isBuy ? placed.inputAmount : -moved;
  const [platform, all] = feesOf(order.venue ?? '', coin);
  if (isBuy) assert.deepEqual([moved, tokens], [coin - all, -placed.outputAmount], what);
  else assert.deepEqual([coin - all, tokens], [placed.outputAmount, placed.inputAmount], what);
  const fee = await feeOutput(world, order.closedTx ?? '');
  assert.equal(fee.got + fee.network - fee.put, platform + 1_100_000n, what);

  const size = tokens < 0n ? -tokens : tokens;
  const price = decimal(moved < 0n ? -moved : moved, size * ADA);
  await untilSame(world.url, bars);
  assert.equal(bars.newest?.close, price, what);
  await caps.after(seen, 1);
  const pools = (await world.client.pools.list('New')).data;
  const page = pools.find(({ info }) => info.asset === token)?.metrics.marketCap;
  // The end of a minute is a frame before that of the fill.
  const told = () => Math.round(Number(Reflect.get(Object(caps.last?.data), 'mCap')) * 1e6);
  await until(
    () => `${what}: market cap ${page} arrives, newest ${told()}`,
    () => told() === page,
  );
}

function assertMinimum({ inputAmount, outputAmount, minimumOutput }: PlacedOrder): void {
  assert(inputAmount > 0n);
  const scaled = outputAmount * 85n;
  assert.equal(minimumOutput, scaled / 100n + (scaled % 100n === 0n ? 0n : 1n));
}

/** The amounts that a transaction takes from the fee address and returns to it. */
async function feeOutput(world: DevnetWorld, txHash: string) {
  const { feeAddress } = world.kit.txContext.deployment;
  const blocks = await world.blocks();
  const tx = blocks.flatMap((block) => block.transactions).find(({ id }) => id === txHash);
  assert(tx !== undefined);
  const states = await world.chain.byRefs(tx.inputs);
  const inputs = states.flatMap((state) => {
    return state.state !== 'unknown' && state.utxo !== null ? [state.utxo.output] : [];
  });
  assert.equal(inputs.length, tx.inputs.length);
  const sum = (outputs: typeof inputs) =>
    outputs.reduce(
      (all, { address, value }) => all + (address === feeAddress ? value.lovelace : 0n),
      0n,
    );
  return { got: sum([...tx.outputs]), put: sum(inputs), network: tx.feeLovelace };
}

/** Many orders of many people in one block: one transaction for each pool fills them. */
async function crowd(
  world: DevnetWorld,
  traders: readonly TradingClient[],
  tokens: readonly string[],
) {
  const placed: [string, PlacedOrder][] = [];
  const place = async (
    trader: TradingClient,
    assetId: string,
    side: 'BUY' | 'SELL',
    amount: bigint,
  ) => {
    const request = { assetId, side, slippage: 'infinity', amount } as const;
    placed.push([assetId, await trader.order(request)]);
  };
  for (const token of tokens) {
    for (const [index, trader] of traders.entries()) {
      for (const amount of [7n, 11n, 13n]) {
        await place(trader, token, 'BUY', (amount + BigInt(index)) * ADA);
      }
    }
  }
  const [seller] = traders;
  const [first = ''] = tokens;
  if (seller !== undefined) await place(seller, first, 'SELL', 900_001n);
  await world.mine();
  for (const [, { id }] of placed) await world.wanted(id);
  await world.mine();
  for (const token of tokens) {
    const own = placed.filter(([asset]) => asset === token);
    const closed = new Set(own.map(([, { id }]) => world.order(id).closedTx));
    assert.equal(closed.size, 1, 'in one transaction');
  }
}

/** An order whose price is gone when its turn comes. */
async function stranded(
  world: DevnetWorld,
  mover: TradingClient,
  trader: TradingClient,
  token: string,
) {
  const big = { assetId: token, side: 'BUY', amount: 3_000n * ADA, slippage: 'infinity' } as const;
  const small = { assetId: token, side: 'BUY', amount: 5n * ADA, slippage: '15' } as const;
  const first = await mover.order(big);
  const late = await trader.order(small);
  await world.mine();
  await world.spent(first.id);
  const state = await world.chain.byRefs([parseRef(late.id) ?? assert.fail()]);
  assert.equal(state[0]?.state, 'unspent', 'it waits');
  return late;
}

async function graduate(world: DevnetWorld, trader: TradingClient, token: string): Promise<void> {
  const { reserves, thresholdLovelace } = world.pool(token);
  const missing = BigInt(thresholdLovelace) - BigInt(reserves.x);
  const amount = (missing * 100n) / 99n + 2n;
  const past = {
    assetId: token,
    side: 'BUY',
    amount: amount + 100n * ADA,
    slippage: '15',
  } as const;
  assert.equal((await refusalOf(trader.order(past))).cause, 'MAX_TRADE_AMOUNT');
  await world.filled(trader, { assetId: token, side: 'BUY', amount, slippage: '15' });
  const { nft, ref, reserves: filled } = world.pool(token);
  // The executor does not wait for a block: that of the fill may have both.
  if (filled.venue === 'CURVE') await world.spent(ref);
  const { reserves: after, graduatedMs } = world.pool(token);
  assert.equal(after.venue, 'AMM');
  assert.notEqual(graduatedMs, null);
  const [utxo] = await world.chain.byAsset(nft, 'spendable');
  assert.equal(utxo?.output.value.lovelace, BigInt(after.x) + 3n * ADA, 'to the lovelace');
}

test('a token from launch to AMM: quotes equal fills, and the books are right', async (t) => {
  const env = { ORDER_REFUND_AFTER_MS: '10000' };
  const world = await DevnetWorld.start(t, { env });
  const { deployment } = world.kit.txContext;
  const alice = await world.funded('alice', 2_000, 4);
  const bob = await world.funded('bob', 2_000, 4, false);
  const carol = await world.funded('carol', 9_999, 3);
  const { asset: token, userTokens } = await world.launch(alice, { initialLovelace: 80n * ADA });
  const { asset: other } = await world.launch(bob, { name: 'Other' });
  const first = await watcherOf(t, world, alice, token);

  await t.test('the initial buy enters the pool whole', async () => {
    assert.deepEqual(world.pool(token).reserves.x, String(80n * ADA));
    await untilSame(world.url, first.bars);
    assert.equal(first.bars.newest?.close, decimal(80n * ADA, userTokens * ADA));
    assert.deepEqual([world.pool(other).reserves.x, world.pool(other).fills], ['0', 0]);
  });
  await t.test('quotes equal fills on the curve', async () => {
    for (const amount of [5n * ADA, ADA, 123_456_789n]) await trade(first, 'BUY', amount);
    for (const amount of [1_000_000n, 777_777n]) await trade(first, 'BUY_WITH_OUTPUT', amount);
    for (const amount of [1_000_000n, 654_321n]) await trade(first, 'SELL', amount);
  });
  await t.test('orders of many people fill in one batch, at two pools at once', () =>
    crowd(world, [alice, bob], [token, other]),
  );
  await t.test('what cannot fill is cancelled, or refunded when it is due', async () => {
    const one = await stranded(world, carol, alice, token);
    await alice.cancel(one.id);
    await world.mine();
    assert.equal(world.order(one.id).state, 'cancelled');
    const two = await stranded(world, carol, bob, token);
    const { refundAfterMs } = world.order(two.id);
    while (world.nowMs < refundAfterMs) await world.mine();
    await world.spent(two.id);
    const order = world.order(two.id);
    assert.equal(order.state, 'refunded');
    const utxos = await bob.utxos();
    const back = utxos.find(({ ref }) => ref.txHash === order.closedTx);
    assert.equal(back?.value.lovelace, 5n * ADA + 2_000_000n, 'all but 0.6 ADA');
  });
  await t.test('a lock is made in stages and taken back', async () => {
    const terms = { amount: 1001n, stages: 3, lockEndMs: world.nowMs + 3_000 };
    await alice.lock({ assetId: token, ...terms });
    await world.mine(4);
    const locks = await alice.locks();
    assert.deepEqual(locks.map(({ totalLocked }) => totalLocked).sort(), ['333', '333', '335']);
    for (const { id } of locks) await alice.withdraw(id);
    await world.mine();
    assert.deepEqual(await alice.locks(), []);
  });
  await t.test('the cap is reached: graduation in the same lane', () =>
    graduate(world, carol, token),
  );
  await t.test('quotes equal fills on the AMM', async () => {
    for (const amount of [5n * ADA, ADA, 123_456_789n]) await trade(first, 'BUY', amount);
    for (const amount of [50_000n, 77_777n]) await trade(first, 'BUY_WITH_OUTPUT', amount);
    for (const amount of [50_000n, 654_321n]) await trade(first, 'SELL', amount);
  });
  await t.test('what the creator is owed is collected', async () => {
    const amount = 600n * ADA;
    const owed = BigInt(world.pool(token).reserves.owed) + amount / 100n;
    await world.filled(carol, { assetId: token, side: 'BUY', amount, slippage: '50' });
    const { ref, reserves } = world.pool(token);
    // The executor does not wait for a block: that of the fill may have both.
    if (reserves.owed !== '0') {
      assert.equal(reserves.owed, String(owed));
      await world.spent(ref);
    }
    assert.equal(world.pool(token).reserves.owed, '0');
    const utxos = await alice.utxos();
    assert(utxos.some(({ value }) => value.lovelace === owed && value.assets.size === 0));
  });
  await t.test('tokens and coins are sent', async () => {
    const assets = new Map([[token, 5n]]);
    await alice.transfer({ to: bob.wallet.address, lovelace: 2n * ADA, assets });
    await world.mine();
    await bob.transfer({ to: bob.wallet.address, lovelace: 'max', assets: new Map() });
    await world.mine(1 + A_MINUTE_MS / 1000);
    await untilSame(world.url, first.bars);
    await until('the last bar is final', () => first.bars.newest?.final === true);
  });

  const market = await seen(world, [token, other]);
  await world.app.stop();
  const { counts, transactions } = audit(world.ledgerFile, deployment);
  t.diagnostic(`${transactions} transactions: ${JSON.stringify(counts)}`);
  assert.deepEqual(
    { ...counts, 'fill CURVE': 0, 'fill AMM': 0 },
    { launch: 2, refund: 1, graduation: 1, collect: 1, 'fill CURVE': 0, 'fill AMM': 0 },
  );
  assertSound(await verifyDirectory(world.directory, 2160));
  const second = await retold(t, world, temporaryDirectory());
  assertSeen(await seen(second, [token, other]), market, 'a replayed market');
});
