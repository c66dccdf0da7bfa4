import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rng } from '../../src/engine/runtime/rng.ts';
import { WholeState } from '../e2e/live/states.ts';
import { Following } from './following.ts';

const EPOCH = '1-a';
const SPEC = {
  topic: 'KOTH',
  data: {},
  told: (data: unknown) => new WholeState(data),
  questions: [],
};

/** Always draws this. */
function drawing(unit: number): Rng {
  return { unit: () => unit, token: () => '', secret: () => '' };
}

function heard(
  following: Following,
  event: string,
  seq: number,
  prev: number | null,
  epoch = EPOCH,
): void {
  const snapshot = event === 'KOTHUpdate' && prev === null;
  const data = event === 'Subscribed' ? { recovered: false } : { at: seq };
  const frame = {
    requestId: 'r',
    messageType: 'message',
    event,
    epoch,
    seq,
    prev,
    snapshot,
    ts: 0,
    data,
  };
  assert.equal(following.hear(frame), false);
}

test('a snapshot is older only where the position is forgotten', () => {
  for (const isForgotten of [false, true]) {
    const following = new Following('r', SPEC, () => isForgotten);
    following.frame();
    heard(following, 'Subscribed', 40, null);
    heard(following, 'KOTHUpdate', 40, null);
    following.frame();
    heard(following, 'Subscribed', 30, null);
    const hear = () => heard(following, 'KOTHUpdate', 30, null);
    if (isForgotten) hear();
    else assert.throws(hear, /an older state/);
    assert.equal(following.own?.seq, isForgotten ? 30 : 40);
  }
});

test('a snapshot is of an older epoch only where the position is forgotten', () => {
  for (const isForgotten of [false, true]) {
    const following = new Following('r', SPEC, () => isForgotten);
    following.frame();
    heard(following, 'Subscribed', 40, null, '2-b');
    heard(following, 'KOTHUpdate', 40, null, '2-b');
    following.frame();
    heard(following, 'Subscribed', 50, null);
    const hear = () => heard(following, 'KOTHUpdate', 50, null);
    if (isForgotten) hear();
    else assert.throws(hear, /an older epoch/);
  }
});

test('a client goes back to where it was told that nothing had changed, and no further', () => {
  const following = new Following('r', SPEC);
  following.frame();
  heard(following, 'Subscribed', 10, null);
  heard(following, 'KOTHUpdate', 10, null);
  following.idleUpTo({ epoch: EPOCH, seq: 14 });
  // It may hold changes of 15 and of 20.
  heard(following, 'KOTHUpdate', 20, 10);
  heard(following, 'Resync', 40, null);
  heard(following, 'KOTHUpdate', 40, null);
  following.goBack(drawing(0));
  assert.deepEqual(following.own, { epoch: EPOCH, seq: 14 });
  following.goBack(drawing(0.4));
  assert.deepEqual(following.own, { epoch: EPOCH, seq: 20 });
  following.goBack(drawing(0.6));
  assert.deepEqual(following.own, { epoch: EPOCH, seq: 20 });
});
