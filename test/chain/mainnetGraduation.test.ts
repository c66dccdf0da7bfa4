/** A token of mainnet graduates into a pool of Splash, and its market goes with it. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { formatAddress } from '../../src/cardano/codec/address.ts';
import { fromHex } from '../../src/cardano/codec/hex.ts';
import { datumOf, type Output, refText } from '../../src/cardano/codec/output.ts';
import { Constr } from '../../src/cardano/codec/plutusData.ts';
import { decodeTransaction } from '../../src/cardano/codec/transaction.ts';
import { asValue } from '../../src/cardano/codec/value.ts';
import { readPoolData, readSplashPool } from '../../src/cardano/datums/datums.ts';
import { dataHex } from '../../src/cardano/transactions/plan.ts';
import { viewPool } from '../../src/engine/market/poolView.ts';
import { earnedOf, splashOut } from '../../src/engine/market/splash.ts';
import { type PoolRecord, readRecord } from '../../src/engine/store/records.ts';
import { checkRebuild } from '../support/foldCheck.ts';
import { rowsOf } from './foldChain.ts';
import { GRADUATION, LAST_TRADE } from './mainnetSamples.ts';
import { holding, MainnetMarket, newBeacon, pretendedOrder } from './mainnetWorld.ts';
import { eventOf, someRef } from './recogniseWorld.ts';

const lastTrade = decodeTransaction(fromHex(LAST_TRADE));
const graduation = decodeTransaction(fromHex(GRADUATION));
const [splash = assert.fail()] = graduation.outputs;
const { token = '', nft = '' } = readPoolData(datumOf(lastTrade.outputs[1] ?? assert.fail())) ?? {};
const POOL = 'd8eb52caf3289a2880288b23141ce3d2a7025dcf76f26fd5659add06';
const splashNft = `${POOL}.de3498de00239a8372e540be094d1c17be04e35c5516094d04c572fcc287f391`;
const FEES = { feeNum: 99_100n, treasuryFee: 50n, royaltyFee: 50n };
const [X, Y] = [27_294_849_940n, 275_018_276n];

/** The pool's output after amounts went in, of which it keeps some for others. */
function moved(inX: bigint, inY: bigint, [earnedX, earnedY]: readonly [bigint, bigint]): Output {
  const datum = datumOf(splash);
  assert.ok(datum instanceof Constr);
  const earned = new Map([
    [7, earnedX],
    [8, earnedY],
    [9, earnedX],
    [10, earnedY],
  ]);
  const fields = datum.fields.map((field, at) => earned.get(at) ?? field);
  const assets = new Map(splash.value.assets);
  assets.set(token, (assets.get(token) ?? 0n) + inY);
  const value = asValue(splash.value.lovelace + inX, [...assets]);
  return { ...splash, value, datum: dataHex(new Constr(0, fields)) };
}

async function graduated(t: TestContext): Promise<MainnetMarket> {
  const market = await MainnetMarket.open(t);
  await market.block(lastTrade);
  const { nft: named } = eventOf(await market.block(graduation), 'graduated');
  assert.equal(named, splashNft);
  return market;
}

function poolOf({ world }: MainnetMarket): PoolRecord {
  return readRecord<PoolRecord>(rowsOf(world, 'pools').get(token) ?? assert.fail());
}

/** In the pool's row: an order book is made of them. */
const STORED_FEES = { feeNum: '99100', treasuryFee: '50', royaltyFee: '50' };

test('the graduation of mainnet: the pool that follows holds what the curve held', async (t) => {
  const read = readSplashPool(datumOf(splash));
  assert.deepEqual([read?.nft, read?.fees], [splashNft, FEES]);
  const market = await graduated(t);
  const pool = poolOf(market);
  const amounts = { venue: 'AMM', x: String(X), y: String(Y), owed: '0' };
  assert.deepEqual(pool.reserves, { ...amounts, splash: STORED_FEES });
  assert.equal(pool.ref, `${graduation.id}:0`);
  assert.equal(market.trades().length, 0, 'graduation is no trade');
  const shown = viewPool(pool, 0n, []).pool;
  assert.deepEqual([shown.id, shown.cpmmPoolId], [nft, splashNft]);
  assert.deepEqual([shown.x.amount, shown.y.amount], [String(X), String(Y)]);
  const holders = [...rowsOf(market.world, 'holders').keys()];
  assert.ok(
    holders.every((key) => !key.includes(splash.address)),
    'a pool is no holder',
  );
  await market.back(1);
  assert.deepEqual([poolOf(market).ammNft, poolOf(market).reserves.venue], [undefined, 'CURVE']);
  await checkRebuild(market.world);
});

