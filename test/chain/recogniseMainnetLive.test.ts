/**
 * Outputs and transactions of mainnet, decoded, recognised and rebuilt: bytes of the chain itself.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressText, formatAddress } from '../../src/cardano/codec/address.ts';
import { fromHex } from '../../src/cardano/codec/hex.ts';
import { datumOf, decodeOutput, type Output, refText } from '../../src/cardano/codec/output.ts';
import { Constr, decodePlutusData } from '../../src/cardano/codec/plutusData.ts';
import { decodeTransaction, type Transaction } from '../../src/cardano/codec/transaction.ts';
import { asValue } from '../../src/cardano/codec/value.ts';
import { readOrderData, readPoolData } from '../../src/cardano/datums/datums.ts';
import { planOrder } from '../../src/cardano/transactions/order.ts';
import { dataHex } from '../../src/cardano/transactions/plan.ts';
import { recogniseBlock } from '../../src/chain/recognise/block.ts';
import { BlockState } from '../../src/chain/recognise/knownState.ts';
import { type Rules, rulesOf } from '../../src/chain/recognise/rules.ts';
import { buyTokens, sellLovelace } from '../../src/engine/market/curve.ts';
import type { MarketEvent } from '../../src/engine/market/events.ts';
import type { CurvePool } from '../../src/engine/market/pool.ts';
import { quote } from '../../src/engine/market/quote.ts';
import { readDeployment } from '../../src/server/settings/deployments.ts';
import {
  GRADUATION,
  GRADUATION_ID,
  HAT_ORDER,
  HAT_POOL,
  LAST_TRADE,
  LAST_TRADE_ID,
  RIDDLE_DATUM,
} from './mainnetSamples.ts';
import { NOTHING } from './middleMarket.ts';
import { eventOf, transaction } from './recogniseWorld.ts';

const { partial } = readDeployment('mainnet');
assert.ok(partial);
const RULES: Rules = rulesOf(partial);
const { fees } = partial;
const SUPPLY = 1_000_000_000n;
const ADA = 1_000_000n;
const HAT =
  'ba62b8967f992e24449511bac5edbd13078f2202d44cdf5dc0ef29cf.54686520536f7274696e6720486174';
const SONG = 'f71b4cf652d8edb33a57928b8b8a546a3c954b7ba24db5583ac79b34.534f4e474d41524b4554434150';
const HAT_EXECUTOR = 'edbf33f5d6e083970648e39175c49ec1c093df76b6e6a0f1473e4776';

const HAT_BUYER = '3f4165e2ea0a4dc6f7bcbbd23f824187c80e5490902e097fc3049c72';
const HAT_BUYER_STAKE = 'd817a67d082624525f7ba3f4211b0557c3587e88d2809725d6f80902';

/** Blocks one after the other, from the first of which on the market is followed. */
class Followed {
  readonly market = new BlockState(NOTHING);
  #slot = 0;

