/** The picture of a pool: what is dragged is what the form gets, and what the form has is drawn. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { LiquidityPoolInfo } from '../../src/client/types.ts';
import { costOf, DEFAULT_CURVE } from '../../src/engine/market/curve.ts';
import { amountTo, planned, pricePath } from '../../src/web/token/pricePath.ts';

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
        const drawn = planned(path, { kind, amount }) ?? path.now;
        const [near, far] = target < path.now ? [target, path.now] : [path.now, target];
        assert(drawn >= near - 1n && drawn <= far + 1n, `${kind} ${drawn} is not between`);
        const off = drawn > target ? drawn - target : target - drawn;
        assert(off * 50n <= far - near + 50_000_000n, `${kind}: ${off} off`);
      }
    }),
  );
});

test('the other side of now is no amount, and what is typed never leaves the picture', () => {
  fc.assert(
    fc.property(paths, fc.bigInt(1n, 10n ** 30n), (path, amount) => {
      assert.equal(amountTo(path, 'BUY', path.now - 1n), 0n);
      assert.equal(amountTo(path, 'SELL', path.now + 1n), 0n);
      for (const kind of ['BUY', 'BUY_WITH_OUTPUT', 'SELL'] as const) {
        const drawn = planned(path, { kind, amount }) ?? -1n;
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
      if (one < other) assert(at(one) <= at(other));
    }),
  );
});