test('a limit order against it is a trade; what it earned is not traded with', async (t) => {
  const market = await graduated(t);
  const owner = { payment: 'aa'.repeat(28), stake: 'bb'.repeat(28) };
  const seed = someRef();
  const base = {
    ...({ owner, token, side: 'buy', script: 'limitOrder', amount: 100_000_000n } as const),
    ...{ stepLovelace: 600_000n, feeLovelace: 500_000n, depositLovelace: 1_500_000n },
  };
  const order = pretendedOrder({ ...base, beacon: newBeacon(base, seed) });
  const placing = holding('d1'.repeat(32), [order], [seed]);
  const { order: placed } = eventOf(await market.block(placing), 'placed');
  const [paid, got, fee] = [99_000_000n, 980_000n, 49_500n];
  const address = formatAddress({
    ...{ network: 'mainnet', pointer: false },
    payment: { kind: 'key', hash: owner.payment },
    stake: { kind: 'key', hash: owner.stake },
  });
  const payment = { ...order, address, value: asValue(1_500_000n, [[token, got]]), datum: null };
  const inputs = [
    { txHash: placing.id, index: 0 },
    { txHash: graduation.id, index: 0 },
  ];
  const trade = holding('d2'.repeat(32), [payment, moved(paid, -got, [fee, 0n])], inputs);
  const redeemers = inputs.map((_, index) => {
    return { purpose: 'spend', index, data: new Constr(1, []), memory: 0n, cpu: 0n } as const;
  });
  const events = await market.block({ ...trade, redeemers });
  const fill = eventOf(events, 'filled');
  assert.deepEqual(
    [fill.order, fill.side, fill.tokens, fill.lovelace],
    [placed.ref, 'buy', String(got), String(paid - 2n * fee)],
  );
  assert.equal(market.trades().at(-1)?.pkh, owner.payment);
  assert.equal(market.orders.view(placed.ref)?.venue, 'AMM');
  assert.equal(poolOf(market).reserves.x, String(X + paid - 2n * fee));
  // The treasury is paid out: the pool's reserves for trading stay the same.
  const spent = [{ txHash: trade.id, index: 1 }];
  const after = await market.block(
    holding('d3'.repeat(32), [moved(paid - 2n * fee, -got, [0n, 0n])], spent),
  );
  assert.ok(after.every(({ kind }) => kind !== 'filled'));
  assert.equal(poolOf(market).ref, refText({ txHash: 'd3'.repeat(32), index: 0 }));
  // Liquidity that comes moves both sides: no trade.
  const both = [{ txHash: 'd3'.repeat(32), index: 0 }];
  const added = await market.block(holding('d4'.repeat(32), [moved(paid, 5n, [0n, 0n])], both));
  assert.ok(added.every(({ kind }) => kind !== 'filled'));
  // A sale by an order that is not known.
  const sold = [{ txHash: 'd4'.repeat(32), index: 0 }, someRef()];
  const sale = holding('d5'.repeat(32), [moved(0n, 9n, [0n, 0n])], sold);
  const { order: by, side } = eventOf(await market.block(sale), 'filled');
  assert.deepEqual([by, side], [null, 'sell']);
  await checkRebuild(market.world);
});

/** Orders of three people, one after the other on the pool, each as its executor would fill it. */
async function placedThree(market: MainnetMarket) {
  const terms = { stepLovelace: 600_000n, feeLovelace: 500_000n, depositLovelace: 1_500_000n };
  const wanted = [
    { digit: 'a', side: 'buy', amount: 100_000_000n },
    { digit: 'b', side: 'sell', amount: 2_000_000n },
    { digit: 'c', side: 'buy', amount: 400_000_000n },
  ] as const;
  const orders = wanted.map(({ digit, side, amount }) => {
    const owner = { payment: `${digit}1`.repeat(28), stake: `${digit}2`.repeat(28) };
    const seed = someRef();
    const base = { owner, token, side, amount, script: 'limitOrder', ...terms } as const;
    return { ...base, seed, output: pretendedOrder({ ...base, beacon: newBeacon(base, seed) }) };
  });
  const placing = orders.map(({ output, seed }, index) =>
    holding(`e${index}`.repeat(32), [output], [seed]),
  );
  await market.block(...placing);
  return orders.map((order, index) => {
    const ref = { txHash: placing[index]?.id ?? '', index: 0 };
    return { ...order, ref };
  });
}