  block(...transactions: readonly Transaction[]): MarketEvent[] {
    this.#slot += 1;
    const events = recogniseBlock(this.#slot, transactions, this.market, RULES);
    for (const event of events) this.market.apply(event);
    return events;
  }
}

/** The pool that an output holds, by its own datum. */
function poolIn(output: Output): CurvePool & { readonly executor: string } {
  const datum = readPoolData(datumOf(output)) ?? assert.fail('a pool');
  const { aNum, bNum, capLovelace, executor, token } = datum;
  return {
    ...{ venue: 'CURVE', curve: { aNum, bNum, supply: SUPPLY }, executor },
    x: output.value.lovelace - fees.poolKeepLovelace,
    y: output.value.assets.get(token) ?? assert.fail('its token'),
    thresholdLovelace: capLovelace - fees.poolKeepLovelace,
  };
}

const hatPool = decodeOutput(fromHex(HAT_POOL));
const hatOrder = decodeOutput(fromHex(HAT_ORDER));
const lastTrade = decodeTransaction(fromHex(LAST_TRADE));
const graduation = decodeTransaction(fromHex(GRADUATION));
const songPool = lastTrade.outputs[1] ?? assert.fail();

/** A transaction of ours around outputs that stood there. */
function holding(...outputs: readonly Output[]): Transaction {
  return { ...transaction({ outputs: [] }), outputs };
}

test('pools lie on the curve of their own datum, three ADA above it', () => {
  for (const pool of [hatPool, songPool].map(poolIn)) {
    const sold = SUPPLY - pool.y;
    const cost = sellLovelace(pool.curve, sold, sold);
    // Every trade leaves up to a token's price behind, never takes it.
    assert.ok(pool.x >= cost && pool.x - cost < 20_000n, `${pool.x - cost} above`);
    assert.ok(buyTokens(pool.curve, 0n, pool.x) - sold < 200n);
  }
  const [hat, song] = [poolIn(hatPool), poolIn(songPool)];
  assert.deepEqual(hat.curve, partial.curve, 'the usual one');
  assert.equal(hat.thresholdLovelace, partial.thresholdLovelace);
  assert.deepEqual(song.curve, { aNum: 177_128_257_607n, bNum: 6_901_746n, supply: SUPPLY });
  assert.equal(song.x, song.thresholdLovelace, 'full to the lovelace');
});

test('a pool with another curve, cap and executor is taken by what it says', () => {
  const datum = decodePlutusData(fromHex(RIDDLE_DATUM));
  const { token = '', nft = '' } = readPoolData(datum) ?? {};
  const value = asValue(18_000_001n, [
    [nft, 1n],
    [token, 994_000_000n],
  ]);
  const output: Output = { ...hatPool, value, datum: RIDDLE_DATUM };
  const { pool } = eventOf(new Followed().block(holding(output)), 'adopted');
  const { aNum, bNum, thresholdLovelace, executor, name } = pool;
  assert.deepEqual(
    { aNum, bNum, thresholdLovelace, executor, name },
    {
      aNum: '74887678238',
      bNum: '1250000',
      thresholdLovelace: String(11_000n * ADA),
      executor: '5cb2c968e5d1c7197a6ce7615967310a375545d9bc65063a964335b2',
      name: 'RIDDLE',
    },
  );
});

test('an order is read with all its terms', () => {
  const followed = new Followed();
  followed.block(holding(hatPool));
  const placing = holding(hatOrder);
  const { order } = eventOf(followed.block(placing), 'placed');
  const { ref, at, beacon, ...terms } = order;
  assert.equal(ref, refText({ txHash: placing.id, index: 0 }));
  assert.ok(at !== '' && beacon.length === 56);
  assert.deepEqual(terms, {
    token: HAT,
    side: 'buy',
    amount: '8000000',
    worstPrice: { numerator: '2746359', denominator: '8000000' },
    feeLovelace: '1100000',
    depositLovelace: '1500000',
    refundAfterMs: 1_757_352_953_000,
    address: addressText(fromHex(`01${HAT_BUYER}${HAT_BUYER_STAKE}`)),
    pkh: HAT_BUYER,
  });
  const datum = readOrderData(datumOf(hatOrder), 'mainnet');
  assert.equal(datum?.executor, HAT_EXECUTOR);
  assert.equal(datum.executor, poolIn(hatPool).executor, 'an order names its pool’s executor');
});

test('it is filled by the curve of its pool', () => {
  const followed = new Followed();
  const launched = holding(hatPool);
  const placed = holding(hatOrder);
  followed.block(launched, placed);
  const [poolRef, orderRef] = [launched, placed].map(({ id }) => ({ txHash: id, index: 0 }));
  assert.ok(poolRef && orderRef);
  const pool = poolIn(hatPool);
  const got = quote(pool, fees, { side: 'BUY', amount: 8n * ADA, slippage: '15' });
  assert.ok(got.outcome === 'quote');
  const { outputAmount, next } = got.exchange;
  const { nft = '' } = readPoolData(datumOf(hatPool)) ?? {};
  const value = asValue(next.x + fees.poolKeepLovelace, [
    [nft, 1n],
    [HAT, next.y],
  ]);
  const redeemer = readOrderData(datumOf(hatOrder), 'mainnet')?.redeemer ?? assert.fail();
  const paid = {
    address: formatAddress(redeemer),
    value: asValue(1_500_000n, [[HAT, outputAmount]]),
  };
  const successor = { address: hatPool.address, value, datum: hatPool.datum };
  const inputs = [poolRef, orderRef].sort((a, b) => (a.txHash < b.txHash ? -1 : 1));
  const outputs = inputs.map((ref) => (ref === orderRef ? paid : successor));
  const spends = { 0: new Constr(1, []), 1: new Constr(1, []) };
  const events = followed.block(transaction({ inputs, outputs, spends }));
  const { order, side, tokens, lovelace, after } = eventOf(events, 'filled');
  assert.deepEqual([order, side, tokens], [refText(orderRef), 'buy', String(outputAmount)]);
  assert.equal(lovelace, '7920000', 'one percent stays with the executor');
  assert.deepEqual([after.x, after.y], [String(next.x), String(next.y)]);
  assert.equal(eventOf(events, 'executed').received, String(outputAmount));
});

test('whole transactions: the last trade of a pool, and its graduation', () => {
  assert.equal(lastTrade.id, LAST_TRADE_ID);
  assert.equal(graduation.id, GRADUATION_ID);
  const followed = new Followed();
  const { y } = poolIn(songPool);
  const bought = 3_513_628n;
  const before = SUPPLY - y - bought;
  const { curve } = poolIn(songPool);
  const x = sellLovelace(curve, before, before);
  const { nft = '' } = readPoolData(datumOf(songPool)) ?? {};
  const value = asValue(x + fees.poolKeepLovelace, [
    [nft, 1n],
    [SONG, y + bought],
  ]);
  const earlier = holding({ ...songPool, value });
  // Where the trade finds it.
  followed.block({ ...earlier, id: lastTrade.inputs[1]?.txHash ?? '', outputs: at2(earlier) });
  const events = followed.block(lastTrade);
  const fill = eventOf(events, 'filled');
  assert.deepEqual([fill.order, fill.side, fill.tokens], [null, 'buy', String(bought)]);
  assert.equal(fill.after.x, '27501849940', 'to its cap');
  assert.deepEqual(
    followed.block(graduation).map(({ kind }) => kind),
    ['spent', 'graduated', 'moved', 'made'],
  );
});

/** The trade spends the third output of the transaction before it. */
function at2({ outputs: [pool = assert.fail()] }: Transaction): readonly Output[] {
  const nothing: Output = { ...pool, datum: null, value: asValue(ADA, []) };
  return [nothing, nothing, pool];
}

test('following may begin with either of them', () => {
  const followed = new Followed();
  const { pool } = eventOf(followed.block(lastTrade), 'adopted');
  assert.deepEqual([pool.token, pool.thresholdLovelace], [SONG, '27501849940']);
  assert.ok(followed.block(graduation).some(({ kind }) => kind === 'graduated'));
  assert.deepEqual(new Followed().block(graduation), [], 'that pool is unknown');
});

test('our own order is the same output: address, value and datum', () => {
  const datum = readOrderData(datumOf(hatOrder), 'mainnet') ?? assert.fail();
  const request = {
    ...{ owner: datum.redeemer, token: HAT, executor: poolIn(hatPool).executor },
    poolNft: readPoolData(datumOf(hatPool))?.nft ?? assert.fail(),
    ...{ inputAmount: 8n * ADA, worstPrice: datum.worstPrice },
    kind: 'buy',
  } as const;
  const nowMs = Number(datum.refundAfterMs) - partial.refundAfterMs;
  const [built] = planOrder(partial, request, [], nowMs).plan.outputs;
  assert.ok(built?.datum != null);
  assert.equal(built.address, hatOrder.address);
  assert.deepEqual(built.value, hatOrder.value);
  // Lists of definite length where theirs mixes both: the same data, and the same layout.
  assert.deepEqual(decodePlutusData(fromHex(built.datum)), datumOf(hatOrder));
  assert.equal(built.datum, dataHex(datumOf(hatOrder) ?? assert.fail()));
});
