/** Refusals of frames that cannot be used: which field, and what it has to be. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFrame } from '../../../src/api/ws/clientFrame.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';

function refusalOf(frame: unknown): Failure | null {
  const text = typeof frame === 'string' ? frame : JSON.stringify(frame);
  const read = readFrame(new TextEncoder().encode(text).buffer, false, 500);
  if (read instanceof Failure) return read;
  if (read.kind === 'refused') return read.failure;
  return read.kind === 'subscribe' ? (read.subscriptions[0]?.refused ?? null) : null;
}

const subscribe = { messageType: 'subscribe', requestId: 'r', topic: 'KOTH' };

test('a refusal names the field that is wrong, once', () => {
  const wrong: [unknown, string][] = [
    ['{', 'frame'],
    [[], 'frame'],
    [{ messageType: 'nope' }, 'messageType'],
    [{ ...subscribe, requestId: {} }, 'requestId'],
    [{ ...subscribe, since: {} }, 'since'],
    [{ ...subscribe, maxHz: 0.5 }, 'maxHz'],
    [{ ...subscribe, snapshot: 'no' }, 'snapshot'],
    [{ ...subscribe, topics: {} }, 'topics'],
  ];
  for (const [frame, field] of wrong) {
    const failure = refusalOf(frame);
    assert.match(failure?.message ?? '', new RegExp(`^${field} (must|is) `), field);
    assert.match(failure?.details?.[0]?.message ?? '', /^(?:must|is) /, field);
  }
});

test('a list of no subscriptions is refused, as silence would look like success', () => {
  const failure = refusalOf({ messageType: 'subscribe', requestId: 'r', topics: [] });
  assert.equal(failure?.cause, 'INVALID_PARAMS');
  assert.equal(refusalOf({ ...subscribe, topics: null }), null);
});
