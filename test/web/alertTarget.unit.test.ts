/** Alerts by price, by market cap and by percent come to one exact price. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isReached } from '../../src/web/alerts/alerts.ts';
import { targetPrice } from '../../src/web/alerts/target.ts';

const NOW = { spot: '0.000002545182', supply: 1_000_000_000n };

test('a market cap is a price of each token', () => {
  assert.equal(targetPrice('cap', 'above', '20000', NOW), '0.00002');
  assert.equal(targetPrice('cap', 'above', '1.5', NOW), '0.0000000015');
  assert.equal(targetPrice('cap', 'above', '20000', { ...NOW, supply: null }), null);
});

test('percent count from the price now, up or down', () => {
  assert.equal(targetPrice('percent', 'above', '10', NOW), '0.0000027997002');
  assert.equal(targetPrice('percent', 'below', '50', NOW), '0.000001272591');
  assert.equal(targetPrice('percent', 'below', '100', NOW), null, 'no price is left');
  assert.equal(targetPrice('percent', 'above', '10', { ...NOW, spot: null }), null);
});

test('nothing, words, zero and signs say no price', () => {
  for (const way of ['price', 'cap', 'percent'] as const)
    for (const text of ['', 'x', '0', '0.0', '-5', '1e3', ' '])
      assert.equal(targetPrice(way, 'above', text, NOW), null, `${way} ${text}`);
});

test('an alert by percent is not reached by the price it was set at', () => {
  for (const direction of ['above', 'below'] as const) {
    const price = targetPrice('percent', direction, '1', NOW) ?? '';
    assert.equal(isReached({ asset: '', ticker: '', direction, price }, NOW.spot), false);
  }
});
