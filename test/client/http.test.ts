/** Calls over real sockets: answers, refusals, repetition, deadlines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, type Clock, systemPlatform } from '../../src/client/index.ts';
import { refusalOf } from '../support/apiError.ts';
import { scriptedServer } from './trade/world.ts';

const TIME = { status: 200, body: { timestamp: 1_700_000_000_000 } };
const BUSY = { cause: 'OVERLOADED', message: 'come back' };
const { clock: systemClock } = systemPlatform;

/** Waits are recorded and over at once. */
function hastyClock(): Clock & { readonly waits: number[] } {
  const waits: number[] = [];
  const after: Clock['after'] = (delayMs, run) => {
    if (delayMs >= 5_000) return systemClock.after(delayMs, run);
    waits.push(delayMs);
    return systemClock.after(0, run);
  };
  return { ...systemClock, waits, after };
}

test('filtered trades say where to continue', async (t) => {
  const headers = { 'x-next-before': '7-1-0' };
  const { baseUrl } = await scriptedServer(t, [
    { status: 200, headers, body: [] },
    { status: 200, body: [] },
  ]);
  const { trades } = new Client({ url: baseUrl });
  const query = { asset: 'a.b', side: 'buy' } as const;
  assert.equal((await trades.list(query)).nextBefore, '7-1-0');
  assert.equal((await trades.list({ ...query, before: '7-1-0' })).nextBefore, null);
});

test('a busy server is asked again after the time that it names', async (t) => {
  const busy = { status: 429, headers: { 'retry-after': '2' }, body: BUSY };
  const { baseUrl, asked } = await scriptedServer(t, [busy, { ...busy, status: 503 }, TIME]);
  const clock = hastyClock();
  const client = new Client({ url: baseUrl, clock, maxAttempts: 4 });
  assert.deepEqual((await client.server.time()).data, TIME.body);
  assert.equal(asked.length, 3);
  assert.deepEqual(clock.waits, [2000, 2000]);
});

test('without a time to wait for the waits grow, and end', async (t) => {
  const { baseUrl, asked } = await scriptedServer(t, [{ status: 503, body: BUSY }]);
  const clock = hastyClock();
  const client = new Client({ url: baseUrl, clock, maxAttempts: 4 });
  const error = await refusalOf(client.server.time());
  assert.equal(error.cause, 'OVERLOADED');
  assert.equal(error.status, 503);
  assert(error.isBusy && error.isPassing);
  assert.equal(asked.length, 4);
  assert.deepEqual(clock.waits, [250, 500, 1000]);
});

test('a limit that no time lifts is not asked again, unless the server names a time', async (t) => {
  const error = { code: 1102, cause: 'LIMIT_EXCEEDED', message: 'remove one first', retry: false };
  const full = { status: 429, body: error };
  const { baseUrl, asked } = await scriptedServer(t, [full, TIME]);
  const clock = hastyClock();
  const client = new Client({ url: baseUrl, clock, maxAttempts: 4 });
  const refused = await refusalOf(client.server.time());
  assert.deepEqual([refused.cause, refused.isBusy], ['LIMIT_EXCEEDED', false]);
  assert.deepEqual([asked.length, clock.waits], [1, []]);
  const headers = { 'retry-after': '2' };
  const later = await scriptedServer(t, [{ ...full, headers }, TIME]);
  const patient = new Client({ url: later.baseUrl, clock: hastyClock(), maxAttempts: 2 });
  assert.deepEqual((await patient.server.time()).data, TIME.body);
});

test('without more attempts a busy server is asked once', async (t) => {
  const { baseUrl, asked } = await scriptedServer(t, [{ status: 503, body: BUSY }, TIME]);
  assert.equal((await refusalOf(new Client({ url: baseUrl }).server.time())).status, 503);
  assert.equal(asked.length, 1);
});

test('what a busy server refused is sent again, even what may not happen twice', async (t) => {
  const paid = { status: 200, body: { txHash: '00'.repeat(32) } };
  const { baseUrl, asked } = await scriptedServer(t, [{ status: 503, body: BUSY }, paid]);
  const client = new Client({ url: baseUrl, clock: hastyClock(), maxAttempts: 2 });
  assert.deepEqual((await client.devnet.faucet({ address: 'addr_test1' })).data, paid.body);
  assert.equal(asked.length, 2);
});

test('a longer wait than one has patience for is an answer at once', async (t) => {
  const busy = { status: 429, headers: { 'retry-after': '60' }, body: BUSY };
  const { baseUrl, asked } = await scriptedServer(t, [busy]);
  const client = new Client({ url: baseUrl, maxAttempts: 4 });
  assert.equal((await refusalOf(client.server.time())).retryAfterSeconds, 60);
  assert.equal(asked.length, 1);
});

test('refusals carry cause, message, status and reason, and are not repeated', async (t) => {
  const body = { cause: 'SERVER_ERROR', message: 'submit: spent', reason: 'INPUT_SPENT' };
  const { baseUrl, asked } = await scriptedServer(t, [{ status: 500, body }]);
  const client = new Client({ url: baseUrl, maxAttempts: 4 });
  const error = await refusalOf(client.submit.transaction({ cbor: '84' }));
  const { cause, message, status, reason } = error;
  assert.deepEqual({ cause, message, reason }, body);
  assert.equal(status, 500);
  assert.equal(asked.length, 1);
});

test('answers that are not JSON are errors', async (t) => {
  const { baseUrl } = await scriptedServer(t, [{ status: 200, body: '<html>' }]);
  const error = await refusalOf(new Client({ url: baseUrl }).server.time());
  assert.equal(error.cause, 'BAD_ANSWER');
});

test('a silent server, an absent one and a closed client are distinct failures', async (t) => {
  const { baseUrl } = await scriptedServer(t, [null]);
  const silent = new Client({ url: baseUrl, timeoutMs: 30 });
  assert.equal((await refusalOf(silent.server.time())).cause, 'TIMEOUT');
  const gone = new Client({ url: 'http://127.0.0.1:1' });
  assert.equal((await refusalOf(gone.server.time())).cause, 'UNREACHABLE');
  const closed = new Client({ url: baseUrl });
  const answer = refusalOf(closed.server.time());
  closed.close();
  assert.equal((await answer).cause, 'STOPPED');
  assert.equal((await refusalOf(closed.server.time())).cause, 'STOPPED');
});

test('closing ends the wait for a busy server', async (t) => {
  const busy = { status: 503, headers: { 'retry-after': '9' }, body: BUSY };
  const { baseUrl, asked } = await scriptedServer(t, [busy]);
  const client = new Client({
    url: baseUrl,
    maxAttempts: 4,
    clock: {
      ...systemClock,
      after(delayMs, run) {
        if (delayMs === 9_000) queueMicrotask(() => client.close());
        return systemClock.after(delayMs, run);
      },
    },
  });
  assert.equal((await refusalOf(client.server.time())).cause, 'STOPPED');
  assert.equal(asked.length, 1);
});