/** `keptLovelace`: of fee and step, by the executor of the sale. */
async function executedThree(t: TestContext, keptLovelace: bigint, missingTokens: bigint) {
  const market = await graduated(t);
  const orders = await placedThree(market);
  let [x, y] = [X, Y];
  const got: bigint[] = [];
  for (const { side, amount } of orders) {
    const isBuy = side === 'buy';
    const out = splashOut(amount, isBuy ? x : y, isBuy ? y : x, FEES);
    const { treasury, royalty } = earnedOf(amount, FEES);
    const stays = amount - treasury - royalty;
    got.push(out);
    [x, y] = isBuy ? [x + stays, y - out] : [x - out, y + stays];
  }
  const [first = 0n, sold = 0n, third = 0n] = got;
  const [inX, inY] = [500_000_000n - sold, 2_000_000n - first - third];
  const { treasury } = earnedOf(inX, FEES);
  const payments = orders.map(({ owner, side }, index) => {
    const address = formatAddress({
      ...{ network: 'mainnet', pointer: false },
      payment: { kind: 'key', hash: owner.payment },
      stake: { kind: 'key', hash: owner.stake },
    });
    const out = got[index] ?? 0n;
    const value =
      side === 'buy'
        ? asValue(1_500_000n, [[token, out]])
        : asValue(2_600_000n - keptLovelace + out, []);
    return { ...splash, address, value, datum: null };
  });
  const inputs = [...orders.map(({ ref }) => ref), { txHash: graduation.id, index: 0 }];
  const to = moved(inX, inY - missingTokens, [treasury, 0n]);
  const batch = holding('f1'.repeat(32), [...payments, to], inputs);
  const redeemers = inputs.map((_, index) => {
    return { purpose: 'spend', index, data: new Constr(1, []), memory: 0n, cpu: 0n } as const;
  });
  const events = await market.block({ ...batch, redeemers });
  const fills = events.flatMap((event) => (event.kind === 'filled' ? [event] : []));
  return { market, orders, got, fills, after: [X + inX - 2n * treasury, Y + inY] as const };
}

for (const kept of [1_100_000n, 700_000n]) {
  test(`each order of a batch is a trade of its owner; the executor keeps ${kept}`, async (t) => {
    const { market, orders, got, fills, after } = await executedThree(t, kept, 0n);
    assert.deepEqual(
      fills.map(({ order }) => order),
      orders.map(({ ref }) => refText(ref)),
    );
    const stays = (amount: bigint) => amount - 2n * earnedOf(amount, FEES).treasury;
    const [first = 0n, sold = 0n, third = 0n] = got;
    assert.deepEqual(
      fills.map(({ side, tokens, lovelace }) => [side, BigInt(tokens), BigInt(lovelace)]),
      [
        ['buy', first, stays(100_000_000n)],
        ['sell', stays(2_000_000n), sold],
        ['buy', third, stays(400_000_000n)],
      ],
    );
    assert.ok(fills.every(({ exact }) => exact === undefined));
    const [x, y] = after.map(String);
    assert.deepEqual(fills.at(-1)?.after, { venue: 'AMM', x, y, owed: '0' });
    assert.deepEqual(poolOf(market).reserves, { ...fills.at(-1)?.after, splash: STORED_FEES });
    assert.deepEqual(
      market.trades().map(({ pkh }) => pkh),
      orders.map(({ owner }) => owner.payment),
    );
    await checkRebuild(market.world);
    await market.back(1);
    assert.equal(market.trades().length, 0);
  });
}

test('orders that do not add up are one trade without a trader', async (t) => {
  const { market, fills } = await executedThree(t, 1_100_000n, 1n);
  assert.deepEqual([fills.length, fills[0]?.order], [1, null]);
  assert.equal(market.trades().at(-1)?.pkh, '');
});

test('a pool that the graduation did not make is not its successor', async (t) => {
  const market = await MainnetMarket.open(t);
  await market.block(lastTrade);
  const events = await market.block({ ...graduation, mint: new Map() });
  assert.deepEqual(
    [eventOf(events, 'graduated').nft, poolOf(market).ammNft],
    [undefined, undefined],
  );
  assert.ok(events.every(({ kind }) => kind !== 'moved'));
});
