/** The fee table of onchain.md, every column, and what quotes promise of any pool. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DEFAULT_CURVE } from '../../../src/engine/market/curve.ts';
import { DEFAULT_FEES } from '../../../src/engine/market/fees.ts';
import {
  fillOrder,
  minimumOutput,
  priceHolds,
  SLIPPAGES,
  type Slippage,
} from '../../../src/engine/market/order.ts';
import {
  marketCapOf,
  type PoolState,
  poolLovelace,
  spotOf,
} from '../../../src/engine/market/pool.ts';
import {
  type Quote,
  quote,
  quoteLaunch,
  SIDES,
  type Side,
} from '../../../src/engine/market/quote.ts';
import { AMM_AT_GRADUATION, anyMagnitude, anyPool, curveAt, DUST_FEES } from './pools.ts';

/** Reserve of the least lovelace that cover 200 M tokens. */
const CURVE = curveAt(200_000_000n, 835_771_813n);

function quoted(pool: PoolState, side: Side, amount: bigint, slippage: Slippage = '15'): Quote {
  const answer = quote(pool, DEFAULT_FEES, { side, amount, slippage });
  assert.ok(answer.outcome === 'quote', 'a quote, not a refusal');
  return answer;
}

/** One line of the table. */
function line(pool: PoolState, side: Side, amount: bigint) {
  const { exchange, orderLovelace, paymentLovelace } = quoted(pool, side, amount);
  const { inputAmount, outputAmount, shares, poolCoinLovelace, next } = exchange;
  const { percentFee, platform, creator } = shares;
  const moved = { x: next.x - pool.x, y: next.y - pool.y };
  assert.equal(poolCoinLovelace, moved.x < 0n ? -moved.x : moved.x);
  const fees = { percentFee, platform, creator };
  return { inputAmount, ...fees, pool: moved, outputAmount, paymentLovelace, orderLovelace };
}

test('curve, BUY 5 ADA', () => {
  assert.deepEqual(line(CURVE, 'BUY', 5_000_000n), {
    inputAmount: 5_000_000n,
    percentFee: 50_000n,
    platform: 0n,
    creator: 0n,
    pool: { x: 4_950_000n, y: -663_317n },
    outputAmount: 663_317n,
    paymentLovelace: 1_500_000n,
    orderLovelace: 7_600_000n,
  });
  const { worstPrice, minimumOutput, price } = quoted(CURVE, 'BUY', 5_000_000n);
  assert.deepEqual(worstPrice, { numerator: 11_276_389n, denominator: 100_000_000n });
  assert.equal(minimumOutput, 563_820n);
  const anything = quoted(CURVE, 'BUY', 5_000_000n, 'infinity');
  assert.deepEqual(anything.worstPrice, { numerator: 1n, denominator: 5_000_000n });
  assert.deepEqual(price, { numerator: 5_000_000n, denominator: 663_317n });
});

test('curve, BUY_WITH_OUTPUT 1,000,000', () => {
  assert.deepEqual(line(CURVE, 'BUY_WITH_OUTPUT', 1_000_000n), {
    inputAmount: 7_546_222n,
    percentFee: 75_462n,
    platform: 0n,
    creator: 0n,
    pool: { x: 7_470_760n, y: -1_000_000n },
    outputAmount: 1_000_000n,
    paymentLovelace: 1_500_000n,
    orderLovelace: 10_146_222n,
  });
  assert.equal(quoted(CURVE, 'BUY', 7_546_221n).exchange.outputAmount, 999_999n);
});

test('curve, SELL 1,000,000', () => {
  assert.deepEqual(line(CURVE, 'SELL', 1_000_000n), {
    inputAmount: 1_000_000n,
    percentFee: 74_217n,
    platform: 0n,
    creator: 0n,
    pool: { x: -7_421_748n, y: 1_000_000n },
    outputAmount: 7_347_531n,
    paymentLovelace: 8_847_531n,
    orderLovelace: 2_600_000n,
  });
  const { worstPrice, minimumOutput, price } = quoted(CURVE, 'SELL', 1_000_000n);
  assert.deepEqual(worstPrice, { numerator: 124_908_027n, denominator: 20_000_000n });
  assert.equal(minimumOutput, 6_245_402n);
  assert.deepEqual(price, { numerator: 7_347_531n, denominator: 1_000_000n });
});

