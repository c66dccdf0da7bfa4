/** Ends of built transactions: at a border of slots, as long as asked, before an order's refund. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { orderValidity, refuseTtl, validityOf } from '../../../src/api/builder/validity.ts';
import { slotAt, slotStartMs } from '../../../src/cardano/codec/slots.ts';

const ZERO_MS = 1_700_000_000_000;
const SLOTS = { zeroTimeMs: ZERO_MS, zeroSlot: 500, slotLengthMs: 1000 };
const MINUTE_MS = 60_000;
const anyNow = fc.integer({ min: 0, max: 10 ** 9 }).map((passed) => ZERO_MS + passed);
const anyTtl = fc.oneof(fc.constant(undefined), fc.integer({ min: 60, max: 86_400 }));

test('two hours, or as long as asked, at a border of slots; 0 is no end', () => {
  fc.assert(
    fc.property(anyNow, anyTtl, (nowMs, ttl) => {
      const { validToSlot, validUntil } = validityOf(SLOTS, nowMs, ttl);
      assert.ok(validToSlot !== null && validUntil !== null);
      assert.equal(validUntil, slotStartMs(SLOTS, validToSlot));
      const missing = nowMs + (ttl ?? 7_200) * 1000 - validUntil;
      assert.ok(missing >= 0 && missing < SLOTS.slotLengthMs, `${missing} ms short`);
    }),
  );
  assert.deepEqual(validityOf(SLOTS, ZERO_MS, 0), { validToSlot: null, validUntil: null });
});

test('an order ends two minutes before its refund, also with 0, and a short one at half', () => {
  fc.assert(
    fc.property(anyNow, fc.integer({ min: 10_000, max: 10 ** 8 }), (nowMs, refundAfterMs) => {
      const { validToSlot, validUntil } = orderValidity(SLOTS, nowMs, refundAfterMs, 0);
      assert.ok(validToSlot !== null && validUntil !== null);
      assert.ok(validToSlot > slotAt(SLOTS, nowMs) + 1, 'the next block can have it');
      assert.ok(validUntil < nowMs + refundAfterMs);
      if (refundAfterMs < 4 * MINUTE_MS) return;
      assert.ok(validUntil <= nowMs + refundAfterMs - 2 * MINUTE_MS);
    }),
  );
  const until = (refundAfterMs: number, ttl?: number) =>
    (orderValidity(SLOTS, ZERO_MS, refundAfterMs, ttl).validUntil ?? 0) - ZERO_MS;
  assert.equal(until(20 * MINUTE_MS), 18 * MINUTE_MS);
  assert.equal(until(20 * MINUTE_MS, 60), MINUTE_MS);
  assert.equal(until(20 * MINUTE_MS, 86_400), 18 * MINUTE_MS);
  assert.equal(until(500 * MINUTE_MS), 120 * MINUTE_MS);
  assert.equal(until(10_000), 5_000);
});

test('less than a minute is refused where it was asked', () => {
  for (const ttl of [undefined, 0, 60, 86_400]) assert.equal(refuseTtl(ttl, 'body'), null);
  for (const ttl of [1, 59]) {
    const [detail] = refuseTtl(ttl, 'body.info')?.details ?? [];
    assert.equal(detail?.path, 'body.info.ttl');
    assert.match(detail?.message ?? '', /60 to 86400 seconds, or 0/);
  }
});
