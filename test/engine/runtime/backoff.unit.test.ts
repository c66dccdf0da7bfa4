import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Backoff, backoffMs } from '../../../src/engine/runtime/backoff.ts';
import { seededRng } from '../../../src/engine/runtime/rng.ts';

const LIMITS = { firstMs: 100, maxMs: 5_000 };

test('doubles from the first wait to the longest, and starts again after a reset', () => {
  const backoff = new Backoff(LIMITS);
  const waits = Array.from({ length: 8 }, () => backoff.nextMs());
  assert.deepEqual(waits, [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  backoff.reset();
  assert.equal(backoff.nextMs(), 100);
});

test('no number of failures is too large', () => {
  assert.equal(backoffMs(1_000_000, LIMITS), 5_000);
  assert.equal(backoffMs(10_000, { firstMs: 1, maxMs: Number.POSITIVE_INFINITY }), 2 ** 30);
});

test('jitter takes away up to half, and differs from one client to the next', () => {
  for (const [unit, expectedMs] of [
    [0, 200],
    [0.5, 300],
    [0.999, 399.8],
  ] as const) {
    assert.equal(backoffMs(2, LIMITS, { unit: () => unit }), expectedMs);
  }
  const rng = seededRng(7);
  const waits = Array.from({ length: 100 }, () => backoffMs(20, LIMITS, rng));
  assert.ok(waits.every((ms) => ms >= 2_500 && ms < 5_000));
  assert.equal(new Set(waits).size, waits.length);
});
