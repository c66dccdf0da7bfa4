/** Pools of Splash against swaps of the chain, and quotes on them against their own rule. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { buy, buyWithOutput, sell } from '../../../src/engine/market/exchange.ts';
import { DEFAULT_FEES } from '../../../src/engine/market/fees.ts';
import type { AmmPool } from '../../../src/engine/market/pool.ts';
import { earnedOf, splashIn, splashOut } from '../../../src/engine/market/splash.ts';
import { dataRows } from '../../support/testData.ts';
import { anyMagnitude } from './pools.ts';

const SPLASH = { feeNum: 99_100n, treasuryFee: 50n, royaltyFee: 50n };

interface Swap {
  readonly tx: string;
  readonly side: 'buy' | 'sell';
  readonly pool: AmmPool;
  readonly amount: bigint;
  readonly out: bigint;
  /** Treasury and royalty, of either side in turn. */
  readonly earned: readonly bigint[];
}

function swaps(): Swap[] {
  return dataRows('mainnet/splash-swaps.csv').map(([tx = '', side = '', ...numbers]) => {
    const [x = 0n, y = 0n, tx0 = 0n, ty0 = 0n, rx0 = 0n, ry0 = 0n, ...rest] = numbers.map(BigInt);
    const [amount = 0n, out = 0n, tx1 = 0n, ty1 = 0n, rx1 = 0n, ry1 = 0n] = rest;
    assert.ok(side === 'buy' || side === 'sell');
    const reserves = { x: x - tx0 - rx0, y: y - ty0 - ry0 };
    const pool: AmmPool = {
      ...{ venue: 'AMM', ...reserves, owed: 0n, supply: 1_000_000_000n, splash: SPLASH },
    };
    const earned = [tx1 - tx0, ty1 - ty0, rx1 - rx0, ry1 - ry0];
    return { tx, side, pool, amount, out, earned };
  });
}

test('14 swaps of one pool to the unit, with what treasury and royalty earned', () => {
  const tape = swaps().slice(0, 14);
  assert.equal(tape.length, 14);
  for (const { tx, side, pool, amount, out, earned } of tape) {
    const found =
      side === 'buy' ? buy(pool, DEFAULT_FEES, amount) : sell(pool, DEFAULT_FEES, amount);
    assert.ok(found.outcome === 'exchange', tx);
    assert.equal(found.outputAmount, out, tx);
    const { treasury, royalty } = earnedOf(amount, SPLASH);
    const expected = side === 'buy' ? [treasury, 0n, royalty, 0n] : [0n, treasury, 0n, royalty];
    assert.deepEqual(earned, expected, tx);
    const [inX, inY] = side === 'buy' ? [amount, -out] : [-out, amount];
    const kept = treasury + royalty;
    const next = side === 'buy' ? [inX - kept, inY] : [inX, inY - kept];
    assert.deepEqual([found.next.x - pool.x, found.next.y - pool.y], next, tx);
    assert.equal(found.shares.platform, side === 'buy' ? treasury : 0n);
    assert.equal(found.shares.creator, side === 'buy' ? royalty : 0n);
  }
});

test('the rule is an inequality: one executor took two units less than the pool gives', () => {
  const { pool, amount, out } = swaps()[14] ?? assert.fail();
  assert.equal(splashOut(amount, pool.x, pool.y, SPLASH), 1_696_645n);
  assert.equal(out, 1_696_643n);
});

const anyPool = fc.record({
  amount: anyMagnitude(15),
  x: anyMagnitude(15),
  y: anyMagnitude(9),
  feeNum: fc.bigInt(50_000n, 100_000n),
  treasuryFee: fc.bigInt(0n, 10_000n),
  royaltyFee: fc.bigInt(0n, 10_000n),
});

test('the pool pays the most that the validator accepts', () => {
  fc.assert(
    fc.property(anyPool, ({ amount, x, y, ...fees }) => {
      const out = splashOut(amount, x, y, fees);
      const counted = amount * (fees.feeNum - fees.treasuryFee - fees.royaltyFee);
      // The `validSwap` of PRoyaltyPool.hs.
      const holds = (given: bigint) => given * (x * 100_000n + counted) <= y * counted;
      assert.ok(holds(out) && !holds(out + 1n));
      const { treasury, royalty } = earnedOf(amount, fees);
      assert.ok(treasury * 100_000n <= amount * fees.treasuryFee);
      assert.ok((royalty + 1n) * 100_000n > amount * fees.royaltyFee);
      const wanted = amount % y;
      const needed = splashIn(wanted, x, y, fees);
      assert.ok(splashOut(needed, x, y, fees) >= wanted);
      assert.ok(needed === 0n || splashOut(needed - 1n, x, y, fees) < wanted);
    }),
    { numRuns: 2_000, includeErrorInReport: true },
  );
});

test('a buy of so many tokens is the least that brings them', () => {
  const { pool } = swaps()[0] ?? assert.fail();
  const found = buyWithOutput(pool, DEFAULT_FEES, 226_750n);
  assert.ok(found.outcome === 'exchange');
  assert.ok(found.outputAmount >= 226_750n && found.inputAmount <= 68_310_000n);
  const less = buy(pool, DEFAULT_FEES, found.inputAmount - 1n);
  assert.ok(less.outcome === 'exchange' && less.outputAmount < 226_750n);
});
