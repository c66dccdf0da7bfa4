/** The curve against the protocol's own vectors and against a search that knows no calculus. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  buyTokens,
  COST_DENOMINATOR,
  capAt,
  costNumerator,
  costOf,
  DEFAULT_CURVE,
  sellLovelace,
  spot,
} from '../../../src/engine/market/curve.ts';
import { reduced } from '../../../src/engine/market/ratio.ts';
import { dataText } from '../../support/testData.ts';
import { anyCurve, anyMagnitude } from './pools.ts';

interface CurveVectors {
  buy: { aNum: string; bNum: string; soldBefore: string; adaIn: string; tokensOut: string }[];
  sell: { aNum: string; bNum: string; soldBefore: string; tokensIn: string; adaOut: string }[];
  referencePoints: { aNum: string; bNum: string; fromZero: [string, number][] };
}

function parameters({ aNum, bNum }: { aNum: string; bNum: string }) {
  return { aNum: BigInt(aNum), bNum: BigInt(bNum), supply: 10n ** 9n };
}

test('every vector of the protocol', () => {
  // trust: a file of this project's data, its shape is asserted by the counts below
  const vectors = JSON.parse(dataText('vectors/curve.json')) as CurveVectors;
  for (const vector of vectors.buy) {
    const { soldBefore, adaIn, tokensOut } = vector;
    const tokens = buyTokens(parameters(vector), BigInt(soldBefore), BigInt(adaIn));
    assert.equal(tokens, BigInt(tokensOut));
  }
  for (const vector of vectors.sell) {
    const { soldBefore, tokensIn, adaOut } = vector;
    const lovelace = sellLovelace(parameters(vector), BigInt(soldBefore), BigInt(tokensIn));
    assert.equal(lovelace, BigInt(adaOut));
  }
  const { fromZero } = vectors.referencePoints;
  for (const [lovelace, tokens] of fromZero) {
    const curve = parameters(vectors.referencePoints);
    assert.equal(buyTokens(curve, 0n, BigInt(lovelace)), BigInt(tokens));
  }
  assert.deepEqual([vectors.buy.length, vectors.sell.length, fromZero.length], [2, 1, 6]);
});

test('the default curve ends at 69,000 ADA of market cap with 263.5 M tokens left', () => {
  const sold = buyTokens(DEFAULT_CURVE, 0n, 18_188_400_000n);
  assert.equal(sold, 736_463_314n);
  const { lovelace } = capAt(spot(DEFAULT_CURVE, sold), DEFAULT_CURVE.supply);
  assert.equal(lovelace / 1_000_000n, 69_000n);
});

test('the pool of the API example has its market cap and an exact spot', () => {
  const sold = DEFAULT_CURVE.supply - 986_521_230n;
  assert.equal(capAt(spot(DEFAULT_CURVE, sold), DEFAULT_CURVE.supply).lovelace, 2_567_442_146n);
  const start = spot(DEFAULT_CURVE, 0n);
  assert.deepEqual(reduced(start.numerator, start.denominator), reduced(2_545_182n, 1_000_000n));
});

/** The largest n that fits, found by halving alone. */
function slowBuy(fits: (tokens: bigint) => boolean): bigint {
  let reach = 1n;
  while (fits(reach)) reach *= 2n;
  let [low, high] = [0n, reach];
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}

const anyPoint = fc.record({
  curve: anyCurve,
  sold: fc.oneof(fc.constant(0n), anyMagnitude(9)),
  lovelace: fc.oneof(fc.constant(0n), anyMagnitude(30)),
});

test('a buy gets the most tokens that its lovelace cover', () => {
  fc.assert(
    fc.property(anyPoint, ({ curve, sold, lovelace }) => {
      const paid = costNumerator(curve, sold) + lovelace * COST_DENOMINATOR;
      const fits = (tokens: bigint) => costNumerator(curve, sold + tokens) <= paid;
      assert.equal(buyTokens(curve, sold, lovelace), slowBuy(fits));
    }),
    { numRuns: 3_000, includeErrorInReport: true },
  );
});

test('a curve of one term only is solved as well', () => {
  const straight = { aNum: 0n, bNum: 2_000_000n, supply: 10n ** 9n };
  assert.equal(buyTokens(straight, 5n, 7n), 3n);
  const cubic = { aNum: 3n * 10n ** 27n, bNum: 0n, supply: 10n ** 9n };
  assert.equal(buyTokens(cubic, 0n, 7n), 1n);
  assert.equal(buyTokens(cubic, 0n, 8n), 2n);
  assert.equal(buyTokens(cubic, 1n, 7n), 1n);
});

test('costOf is the least that buys the tokens, and selling them never brings more', () => {
  const anyStep = fc.record({ curve: anyCurve, sold: anyMagnitude(9), tokens: anyMagnitude(9) });
  fc.assert(
    fc.property(anyStep, ({ curve, sold, tokens }) => {
      const cost = costOf(curve, sold, tokens);
      assert.ok(buyTokens(curve, sold, cost) >= tokens);
      assert.ok(cost === 0n || buyTokens(curve, sold, cost - 1n) < tokens);
      const back = sellLovelace(curve, sold + tokens, tokens);
      assert.ok(back <= cost && cost - back <= 1n);
    }),
    { numRuns: 3_000, includeErrorInReport: true },
  );
});

test('selling more than was sold is a fault of the caller', () => {
  assert.throws(() => sellLovelace(DEFAULT_CURVE, 5n, 6n), /only tokens that were sold/);
});
