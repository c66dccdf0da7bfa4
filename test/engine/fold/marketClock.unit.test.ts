import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockTag, MarketClock } from '../../../src/engine/fold/marketClock.ts';

const NOON_MS = Date.UTC(2024, 1, 29, 12);
const MINUTE_MS = 60_000;

test('a step within a minute moves time and notifies no listener', () => {
  const clock = new MarketClock();
  clock.resume(NOON_MS, NOON_MS, 10);
  assert.deepEqual(clock.advance(NOON_MS + 59_999, 11, 'block'), []);
  assert.equal(clock.marketMs, NOON_MS + 59_999);
  assert.deepEqual(clock.movesAfter(10), []);
});

test('a step over a boundary tells the resolutions whose interval changed', () => {
  const clock = new MarketClock();
  clock.resume(NOON_MS, NOON_MS, 10);
  assert.deepEqual(clock.advance(NOON_MS + MINUTE_MS, 11, 'block'), [clockTag('min1')]);
  const five = [clockTag('min1'), clockTag('min5')];
  assert.deepEqual(clock.advance(NOON_MS + 5 * MINUTE_MS, 12, 'block'), five);
  const tags = clock.advance(Date.UTC(2024, 2, 1), 13, 'block');
  assert.deepEqual(tags, (['min1', 'min5', 'hour1', 'day1', 'month1'] as const).map(clockTag));
  const week = clock.advance(Date.UTC(2024, 2, 4), 14, 'block');
  assert.ok(week.includes(clockTag('week1')) && !week.includes(clockTag('month1')));
});

test('an end closes the interval, a start opens the next one', () => {
  const clock = new MarketClock();
  const nextMs = NOON_MS + MINUTE_MS;
  clock.resume(NOON_MS, NOON_MS, 10);
  assert.deepEqual(clock.advance(nextMs, 11, 'end'), [clockTag('min1')]);
  assert.equal(clock.marketMs, nextMs);
  assert.equal(clock.openedMs, NOON_MS);
  assert.deepEqual(clock.advance(nextMs, 12, 'start'), [clockTag('min1')]);
  assert.equal(clock.openedMs, nextMs);
  const from = { closedFromMs: NOON_MS, closedToMs: nextMs };
  const same = { closedFromMs: nextMs, closedToMs: nextMs };
  assert.deepEqual(clock.movesAfter(10), [
    { seq: 11, ...from, openedFromMs: NOON_MS, openedToMs: NOON_MS },
    { seq: 12, ...same, openedFromMs: NOON_MS, openedToMs: nextMs },
  ]);
  assert.equal(clock.movesAfter(11)?.length, 1);
});

test('a rollback moves time back, and that is a move too', () => {
  const clock = new MarketClock();
  clock.resume(NOON_MS, NOON_MS, 10);
  clock.advance(NOON_MS + 10 * MINUTE_MS, 11, 'block');
  clock.advance(NOON_MS + MINUTE_MS, 12, 'block');
  assert.equal(clock.marketMs, NOON_MS + MINUTE_MS);
  assert.equal(clock.openedMs, NOON_MS + MINUTE_MS);
  const [move] = clock.movesAfter(11) ?? [];
  assert.ok(move !== undefined && move.closedToMs < move.closedFromMs);
});

test('steps before a start, or of long ago, are reported as unknown', () => {
  const clock = new MarketClock();
  clock.resume(NOON_MS, NOON_MS, 10);
  assert.equal(clock.movesAfter(9), null);
  for (let step = 1; step <= 10_000; step += 1) {
    clock.advance(NOON_MS + step * MINUTE_MS, 10 + step, 'block');
    const moves = clock.movesAfter(10 + step - 1);
    assert.equal(moves?.length, 1);
  }
  assert.equal(clock.movesAfter(10), null);
  assert.equal(clock.movesAfter(10_010 - 1_000)?.length, 1_000);
});
