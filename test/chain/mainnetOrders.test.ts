/** Orders of mainnet's earlier validators, by whole transactions of the chain. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAddress } from '../../src/cardano/codec/address.ts';
import { objectOf, parseJson } from '../../src/cardano/codec/json.ts';
import { datumOf, refText } from '../../src/cardano/codec/output.ts';
import type { Transaction } from '../../src/cardano/codec/transaction.ts';
import { asValue } from '../../src/cardano/codec/value.ts';
import { readPoolData } from '../../src/cardano/datums/datums.ts';
import { filterTargetsOf, TransactionFilter } from '../../src/chain/ogmios/transactionFilter.ts';
import { servedTransaction } from '../../src/devnet/ogmios/transactionJson.ts';
import { sellLovelace } from '../../src/engine/market/curve.ts';
import type { MarketEvent } from '../../src/engine/market/events.ts';
import { rowsOf } from './foldChain.ts';
import {
  holding,
  MAINNET,
  MainnetMarket,
  newBeacon,
  type PretendedOrder,
  pretendedOrder,
  transactionOf,
} from './mainnetWorld.ts';
import { eventOf } from './recogniseWorld.ts';

const BOBA = 'abb15dbbcc5c7c80cebea450f4f2131ec1f5b27ca38b66418e4c9a51.424f4241';
const BUYER = 'b6560f277ce0092e01f39fcf534b2e7a58282260cf044527f1e7f74d';
const placing = transactionOf('order-buy');
const batch = transactionOf('batch-12-buys');
const selling = transactionOf('order-sell');
const sale = transactionOf('batch-1-sell');
const { nft = '' } = readPoolData(datumOf(batch.outputs[5] ?? assert.fail())) ?? {};
const SUPPLY = 1_000_000_000n;

/**
 * The twelve fills, as the chain shows them: output index, and the lovelace that the order offered.
 */
const OFFERED = new Map([
  ...[3, 12, 7, 1, 10].map((index) => [index, 5_000_000n] as const),
  [0, 3_000_000n] as const,
  ...[8, 9, 4, 6, 2, 11].map((index) => [index, 1_000_000n] as const),
]);

/** The pool of these transactions with other reserves, where `spender` finds it. */
function poolFor(spender: Transaction, index: number, x: bigint, y: bigint): Transaction {
  const input = spender.inputs[index] ?? assert.fail();
  const output = batch.outputs[5] ?? assert.fail();
  const value = asValue(x + MAINNET.fees.poolKeepLovelace, [
    [nft, 1n],
    [BOBA, y],
  ]);
  const nothing = { ...output, datum: null, value: asValue(1_000_000n, []) };
  const outputs = Array.from({ length: input.index }, () => nothing);
  return holding(input.txHash, [...outputs, { ...output, value }]);
}

/**
 * The order that input `index` of the batch spends; only the order of input 3 is the chain's own.
 */
function orderFor(index: number): Transaction {
  const input = batch.inputs[index] ?? assert.fail();
  const paid = parseAddress(batch.outputs[index]?.address ?? '');
  const owner = { payment: paid?.payment.hash ?? '', stake: paid?.stake?.hash ?? '' };
  const order: Omit<PretendedOrder, 'beacon'> = {
    ...{ owner, token: BOBA, side: 'buy', script: 'limitOrder' },
    amount: OFFERED.get(index) ?? assert.fail(),
    ...{ stepLovelace: 600_000n, feeLovelace: 500_000n, depositLovelace: 1_500_000n },
  };
  const seed = { txHash: index.toString(16).padStart(64, 'e'), index };
  return holding(
    input.txHash,
    [pretendedOrder({ ...order, beacon: newBeacon(order, seed) })],
    [seed],
  );
}

function fillsOf(events: readonly MarketEvent[]) {
  return events.flatMap((event) => (event.kind === 'filled' ? [event] : []));
}

test('the files are the transactions that they are named after', () => {
  assert.deepEqual(
    [placing, batch, selling, sale].map(({ id }) => id),
    [
      '440d0bb54c9a6966393e838421251524a5c30a6611bce0a5c538d91f41bfda30',
      'b550f1a6365cae7b3464b7c57352915c7cc46043666aa40378f3c425da706bd7',
      'c32020e87e6859df3d29e302ae992ee4742b21da69bf1bbb8d956146fec04a72',
      '7677aa86f8cce87ba68503232386cb049859c449ff18fa90a15646e6ec6f03fd',
    ],
  );
});

test('a placed order is read with all its terms, and waits', async (t) => {
  const market = await MainnetMarket.open(t);
  await market.block(poolFor(batch, 5, 0n, SUPPLY));
  const { order } = eventOf(await market.block(placing), 'placed');
  const { at, ...terms } = order;
  assert.deepEqual(terms, {
    ref: `${placing.id}:0`,
    token: BOBA,
    side: 'buy',
    amount: '5000000',
    worstPrice: { numerator: '3889466', denominator: '1000000000' },
    feeLovelace: '1100000',
    depositLovelace: '1500000',
    refundAfterMs: 0,
    address: placing.outputs[1]?.address,
    pkh: BUYER,
    beacon: '07f03034afc822b3f2921e504a21e130fddbeafffa9a215660f87289',
    inParts: true,
  });
  assert.ok(at !== '');
  const shown = market.orders.byBeacon(order.beacon) ?? assert.fail();
  assert.deepEqual(
    [shown.status, shown.toAmount, shown.filledAmount, shown.remaining],
    ['Pending', '19448', '0', '5000000'],
  );
  assert.equal(rowsOf(market.world, 'holders').size, 0, 'a script holds for others');
});

