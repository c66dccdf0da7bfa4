/** Calls over real sockets: answers, refusals, repetition, deadlines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiClient } from '../../../src/client/trade/api.ts';
import { ApiFailure } from '../../../src/client/trade/failure.ts';
import { type Clock, systemClock } from '../../../src/engine/runtime/clock.ts';
import { scriptedServer } from './world.ts';

const TIME = { status: 200, body: { timestamp: 1_700_000_000_000 } };
const BUSY = { cause: 'OVERLOADED', message: 'come back' };

/** Waits are noted and over at once. */
function hastyClock(): Clock & { readonly waits: number[] } {
  const waits: number[] = [];
  const after: Clock['after'] = (delayMs, run) => {
    if (delayMs >= 5_000) return systemClock.after(delayMs, run);
    waits.push(delayMs);
    return systemClock.after(0, run);
  };
  return { ...systemClock, waits, after };
}

function failureOf(answer: unknown): ApiFailure {
  assert(answer instanceof ApiFailure, JSON.stringify(answer));
  return answer;
}

test('a busy server is asked again after the time that it names', async (t) => {
  const busy = { status: 429, headers: { 'retry-after': '2' }, body: BUSY };
  const { baseUrl, asked } = await scriptedServer(t, [busy, { ...busy, status: 503 }, TIME]);
  const clock = hastyClock();
  const client = new ApiClient({ baseUrl, fetch, clock });
  assert.deepEqual(await client.serverTime(), TIME.body);
  assert.equal(asked.length, 3);
  assert.deepEqual(clock.waits, [2000, 2000]);
});

test('without a time to wait for the waits grow, and end', async (t) => {
  const { baseUrl, asked } = await scriptedServer(t, [{ status: 503, body: BUSY }]);
  const clock = hastyClock();
  const failure = failureOf(await new ApiClient({ baseUrl, fetch, clock }).serverTime());
  assert.equal(failure.cause, 'OVERLOADED');
  assert.equal(failure.status, 503);
  assert(failure.isBusy);
  assert.equal(asked.length, 4);
  assert.deepEqual(clock.waits, [250, 500, 1000]);
});

test('a longer wait than one has patience for is an answer at once', async (t) => {
  const busy = { status: 429, headers: { 'retry-after': '60' }, body: BUSY };
  const { baseUrl, asked } = await scriptedServer(t, [busy]);
  const client = new ApiClient({ baseUrl, fetch, clock: systemClock });
  assert.equal(failureOf(await client.serverTime()).retryAfterSeconds, 60);
  assert.equal(asked.length, 1);
});

test('refusals carry cause, message, status and reason, and are not repeated', async (t) => {
  const body = { cause: 'SERVER_ERROR', message: 'submit: spent', reason: 'INPUT_SPENT' };
  const { baseUrl, asked } = await scriptedServer(t, [{ status: 500, body }]);
  const client = new ApiClient({ baseUrl, fetch, clock: systemClock });
  const { cause, message, status, reason } = failureOf(await client.submit('84'));
  assert.deepEqual({ cause, message, reason }, body);
  assert.equal(status, 500);
  assert.equal(asked.length, 1);
});

test('answers that are not as agreed are failures', async (t) => {
  const bodies = ['<html>', { timestamp: 'noon' }, { status: 404 }];
  const answers = bodies.map((body) => ({ status: 200, body }));
  const { baseUrl } = await scriptedServer(t, answers);
  const client = new ApiClient({ baseUrl, fetch, clock: systemClock });
  for (const _body of bodies) {
    assert.equal(failureOf(await client.serverTime()).cause, 'BAD_ANSWER');
  }
});

test('a server that is silent, gone or left behind is said to be so', async (t) => {
  const { baseUrl } = await scriptedServer(t, [null]);
  const silent = new ApiClient({ baseUrl, fetch, clock: systemClock, timeoutMs: 30 });
  assert.equal(failureOf(await silent.serverTime()).cause, 'TIMEOUT');
  const gone = new ApiClient({ baseUrl: 'http://127.0.0.1:1', fetch, clock: systemClock });
  assert.equal(failureOf(await gone.serverTime()).cause, 'UNREACHABLE');
  const stopping = new AbortController();
  const signal = stopping.signal;
  const left = new ApiClient({ baseUrl, fetch, clock: systemClock, signal });
  const answer = left.serverTime();
  stopping.abort();
  assert.equal(failureOf(await answer).cause, 'STOPPED');
  assert.equal(failureOf(await left.serverTime()).cause, 'STOPPED');
});
