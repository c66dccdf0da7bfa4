/** A node's refusals, mapped to the reasons of the port, with the node's message. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RefusalReason } from '../../../src/cardano/ledger/port.ts';
import { NodeRefusal, refusalOf } from '../../../src/chain/ogmios/fault.ts';

const validityInterval = { invalidBefore: 100, invalidAfter: 200 };
const CASES: readonly (readonly [number, unknown, RefusalReason])[] = [
  [-32602, { conway: 'not this' }, 'MALFORMED'],
  [3100, undefined, 'BAD_SIGNATURE'],
  [3101, undefined, 'SIGNATURE_MISSING'],
  [3117, { unknownOutputReferences: [] }, 'INPUT_SPENT'],
  [3118, { validityInterval, currentSlot: 250 }, 'EXPIRED'],
  [3118, { validityInterval, currentSlot: 50 }, 'NOT_YET_VALID'],
  [3118, { validityInterval: { invalidAfter: 9 }, currentSlot: 50 }, 'EXPIRED'],
  [3119, undefined, 'LIMITS_EXCEEDED'],
  [3122, undefined, 'FEE_TOO_SMALL'],
  [3123, { valueConsumed: { ada: { lovelace: String(1n << 60n) } } }, 'VALUE_NOT_CONSERVED'],
  [3125, undefined, 'OUTPUT_TOO_SMALL'],
  [3128, undefined, 'COLLATERAL'],
  [3136, { mismatchReason: 'it failed' }, 'SCRIPT_FAILED'],
  [3997, { error: 'mempool is full' }, 'MEMPOOL_FULL'],
  [3997, { error: 'All inputs are spent. It has probably been included' }, 'INPUT_SPENT'],
  [3997, { error: 'something else' }, 'REFUSED'],
  [3999, undefined, 'REFUSED'],
];

test('codes of the node become reasons, and its words stay', () => {
  for (const [code, data, reason] of CASES) {
    const refusal = refusalOf(new NodeRefusal(code, 'in its words', data));
    assert.equal(refusal.reason, reason, `${code} ${String(data)}`);
    assert.ok(refusal.message.includes(`in its words (${code})`), refusal.message);
  }
});

test('a node that says what we would say is quoted once', () => {
  const { message } = refusalOf(new NodeRefusal(3122, 'the fee is too small: 5 of 9', undefined));
  assert.equal(message, 'the fee is too small: 5 of 9 (3122)');
});

test('details of the node are passed on, up to a length', () => {
  const { message } = refusalOf(new NodeRefusal(3123, 'x', { lovelace: String(1n << 60n) }));
  assert.ok(message.includes('1152921504606846976'));
  const long = refusalOf(new NodeRefusal(3123, 'x'.repeat(9_999), 'y'.repeat(9_999)));
  assert.ok(long.message.length < 1_500);
});