test('AMM, BUY 5 ADA', () => {
  assert.deepEqual(line(AMM_AT_GRADUATION, 'BUY', 5_000_000n), {
    inputAmount: 5_000_000n,
    percentFee: 0n,
    platform: 7_500n,
    creator: 50_000n,
    pool: { x: 4_942_500n, y: -71_486n },
    outputAmount: 71_486n,
    paymentLovelace: 1_500_000n,
    orderLovelace: 7_600_000n,
  });
});

test('AMM, BUY_WITH_OUTPUT 50,000', () => {
  assert.deepEqual(line(AMM_AT_GRADUATION, 'BUY_WITH_OUTPUT', 50_000n), {
    inputAmount: 3_496_882n,
    percentFee: 0n,
    platform: 5_245n,
    creator: 34_968n,
    pool: { x: 3_456_669n, y: -50_000n },
    outputAmount: 50_000n,
    paymentLovelace: 1_500_000n,
    orderLovelace: 6_096_882n,
  });
});

test('AMM, SELL 50,000', () => {
  assert.deepEqual(line(AMM_AT_GRADUATION, 'SELL', 50_000n), {
    inputAmount: 50_000n,
    percentFee: 0n,
    platform: 5_167n,
    creator: 34_449n,
    pool: { x: -3_444_999n, y: 50_000n },
    outputAmount: 3_405_383n,
    paymentLovelace: 4_905_383n,
    orderLovelace: 2_600_000n,
  });
});

test("the creator's share waits in the pool's output", () => {
  const { next, shares, poolCoinLovelace } = quoted(AMM_AT_GRADUATION, 'BUY', 5_000_000n).exchange;
  assert.ok(next.venue === 'AMM');
  assert.equal(next.owed, shares.creator);
  const before = poolLovelace(AMM_AT_GRADUATION, DEFAULT_FEES);
  assert.equal(before, 18_191_400_000n);
  assert.equal(poolLovelace(next, DEFAULT_FEES), before + poolCoinLovelace + shares.creator);
});

test('spot and market cap of an AMM pool are its ratio', () => {
  const { x, y } = AMM_AT_GRADUATION;
  assert.deepEqual(spotOf(AMM_AT_GRADUATION), { numerator: x, denominator: y });
  assert.equal(marketCapOf(AMM_AT_GRADUATION).lovelace, 69_016_577_070n);
});

test('a launch takes the initial buy whole', () => {
  const launch = quoteLaunch(DEFAULT_CURVE, 18_188_400_000n, DEFAULT_FEES, 1_000_000_000n);
  assert.ok(launch.outcome === 'launch');
  assert.equal(launch.userTokens, 220_609_421n);
  assert.equal(launch.feeLovelace, 10_500_000n);
  assert.deepEqual([launch.pool.x, launch.pool.y], [1_000_000_000n, 779_390_579n]);
  const causeOf = (amount: bigint) => {
    const answer = quoteLaunch(DEFAULT_CURVE, 18_188_400_000n, DEFAULT_FEES, amount);
    return answer.outcome === 'refused' ? answer.cause : answer.outcome;
  };
  assert.equal(causeOf(0n), 'launch');
  assert.equal(causeOf(999_999n), 'MIN_TRADE_AMOUNT');
  assert.equal(causeOf(18_188_399_999n), 'launch');
  assert.equal(causeOf(18_188_400_000n), 'MAX_TRADE_AMOUNT');
  const cheap = { ...DEFAULT_CURVE, aNum: 1n, bNum: 1n };
  const soldOut = quoteLaunch(cheap, 18_188_400_000n, DEFAULT_FEES, 10_000_000n);
  assert.ok(soldOut.outcome === 'refused' && soldOut.cause === 'MAX_TRADE_AMOUNT');
});

