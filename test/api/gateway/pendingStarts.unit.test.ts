/** Subscriptions start at the pace at which their caller earns reads, and in slices. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Caller } from '../../../src/api/gateway/address.ts';
import { GATEWAY_DEFAULTS } from '../../../src/api/gateway/options.ts';
import { FRAME_BYTES_A_READ, RateLimits } from '../../../src/api/http/rateLimits.ts';
import { PendingStarts } from '../../../src/api/ws/pendingStarts.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { VirtualClock, workThrough } from '../topics/world.ts';

function world(burst = 10) {
  const clock = new VirtualClock();
  const limits = new RateLimits(clock, {
    ...GATEWAY_DEFAULTS,
    reads: { perSecond: 10, burst },
    limitLoopback: true,
  });
  const starts = new PendingStarts(clock, limits);
  const left = new Map<string, number>();
  const done: string[] = [];
  const begin = (name: string, { from = 'a', ms = 0, bytes = 0, isPaid = false } = {}) => {
    left.set(name, ms);
    // trust: limits read only these fields of a caller
    const caller = { key: from, loopback: false, apiKey: null } as Caller;
    const run = () => {
      done.push(name);
      return bytes;
    };
    const prepare = (isOver: () => boolean) => workThrough(clock, left, name, isOver);
    return starts.runSoon({ caller, isPaid, prepare, run });
  };
  return { clock, starts, begin, done, left };
}

test('subscriptions that a caller can pay for start at once, the others later', () => {
  const { clock, begin, done, starts } = world(3);
  for (const name of ['1', '2', '3', '4', '5']) begin(name);
  assert.deepEqual(done, ['1', '2', '3']);
  begin('other', { from: 'b' });
  assert.deepEqual(done.at(-1), 'other', 'another caller does not wait');
  clock.advance(120);
  assert.deepEqual(done.slice(4), ['4']);
  clock.advance(100);
  assert.deepEqual(done.slice(4), ['4', '5']);
  assert.equal(starts.callers, 0);
});

test('the first frames of a subscription cost reads, so the next one waits', () => {
  const { clock, begin, done } = world(3);
  begin('large', { bytes: 12 * FRAME_BYTES_A_READ });
  begin('next');
  assert.deepEqual(done, ['large']);
  clock.advance(1_000);
  assert.deepEqual(done, ['large']);
  clock.advance(200);
  assert.deepEqual(done, ['large', 'next']);
});

test('a subscription that was paid for with its request does not wait for reads', () => {
  const { begin, done } = world(1);
  begin('first');
  begin('paid', { isPaid: true });
  assert.deepEqual(done, ['first', 'paid']);
});

test('long ones are prepared in slices, and one that left does not start', () => {
  const { clock, begin, done, left } = world();
  begin('first', { ms: 9 });
  const gone = begin('gone', { ms: 50 });
  begin('last', { ms: 5, from: 'b' });
  assert.deepEqual(done, [], 'not in the turn in which they were asked for');
  assert(gone !== null && !(gone instanceof Failure));
  gone.cancel();
  clock.advance(100);
  assert.deepEqual(done.toSorted(), ['first', 'last']);
  assert.equal(left.get('gone'), 50);
  assert(clock.longestTurnMs <= 4, `a turn took ${clock.longestTurnMs} ms`);
});

test('a subscription that cannot be prepared in time is answered all the same', () => {
  const { clock, begin, done, left } = world();
  begin('endless', { ms: 20 });
  for (let turn = 0; turn < 20_000 && done.length === 0; turn += 1) {
    left.set('endless', 20);
    clock.advance(1);
  }
  assert.deepEqual(done, ['endless']);
});

test('a caller may have so many waiting, and others are not counted with it', () => {
  const { begin } = world(1);
  begin('first');
  let refused: unknown = null;
  let count = 0;
  for (; count < 5_000 && refused === null; count += 1) {
    const started = begin(`${count}`);
    if (started instanceof Failure) refused = started.cause;
  }
  assert.deepEqual([refused, count], ['RATE_LIMITED', 2_001]);
  assert(!(begin('other', { from: 'b' }) instanceof Failure));
});
