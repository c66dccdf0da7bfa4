/** The constant product against Uniswap's own numbers, and its rounding. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { amountIn, amountOut } from '../../../src/engine/market/amm.ts';
import { dataText } from '../../support/testData.ts';
import { anyMagnitude } from './pools.ts';
import { productHolds } from './validatorCheck.ts';

interface ProductVectors {
  getInputPrice: [number, number, number, string][];
}

test('the outputs of Uniswap v2 at its own fee', () => {
  // trust: a file of this project's data, its shape is asserted by the count below
  const { getInputPrice } = JSON.parse(dataText('vectors/uniswapV2.json')) as ProductVectors;
  const unit = 10n ** 18n;
  for (const [given, reserveIn, reserveOut, out] of getInputPrice) {
    const [a, x, y] = [BigInt(given) * unit, BigInt(reserveIn) * unit, BigInt(reserveOut) * unit];
    assert.equal(amountOut(a, x, y, 30n), BigInt(out));
  }
  assert.equal(getInputPrice.length, 7);
});

const anyStep = fc.record({
  amount: anyMagnitude(18),
  x: anyMagnitude(15),
  y: anyMagnitude(12),
  lpFeePer10k: fc.bigInt(0n, 500n),
});

test('the product holds for what comes out, and for no unit more', () => {
  fc.assert(
    fc.property(anyStep, ({ amount, x, y, lpFeePer10k }) => {
      const out = amountOut(amount, x, y, lpFeePer10k);
      const after = { x: x + amount, y: y - out };
      assert.ok(out < y);
      assert.ok(productHolds({ x, y }, after, lpFeePer10k));
      assert.ok(!productHolds({ x, y }, { ...after, y: after.y - 1n }, lpFeePer10k));
      const swapped = { x: after.y, y: after.x };
      assert.ok(productHolds({ x: y, y: x }, swapped, lpFeePer10k));
      assert.ok(!productHolds({ x: y, y: x }, { ...swapped, x: after.y - 1n }, lpFeePer10k));
    }),
    { numRuns: 3_000, includeErrorInReport: true },
  );
});

test('amountIn is the least that brings the output', () => {
  fc.assert(
    fc.property(anyStep, ({ amount, x, y, lpFeePer10k }) => {
      const wanted = amount % y;
      const needed = amountIn(wanted, x, y, lpFeePer10k);
      assert.ok(amountOut(needed, x, y, lpFeePer10k) >= wanted);
      assert.ok(needed === 0n || amountOut(needed - 1n, x, y, lpFeePer10k) < wanted);
    }),
    { numRuns: 3_000, includeErrorInReport: true },
  );
});
