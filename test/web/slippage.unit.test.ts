/** Slippage as people type it, the price impact of an order, and alerts: exact to the digit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPrice, isReached } from '../../src/web/alerts/alerts.ts';
import { impactOf } from '../../src/web/trade/quoteTerms.ts';
import { slippageOf } from '../../src/web/trade/slippage.ts';

test('a slippage of one’s own is a percentage with two digits, or is refused', () => {
  const own = (text: string) => slippageOf({ choice: 'own', own: text });
  assert.deepEqual(['0.5', '2', '99,99', ' 1.25 ', '0'].map(own), [50n, 200n, 9_999n, 125n, 0n]);
  for (const text of ['', '100', '-1', '1,555', '1.255', 'x', '.5']) {
    assert.equal(own(text), 'notAPercentage', text);
  }
  assert.equal(slippageOf({ choice: 'any', own: '2' }), null);
  assert.equal(slippageOf({ choice: '15', own: '2' }), 1_500n);
});

test('a buyer pays more and a seller gets less than the price before', () => {
  // The pool is at 2 lovelace a token: a cap of 2000 over 1000 tokens.
  const [cap, supply] = [2_000n, 1_000n];
  const at = (numerator: string, inputAsset: string) =>
    impactOf({ price: { numerator, denominator: '100' }, inputAsset }, cap, supply);
  assert.equal(at('205', '.'), 250n);
  assert.equal(at('190', 'token'), 500n);
  assert.equal(at('200', '.'), 0n);
  assert.equal(
    impactOf({ price: { numerator: '1', denominator: '1' }, inputAsset: '.' }, 0n, 1n),
    null,
  );
});

test('an alert is reached at its price and beyond, to the last digit', () => {
  const alert = { asset: 'a', ticker: 'A', price: '0.0000123' } as const;
  const above = (spot: string) => isReached({ ...alert, direction: 'above' }, spot);
  const below = (spot: string) => isReached({ ...alert, direction: 'below' }, spot);
  assert.deepEqual(['0.0000123', '0.00001230000001', '0.000012299', '1'].map(above), [
    true,
    true,
    false,
    true,
  ]);
  assert.deepEqual(['0.0000123', '0.00001230000001', '0.000012299', '1'].map(below), [
    true,
    false,
    true,
    false,
  ]);
  assert.deepEqual(['1', '0.5', '0', '0.000', '', '1e3', '-1', '1,2'].map(isPrice), [
    ...[true, true],
    ...[false, false, false, false, false, false],
  ]);
});
