/** Long random walks of trades: no pool ever loses a lovelace to rounding. Replay: `{ seed }`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { COST_DENOMINATOR, costNumerator } from '../../../src/engine/market/curve.ts';
import { buy, buyWithOutput, sell } from '../../../src/engine/market/exchange.ts';
import { DEFAULT_FEES } from '../../../src/engine/market/fees.ts';
import {
  type AmmPool,
  type CurvePool,
  type PoolState,
  soldOf,
} from '../../../src/engine/market/pool.ts';
import { anyAmmPool, anyCurve, anyMagnitude, DUST_FEES } from './pools.ts';
import { productHolds } from './validatorCheck.ts';

const STEPS = 1_000;
const WALKS = 220;
const WANTED_TRADES = 100_000;

interface Step {
  readonly trade: typeof buy;
  readonly amount: bigint;
}

/** Lovelace up to 10,000 ADA and tokens up to the whole supply, of every magnitude. */
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ trade: fc.constant(buy), amount: anyMagnitude(10) }),
  fc.record({ trade: fc.constant(buyWithOutput), amount: anyMagnitude(8) }),
  fc.record({ trade: fc.constant(sell), amount: anyMagnitude(8) }),
);
const anyWalk = fc.array(anyStep, { minLength: STEPS, maxLength: STEPS, size: 'max' });

/** Makes every trade of the walk that the pool accepts; how many those were. */
function walk<P extends PoolState>(
  start: P,
  steps: readonly Step[],
  check: (before: PoolState, after: PoolState) => void,
): number {
  let pool: PoolState = start;
  let trades = 0;
  for (const { trade, amount } of steps) {
    const exchange = trade(pool, DUST_FEES, amount);
    if (exchange.outcome === 'refused') continue;
    check(pool, exchange.next);
    const { shares, kind, inputAmount, outputAmount, poolCoinLovelace } = exchange;
    const coin = kind === 'buy' ? inputAmount : poolCoinLovelace;
    const rest = kind === 'buy' ? poolCoinLovelace : outputAmount;
    assert.equal(coin, rest + shares.percentFee + shares.platform + shares.creator);
    pool = exchange.next;
    trades += 1;
  }
  return trades;
}

function covered(pool: PoolState): void {
  assert.ok(pool.venue === 'CURVE');
  assert.ok(pool.x * COST_DENOMINATOR >= costNumerator(pool.curve, soldOf(pool)));
  assert.ok(pool.x >= 0n && pool.y > 0n && pool.y <= pool.curve.supply);
}

test('a curve always holds what its sold tokens cost, over 100,000 trades', () => {
  let trades = 0;
  fc.assert(
    fc.property(anyCurve, anyWalk, (curve, steps) => {
      const thresholdLovelace = 10n ** 16n;
      const start: CurvePool = { venue: 'CURVE', x: 0n, y: curve.supply, curve, thresholdLovelace };
      trades += walk(start, steps, (before, after) => {
        covered(after);
        const gain = (after.x - before.x) * COST_DENOMINATOR;
        assert.ok(before.venue === 'CURVE' && after.venue === 'CURVE');
        const step = costNumerator(curve, soldOf(after)) - costNumerator(curve, soldOf(before));
        assert.ok(gain >= step);
      });
    }),
    { numRuns: WALKS, includeErrorInReport: true },
  );
  assert.ok(trades >= WANTED_TRADES, `${trades} trades`);
});

test('the product of an AMM pool never shrinks, over 100,000 trades', () => {
  let trades = 0;
  fc.assert(
    fc.property(anyAmmPool, anyWalk, (start: AmmPool, steps) => {
      trades += walk(start, steps, (before, after) => {
        assert.ok(before.venue === 'AMM' && after.venue === 'AMM');
        assert.ok(after.x > 0n && after.y > 0n && after.y <= after.supply);
        assert.ok(after.x * after.y >= before.x * before.y);
        assert.ok(productHolds(before, after, DEFAULT_FEES.lpFeePer10k));
        assert.ok(after.owed >= before.owed);
      });
    }),
    { numRuns: WALKS, includeErrorInReport: true },
  );
  assert.ok(trades >= WANTED_TRADES, `${trades} trades`);
});

test('a batch of trades holds as a whole what the AMM validator asks of each', () => {
  const anyBatch = fc.array(anyStep, { minLength: 1, maxLength: 16, size: 'max' });
  fc.assert(
    fc.property(anyAmmPool, anyBatch, (start: AmmPool, steps) => {
      let last: PoolState = start;
      walk(start, steps, (_before, after) => {
        last = after;
      });
      assert.ok(productHolds(start, last, DEFAULT_FEES.lpFeePer10k));
    }),
    { numRuns: 20_000, includeErrorInReport: true },
  );
});