const anyCase = fc.record({
  pool: anyPool,
  side: fc.constantFrom(...SIDES),
  amount: anyMagnitude(12),
  slippage: fc.constantFrom(...SLIPPAGES),
});

test('an order placed as quoted fills with exactly what was quoted', () => {
  fc.assert(
    fc.property(anyCase, ({ pool, side, amount, slippage }) => {
      const answer = quote(pool, DEFAULT_FEES, { side, amount, slippage });
      if (answer.outcome === 'refused') {
        if (side === 'BUY_WITH_OUTPUT') return;
        const kind = side === 'BUY' ? 'buy' : 'sell';
        const anyPrice = { numerator: 1n, denominator: 10n ** 40n };
        assert.equal(fillOrder(pool, DEFAULT_FEES, { kind, amount, worstPrice: anyPrice }), null);
        return;
      }
      const { kind, inputAmount } = answer.exchange;
      const terms = { kind, amount: inputAmount, worstPrice: answer.worstPrice };
      assert.deepEqual(fillOrder(pool, DEFAULT_FEES, terms), answer.exchange);
    }),
    { numRuns: 10_000, includeErrorInReport: true },
  );
});

test('an order with a minimum of its own takes that output and not one less', () => {
  fc.assert(
    fc.property(anyCase, fc.bigInt(1n, 10n ** 30n), ({ pool, ...terms }, any) => {
      const plain = quote(pool, DEFAULT_FEES, terms);
      if (plain.outcome === 'refused') return;
      const { inputAmount, outputAmount } = plain.exchange;
      const minOutput = 1n + (any % outputAmount);
      const answer = quote(pool, DEFAULT_FEES, { ...terms, minOutput });
      assert.ok(answer.outcome === 'quote');
      assert.deepEqual(answer.exchange, plain.exchange);
      assert.equal(answer.minimumOutput, minOutput);
      assert.ok(priceHolds(minOutput, inputAmount, answer.worstPrice));
      assert.ok(!priceHolds(minOutput - 1n, inputAmount, answer.worstPrice));
    }),
    { includeErrorInReport: true },
  );
});

test('an order waits as soon as it would get less than its minimum', () => {
  fc.assert(
    fc.property(anyCase, ({ pool, side, amount, slippage }) => {
      const answer = quote(pool, DEFAULT_FEES, { side, amount, slippage });
      if (answer.outcome === 'refused') return;
      const { kind, inputAmount, outputAmount } = answer.exchange;
      const least = minimumOutput(inputAmount, answer.worstPrice);
      assert.equal(answer.minimumOutput, least);
      assert.ok(least >= 1n && least <= outputAmount);
      if (slippage === 'infinity') assert.equal(least, 1n);
      const atWorst = (numerator: bigint) => {
        const worstPrice = { numerator, denominator: inputAmount };
        return fillOrder(pool, DEFAULT_FEES, { kind, amount: inputAmount, worstPrice });
      };
      assert.notEqual(atWorst(outputAmount), null);
      assert.equal(atWorst(outputAmount + 1n), null);
    }),
    { numRuns: 5_000, includeErrorInReport: true },
  );
});

test('BUY_WITH_OUTPUT takes the least input: one lovelace less brings less', () => {
  const anyOutput = fc.record({ pool: anyPool, tokens: anyMagnitude(9) });
  fc.assert(
    fc.property(anyOutput, ({ pool, tokens }) => {
      const request = { side: 'BUY_WITH_OUTPUT', amount: tokens, slippage: '30' } as const;
      const answer = quote(pool, DUST_FEES, request);
      if (answer.outcome === 'refused') return;
      const { inputAmount, outputAmount } = answer.exchange;
      assert.ok(outputAmount >= tokens);
      for (let less = 1n; less <= 3n; less += 1n) {
        const amount = inputAmount - less;
        const poorer = quote(pool, DUST_FEES, { side: 'BUY', amount, slippage: '30' });
        if (poorer.outcome === 'quote') assert.ok(poorer.exchange.outputAmount < tokens);
      }
    }),
    { numRuns: 5_000, includeErrorInReport: true },
  );
});
