/** A chart of trades: one point each, in the order of the chain, at prices of the pool. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TradeRow } from '../../src/client/types.ts';
import { tradeBars } from '../../src/web/chart/tradeBars.ts';

function trade(id: string, time: number, spotAfter: string): TradeRow {
  const [price, baseAmount, quoteAmount] = ['0.5', '7', '2500000'];
  const rest = { price, baseAmount, quoteAmount, txHash: '', pkh: '' };
  return { id, time, side: 'buy', spotAfter, ...rest };
}

const NEWEST_FIRST = [trade('3', 20, '0.2'), trade('2', 10, '0.4'), trade('1', 10, '0.3')];

test('begins at the launch; trades of one second have places of their own', () => {
  const bars = tradeBars(NEWEST_FIRST, { time: 10, price: '0.1' });
  assert.deepEqual(
    bars.map(({ open, close }) => [open, close]),
    [
      ['0.1', '0.1'],
      ['0.1', '0.3'],
      ['0.3', '0.4'],
      ['0.4', '0.2'],
    ],
  );
  const times = bars.map(({ time }) => time);
  assert.deepEqual(times, [10, 10.0001, 10.0002, 20]);
  assert.deepEqual([bars[3]?.high, bars[3]?.low, bars[3]?.volume], ['0.4', '0.2', '2.5']);
});

test('without the launch, the first of them begins at its own price', () => {
  const bars = tradeBars(NEWEST_FIRST, null);
  assert.equal(bars.length, 3);
  assert.deepEqual([bars[0]?.open, bars[0]?.close], ['0.5', '0.3']);
});

test('prices that differ in their length are compared by value', () => {
  const bars = tradeBars([trade('1', 10, '10.5')], { time: 1, price: '9.25' });
  assert.deepEqual([bars[1]?.low, bars[1]?.high], ['9.25', '10.5']);
});