test('one batch, twelve buys: every fill with its order and trader, in their order', async (t) => {
  const market = await MainnetMarket.open(t);
  const others = [...OFFERED.keys()].filter((index) => index !== 3);
  await market.block(poolFor(batch, 5, 0n, SUPPLY), placing);
  // Placed in an order that has nothing to do with how they were executed.
  await market.block(...others.map(orderFor).reverse());
  const events = await market.block(batch);
  const fills = fillsOf(events);
  const executed = [3, 12, 7, 1, 10, 0, 8, 9, 4, 6, 2, 11];
  assert.deepEqual(
    fills.map(({ order }) => order),
    executed.map((index) => refText(batch.inputs[index] ?? assert.fail())),
  );
  assert.deepEqual(
    fills.map(({ tokens }) => BigInt(tokens)),
    executed.map((index) => batch.outputs[index]?.value.assets.get(BOBA)),
  );
  const net = (index: number) => ((OFFERED.get(index) ?? 0n) * 99n) / 100n;
  assert.deepEqual(
    fills.map(({ lovelace }) => BigInt(lovelace)),
    executed.map(net),
  );
  const { after } = fills.at(-1) ?? assert.fail();
  assert.deepEqual([after.x, after.y], ['33660000', '986811821'], 'what the pool holds then');
  assert.ok(
    fills.every(({ exact }) => exact === false),
    'the first buyer got 4 tokens more',
  );
  const trades = market.trades();
  assert.deepEqual(
    trades.map(({ pkh }) => pkh),
    executed.map((index) => parseAddress(batch.outputs[index]?.address ?? '')?.payment.hash),
  );
  for (const { tokens, lovelace, spot } of trades) {
    const [n, price] = [BigInt(tokens), BigInt(lovelace) * BigInt(spot.denominator)];
    assert.ok((n - 1n) * price <= n * n * BigInt(spot.numerator), 'not dearer than after it');
  }
  assert.equal(rowsOf(market.world, 'open_orders').size, 0);
  const { boughtTokens, spentLovelace, buyCount } = market.trader(BUYER, BOBA);
  assert.deepEqual(
    [boughtTokens, spentLovelace, buyCount],
    [String(1_944_737n + 1_944_025n), '12200000', 2],
    'two buys of 5 ADA, 1.1 ADA of fees each',
  );
});

test('a sale is filled to the lovelace', async (t) => {
  const market = await MainnetMarket.open(t);
  const [tokens, gross] = [3_888_762n, 9_921_335n];
  await market.block(poolFor(sale, 0, 12_788_824n + gross, 994_977_316n - tokens));
  const { order } = eventOf(await market.block(selling), 'placed');
  assert.deepEqual([order.side, order.amount], ['sell', String(tokens)]);
  const events = await market.block(sale);
  const [fill, ...more] = fillsOf(events);
  assert.deepEqual(more, []);
  assert.deepEqual(
    [fill?.order, fill?.side, fill?.tokens, fill?.lovelace, fill?.exact],
    [order.ref, 'sell', String(tokens), String(gross), undefined],
  );
  assert.deepEqual([fill?.after.x, fill?.after.y], ['12788824', '994977316']);
  const received = eventOf(events, 'executed').received;
  assert.equal(received, '9822122', 'of 11322122 a deposit of 1500000 comes back');
  assert.equal(market.trader(BUYER, BOBA).receivedLovelace, received);
  // The curve and the one percent, by hand.
  const sold = SUPPLY - 994_977_316n + tokens;
  assert.equal(sellLovelace(MAINNET.curve, sold, tokens), gross);
  assert.equal(gross - gross / 100n, 9_822_122n);
});

test('for a script that other markets use, only orders of known tokens pass the filter', () => {
  const served = (tx: Transaction) => objectOf(parseJson(servedTransaction(tx).text), tx.id);
  const filter = TransactionFilter.of(filterTargetsOf(MAINNET));
  filter.reset({ policies: [], refs: [] });
  assert.equal(filter.match(served(placing), placing.id), null, 'the token is unknown');
  const holders = [...Array(13).keys()].map((index) => `${batch.id}:${index}`);
  assert.deepEqual(filter.match(served(batch), batch.id)?.made, holders, 'its pool names it');
  assert.deepEqual(filter.match(served(placing), placing.id)?.made, [`${placing.id}:0`]);
  assert.ok(filter.match(served(selling), selling.id)?.spent.includes(`${batch.id}:3`));
  assert.ok(filter.match(served(sale), sale.id)?.spent.includes(`${selling.id}:0`));
  const { assets } = placing.outputs[0]?.value ?? assert.fail();
  assert.equal(assets.size, 0, 'the order holds ADA alone: its datum names the token');
});

test('an order with another beacon than that of its transaction is none', async (t) => {
  const market = await MainnetMarket.open(t);
  const forged = orderFor(0);
  const { inputs } = orderFor(1);
  const events = await market.block(poolFor(batch, 5, 0n, SUPPLY), { ...forged, inputs });
  assert.ok(events.every(({ kind }) => kind !== 'placed'));
});
