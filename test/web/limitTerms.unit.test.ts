/** Amounts of a limit order: the price is never worse than the one typed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { minFor, priceOf } from '../../src/web/trade/limitTerms.ts';

const UNIT = 10n ** 12n;
const prices = fc.bigInt({ min: 1n, max: 10n ** 24n });
const amounts = fc.bigInt({ min: 1n, max: 10n ** 16n });

test('a buy pays the price at most, a sell gets it at least, and one unit less fails', () => {
  fc.assert(
    fc.property(amounts, prices, (amount, price) => {
      const tokens = minFor('buy', amount, price);
      assert(amount * UNIT <= tokens * price && amount * UNIT > (tokens - 1n) * price);
      const lovelace = minFor('sell', amount, price);
      assert(lovelace * UNIT >= amount * price && (lovelace - 1n) * UNIT < amount * price);
    }),
  );
});

test('prices are ADA for a token, in units of 10⁻¹⁸', () => {
  // 30,734.5 ADA for 10⁹ tokens.
  assert.equal(priceOf(30_734_500_000n, 1_000_000_000n), 30_734_500_000_000n);
  assert.equal(minFor('buy', 100_000_000n, 30_730_000_000_000n), 3_254_150n);
  assert.equal(minFor('sell', 3_254_150n, 30_730_000_000_000n), 100_000_030n);
});
