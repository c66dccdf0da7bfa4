/** The formatter against big.js, a foreign decimal library. Replay: `{ seed, path }` as printed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Big from 'big.js';
import fc from 'fast-check';
import {
  formatFixed,
  formatRatio,
  formatUnits,
  powerOfTen,
} from '../../../src/engine/market/decimal.ts';

Big.DP = 18;
Big.RM = Big.roundHalfEven;

/** The ratio as big.js computes it: 18 fractional digits, half to even, no trailing zeros. */
function ratioOf(numerator: bigint, denominator: bigint): string {
  return new Big(numerator.toString()).div(denominator.toString()).toFixed();
}

const anyInteger = fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n });
const positive = fc.bigInt({ min: 1n, max: 10n ** 45n });

test('a ratio is what big.js says, for any size and sign', () => {
  fc.assert(
    fc.property(anyInteger, positive, (numerator, denominator) => {
      assert.equal(formatRatio(numerator, denominator), ratioOf(numerator, denominator));
    }),
    { includeErrorInReport: true, numRuns: 2_000 },
  );
});

test('a ratio exactly between two decimals goes to the even one', () => {
  const half = 2n * 10n ** 18n;
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), positive, (any, factor) => {
      const odd = any * 2n + 1n;
      const text = formatRatio(odd * factor, half * factor);
      assert.equal(text, ratioOf(odd, half));
    }),
    { includeErrorInReport: true, numRuns: 1_000 },
  );
  assert.equal(formatRatio(1n, half), '0');
  assert.equal(formatRatio(3n, half), '0.000000000000000002');
  assert.equal(formatRatio(-1n, half), '0');
  assert.equal(formatRatio(-3n, half), '-0.000000000000000002');
});

test('a decimal has no exponent, no trailing zeros, no sign on zero', () => {
  fc.assert(
    fc.property(anyInteger, positive, (numerator, denominator) => {
      const text = formatRatio(numerator, denominator);
      assert.match(text, /^-?(0|[1-9]\d*)(\.\d{0,17}[1-9])?$/);
      assert.notEqual(text, '-0');
    }),
  );
  assert.equal(formatRatio(0n, 7n), '0');
  assert.equal(formatRatio(100n, 1n), '100');
  assert.equal(formatRatio(15n, 10n), '1.5');
  assert.equal(formatRatio(2n, 3n), '0.666666666666666667');
  assert.equal(formatRatio(10n ** 80n, 1n), `1${'0'.repeat(80)}`);
  assert.equal(formatRatio(999_999_999_999_999_999_9n, 10n ** 19n), '1');
});

test('an amount in smallest units is what big.js says, up to 38 decimals', () => {
  const decimals = fc.integer({ min: 0, max: 38 });
  fc.assert(
    fc.property(anyInteger, decimals, (amount, places) => {
      assert.equal(formatUnits(amount, places), ratioOf(amount, powerOfTen(places)));
    }),
    { includeErrorInReport: true, numRuns: 2_000 },
  );
  assert.equal(formatUnits(1_500_000n, 6), '1.5');
  assert.equal(formatUnits(-1n, 6), '-0.000001');
  assert.equal(formatUnits(0n, 6), '0');
  assert.equal(formatUnits(-25n, 20), '0');
});

test('powers of ten are powers of ten, also past the table', () => {
  for (const exponent of [0, 1, 18, 79, 80, 200]) {
    assert.equal(powerOfTen(exponent), 10n ** BigInt(exponent));
  }
});

test('fixed decimals are all there, for any size and sign', () => {
  fc.assert(
    fc.property(anyInteger, fc.integer({ min: 1, max: 18 }), (amount, decimals) => {
      const expected = new Big(amount.toString()).div(powerOfTen(decimals).toString());
      assert.equal(formatFixed(amount, decimals), expected.toFixed(decimals));
    }),
    { includeErrorInReport: true, numRuns: 1_000 },
  );
  assert.equal(formatFixed(100_000_000n, 6), '100.000000');
  assert.equal(formatFixed(-1_500_000n, 6), '-1.500000');
  assert.equal(formatFixed(-1n, 6), '-0.000001');
  assert.equal(formatFixed(0n, 2), '0.00');
});
