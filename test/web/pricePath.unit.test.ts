/** The picture of a pool: dragging sets the amount of the form, and the form's amount is drawn. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { LiquidityPoolInfo } from '../../src/client/types.ts';
import { costOf, DEFAULT_CURVE } from '../../src/engine/market/curve.ts';
import { compareRatios } from '../../src/engine/market/ratio.ts';
import {
  amountTo,
  capAt,
  coinsAfter,
  heightOf,
  percentBetween,
  pricePath,
} from '../../src/web/token/pricePath.ts';

const CAP = 18_188_400_000n;
const { aNum, bNum, supply } = DEFAULT_CURVE;

/** As much of a pool as the picture reads. */
function poolOf(coins: bigint, tokens: bigint, cpmmPoolId: string | null): LiquidityPoolInfo {
  const reserves = { x: { amount: String(coins) }, y: { amount: String(tokens) } };
  const curve = { aNum: Number(aNum), bNum: Number(bNum), adaCapThreshold: Number(CAP) };
  // trust: the picture reads nothing else
  return { pool: { ...reserves, ...curve, cpmmPoolId } } as unknown as LiquidityPoolInfo;
}

const onCurve = fc.bigInt(1n, 600_000_000n).map((sold) => {
  const coins = costOf(DEFAULT_CURVE, 0n, sold);
  return pricePath(poolOf(coins, supply - sold, null), supply);
});
const inAmm = fc
  .record({
    coins: fc.bigInt(10_000_000_000n, 10n ** 12n),
    tokens: fc.bigInt(10n ** 6n, 10n ** 9n),
  })
  .map(({ coins, tokens }) => pricePath(poolOf(coins, tokens, 'pool'), supply));
const paths = fc.oneof(onCurve, inAmm);
const part = fc.integer({ min: 0, max: 1000 });

test('an amount that was dragged is drawn where it was dragged to, and never beyond', () => {
  fc.assert(
    fc.property(paths, part, (path, permille) => {
      const target = path.from + ((path.to - path.from) * BigInt(permille)) / 1000n;
      for (const kind of ['BUY', 'BUY_WITH_OUTPUT', 'SELL'] as const) {
        const amount = amountTo(path, kind, target);
        if (amount === 0n) continue;
        const drawn = coinsAfter(path, { kind, amount }) ?? path.now;
        const [near, far] = target < path.now ? [target, path.now] : [path.now, target];
        assert(drawn >= near - 1n && drawn <= far + 1n, `${kind} ${drawn} is not between`);
        const off = drawn > target ? drawn - target : target - drawn;
        assert(off * 50n <= far - near + 50_000_000n, `${kind}: ${off} off`);
      }
    }),
  );
});

test('tokens that are bought cost no more than the place that was dragged to', () => {
  const target = 14_970_000_000n;
  for (let tokens = 1_000_000n; tokens < 1_001_000n; tokens += 1n) {
    const path = pricePath(poolOf(10_000_000_000n, tokens, 'pool'), supply);
    const amount = amountTo(path, 'BUY_WITH_OUTPUT', target);
    const drawn = coinsAfter(path, { kind: 'BUY_WITH_OUTPUT', amount });
    assert(drawn !== null && drawn <= target, `${amount} of ${tokens} tokens cost ${drawn}`);
  }
});

test('the other side of now is no amount, and what is typed never leaves the picture', () => {
  fc.assert(
    fc.property(paths, fc.bigInt(1n, 10n ** 30n), (path, amount) => {
      assert.equal(amountTo(path, 'BUY', path.now - 1n), 0n);
      assert.equal(amountTo(path, 'SELL', path.now + 1n), 0n);
      for (const kind of ['BUY', 'BUY_WITH_OUTPUT', 'SELL'] as const) {
        const drawn = coinsAfter(path, { kind, amount }) ?? -1n;
        assert(drawn >= path.from && drawn <= path.to, `${kind} ${drawn}`);
      }
    }),
  );
});

test('the price rises from the left to the right, to graduation', () => {
  fc.assert(
    fc.property(paths, part, part, (path, one, other) => {
      const at = (permille: number) =>
        path.priceAt(path.from + ((path.to - path.from) * BigInt(permille)) / 1000n);
      if (one < other) assert(compareRatios(at(one), at(other)) <= 0);
    }),
  );
});

test('labels of prices are exact, where floating point is not', () => {
  const ratio = (numerator: bigint, denominator: bigint) => ({ numerator, denominator });
  const large = 9_007_199_254_740_993n;
  assert.equal(capAt(ratio(large, 1n), 1_000_000n), String(large));
  assert.equal(capAt(ratio(1n, 3n), 1_000_000_000n), '333.333333333333333333');
  assert.equal(percentBetween(ratio(large, 1n), ratio(large * 2n, 1n)), '100.0');
  assert.equal(percentBetween(ratio(3n, 1n), ratio(2n, 1n)), '-33.3');
  assert.equal(percentBetween(ratio(2000n, 7n), ratio(2001n, 7n)), '0.0', 'a half to the even one');
  assert.equal(percentBetween(ratio(2000n, 7n), ratio(2003n, 7n)), '0.2');
  assert.equal(heightOf(ratio(1n, 2n), ratio(2n, 1n)), 0.25);
});
