/** Lines over candlesticks against values worked out by hand and by their definitions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type Bar,
  bollingerBands,
  exponentialAverage,
  movingAverage,
  relativeStrength,
  volumeWeightedPrice,
} from '../../src/web/token/indicators.ts';

function barsOf(closes: readonly number[]): Bar[] {
  return closes.map((close, index) => {
    return { time: index * 60, high: close, low: close, close, quote: close, base: 1 };
  });
}

test('averages begin when there are enough bars', () => {
  const bars = barsOf([1, 2, 3, 4, 5]);
  assert.deepEqual(movingAverage(bars, 3), [null, null, 2, 3, 4]);
  assert.deepEqual(exponentialAverage(bars, 3), [null, null, 2, 3, 4]);
  assert.deepEqual(exponentialAverage(barsOf([2, 4, 9]), 2), [null, 3, 7]);
  assert.deepEqual(movingAverage([], 3), []);
});

test('Bollinger bands are two deviations away from the average', () => {
  const { upper, middle, lower } = bollingerBands(barsOf([1, 3]), 2, 2);
  assert.deepEqual(
    [upper, middle, lower],
    [
      [null, 4],
      [null, 2],
      [null, 0],
    ],
  );
});

test('the volume weighted price weighs by tokens and starts over each day', () => {
  const at = (time: number, quote: number, base: number): Bar => {
    return { time, high: 1, low: 1, close: 1, quote, base };
  };
  const bars = [at(0, 0, 0), at(60, 10, 1), at(120, 10, 4), at(86_400, 9, 3)];
  assert.deepEqual(volumeWeightedPrice(bars), [null, 10, 4, 3]);
});

test('relative strength: the textbook example of Wilder’s smoothing', () => {
  const rising = relativeStrength(barsOf([1, 2, 3, 4]), 2);
  assert.deepEqual(rising, [null, null, 100, 100]);
  assert.deepEqual(relativeStrength(barsOf([4, 3, 2]), 2), [null, null, 0]);
  // Gains 2 and 0, losses 0 and 1: 1 to 0.5; then a gain of 1: 1 to 0.25.
  assert.deepEqual(relativeStrength(barsOf([1, 3, 2, 3]), 2), [null, null, 100 / 1.5, 80]);
  assert.deepEqual(relativeStrength(barsOf([1, 1, 1]), 2), [null, null, 50]);
});

test('a moving average is the mean of its window, wherever it stands', () => {
  const closes = fc.array(fc.integer({ min: 0, max: 1000 }), { maxLength: 40 });
  fc.assert(
    fc.property(closes, fc.integer({ min: 1, max: 10 }), (values, length) => {
      const line = movingAverage(barsOf(values), length);
      for (const [index, value] of line.entries()) {
        const window = values.slice(Math.max(0, index + 1 - length), index + 1);
        if (window.length < length) assert.equal(value, null);
        else assert.equal(value, window.reduce((sum, each) => sum + each, 0) / length);
      }
    }),
  );
});
