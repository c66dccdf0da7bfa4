/** Promises that a signal or a deadline cuts short. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { unlessAborted, withDeadline } from '../../../src/engine/runtime/abort.ts';
import { HandClock } from '../../support/handClock.ts';

describe('unlessAborted', () => {
  test('brings what the promise brings', async () => {
    const { signal } = new AbortController();
    assert.equal(await unlessAborted(Promise.resolve(7), signal), 7);
    const broken = unlessAborted(Promise.reject(new Error('broken')), signal);
    await assert.rejects(broken, /broken/);
  });

  test('is null once aborted; what comes later is discarded', async () => {
    const stop = new AbortController();
    const opening = Promise.withResolvers<string>();
    const closed: string[] = [];
    const opened = unlessAborted(opening.promise, stop.signal, (late) => closed.push(late));
    stop.abort();
    assert.equal(await opened, null);
    opening.resolve('stream');
    await opening.promise;
    assert.deepEqual(closed, ['stream']);
    const early = Promise.resolve('early');
    assert.equal(await unlessAborted(early, stop.signal, (late) => closed.push(late)), null);
    assert.deepEqual(closed, ['stream', 'early']);
  });

  test('a value that comes in the moment of the abort is discarded, not returned', async () => {
    const stop = new AbortController();
    const opening = Promise.withResolvers<string>();
    const closed: string[] = [];
    const opened = unlessAborted(opening.promise, stop.signal, (late) => closed.push(late));
    opening.resolve('stream');
    stop.abort();
    assert.equal(await opened, null);
    assert.deepEqual(closed, ['stream']);
  });

  test('a rejection after the abort is dropped', async () => {
    const stop = new AbortController();
    const opening = Promise.withResolvers<string>();
    const opened = unlessAborted(opening.promise, stop.signal);
    stop.abort();
    opening.reject(new Error('closed'));
    assert.equal(await opened, null);
  });
});

describe('withDeadline', () => {
  const never = new Promise<never>(() => {});
  const aborted = async (signal: AbortSignal) => (await unlessAborted(never, signal)) ?? 'aborted';

  test('aborts the work when its time is over', async () => {
    const clock = new HandClock();
    const outcomes: string[] = [];
    void withDeadline(clock, 100, aborted).then((outcome) => outcomes.push(outcome));
    await clock.advance(99);
    assert.deepEqual(outcomes, []);
    await clock.advance(1);
    assert.deepEqual(outcomes, ['aborted']);
  });

  test('aborts it with any of the outer signals, also one that was aborted before', async () => {
    const clock = new HandClock();
    const [one, other] = [new AbortController(), new AbortController()];
    const working = withDeadline(clock, 100, aborted, one.signal, other.signal);
    other.abort();
    assert.equal(await working, 'aborted');
    assert.equal(await withDeadline(clock, 100, aborted, one.signal, other.signal), 'aborted');
  });

  test('brings what the work brings; the signal is not aborted afterwards', async () => {
    const clock = new HandClock();
    const outer = new AbortController();
    const signal = await withDeadline(clock, 100, async (given) => given, outer.signal);
    outer.abort();
    await clock.advance(200);
    assert.equal(signal.aborted, false);
    const broken = withDeadline(clock, 100, () => Promise.reject(new Error('broken')));
    await assert.rejects(broken, /broken/);
  });
});
