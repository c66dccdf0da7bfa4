import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sparkLine, sparkSpan } from '../../../src/engine/market/sparkSpan.ts';

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;

test('a spark covers the age of its token, at most a day, in the fewest minutes a step', () => {
  fc.assert(
    fc.property(fc.nat(3 * DAY), fc.nat(DAY), (age, offset) => {
      const createdMs = 20_000 * DAY + offset;
      const atMs = Math.floor((createdMs + age) / MINUTE) * MINUTE;
      const { fromMs, stepMs, points } = sparkSpan(createdMs, atMs);
      assert(points >= 1 && points <= 48);
      assert.equal(fromMs % stepMs, 0);
      const last = fromMs + (points - 1) * stepMs;
      assert(last <= atMs && atMs < last + stepMs, 'the last step is the one of now');
      const isWhole = fromMs <= createdMs && createdMs < fromMs + stepMs;
      const isOfToday = createdMs >= atMs;
      assert(isWhole || isOfToday || (stepMs === 30 * MINUTE && points === 48));
    }),
  );
});

test('a minute, an hour, four hours and a day have their steps', () => {
  const at = 20_000 * DAY + 600 * MINUTE;
  const steps = [0, 47, 48, 60, 240, 700, 900, 1_439, 5_000].map((minutes) => {
    const { stepMs, points } = sparkSpan(at - minutes * MINUTE, at);
    return [stepMs / MINUTE, points];
  });
  const expected = [
    [1, 1],
    [1, 48],
    [2, 25],
    [2, 31],
    [10, 25],
    [15, 48],
    [20, 46],
    [30, 48],
  ];
  assert.deepEqual(steps, [...expected, [30, 48]]);
  assert.deepEqual(sparkSpan(null, at), sparkSpan(at - 5_000 * MINUTE, at));
});

test('a line begins with the price that the change of 24 hours counts from', () => {
  const lineOf = (change24h: string | null, ...closes: (string | null)[]) =>
    sparkLine({ price: '5', change24h, spark: { closes } });
  assert.deepEqual(lineOf('25.00', '5'), [4, 5]);
  // After the start it rose to 8: the whole line still shows a rise.
  assert.deepEqual(lineOf('25.00', null, '8', '5'), [4, 8, 5]);
  assert.deepEqual(lineOf(null, '8', '5'), [8, 5]);
  assert.deepEqual(lineOf(null, '5'), [5, 5]);
  assert.deepEqual(lineOf('-100.00', '8', '5'), [8, 5], 'it fell by all that two digits show');
});
