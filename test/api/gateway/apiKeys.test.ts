/** API keys: each key has its own limits, and an unknown or revoked key is refused. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { type ApiKey, ApiKeys } from '../../../src/api/gateway/apiKeys.ts';
import type { GatewayOptions } from '../../../src/api/gateway/options.ts';
import { utilityRoutes } from '../../../src/api/operations/routes.ts';
import { eventStreamRoutes } from '../../../src/api/sse/routes.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { HandClock } from '../../support/handClock.ts';
import { until } from '../../support/until.ts';
import { Client } from './client.ts';
import { EventStreamClient } from './eventStreamClient.ts';
import { startNode } from './node.ts';
import { ask, get, post } from './raw.ts';
import { testRoutes } from './routes.ts';

const BOT = 'upc_bot-7d1f0c';
const FUND = 'upc_fund-99aa01';
const slow = (burst: number) => ({ perSecond: 0.01, burst });

function keyOf(name: string, secret: string, reads: number, sockets = 2): ApiKey {
  const limits = { read: slow(reads), build: slow(2), launch: slow(1), sockets };
  return { name, sha256: hash('sha256', secret), limits };
}

async function serve(
  t: TestContext,
  options: Partial<GatewayOptions> = {},
  more: { clock?: HandClock } = {},
) {
  const apiKeys = new ApiKeys([keyOf('bot', BOT, 3), keyOf('fund', FUND, 5)]);
  const routes = [...testRoutes(), ...utilityRoutes(systemClock), ...eventStreamRoutes()];
  return { apiKeys, ...(await startNode(t, { routes, apiKeys, options, ...more })) };
}

const bearer = (secret: string) => [`Authorization: Bearer ${secret}`];
const connect = (key: unknown) => ({ messageType: 'connect', requestId: 'c', data: { key } });

test('a key has limits of its own, from loopback too, and shares them with no other', async (t) => {
  const { port } = await serve(t);
  const remaining = async (lines: string[]) => {
    const { status, headers } = await ask(port, get('/small', lines));
    return [status, headers['ratelimit-limit'], headers['ratelimit-remaining']];
  };
  assert.deepEqual(await remaining(bearer(BOT)), [200, '3', '2']);
  assert.deepEqual(await remaining([`authorization:bearer  ${BOT}`]), [200, '3', '1']);
  assert.deepEqual(await remaining(bearer(FUND)), [200, '5', '4']);
  assert.deepEqual(await remaining(bearer(BOT)), [200, '3', '0']);
  assert.deepEqual(await remaining(bearer(BOT)), [429, '3', '0']);
  assert.deepEqual(await remaining([]), [200, '200', '200'], 'without a key all is as before');
  assert.deepEqual(await remaining(bearer(FUND)), [200, '5', '3']);
});

test('an unknown key is refused, and any other Authorization is ignored', async (t) => {
  const { port } = await serve(t, { limitLoopback: true, reads: slow(4) });
  for (const presented of ['upc_', 'upc_nobody', `${BOT}, Bearer ${FUND}`]) {
    const { status, headers, body } = await ask(port, get('/small', bearer(presented)));
    assert.deepEqual([status, headers['www-authenticate']], [401, 'Bearer']);
    assert.equal(JSON.parse(body).cause, 'UNKNOWN_KEY');
    if (presented.length > 4) assert(!body.includes(presented));
  }
  const other = await ask(port, get('/small', ['Authorization: Basic dXBjXzp4']));
  assert.deepEqual([other.status, other.headers['ratelimit-remaining']], [200, '0']);
  assert.equal((await ask(port, get('/small', bearer('abc')))).status, 429);
  assert.equal((await ask(port, get('/small', bearer('upc_x')))).status, 429, 'guesses count');
  assert.equal((await ask(port, get('/small', bearer(BOT)))).status, 200);
  const posted = await ask(port, post('/launch', '{}', [...bearer('upc_nobody')]));
  assert.equal(posted.status, 401);
});

test('limits tell what is left, and asking takes nothing', async (t) => {
  // `reset` counts down: no second passes here.
  const { port } = await serve(t, {}, { clock: new HandClock() });
  const limits = async (lines: string[]) =>
    JSON.parse((await ask(port, get('/v1/limits', lines))).body);
  await ask(port, get('/small', bearer(BOT)));
  const socket = await Client.open(port);
  socket.send(connect(BOT));
  await socket.frame({ event: 'ConnectionSucceeded' });
  for (let i = 0; i < 2; i += 1) {
    assert.deepEqual(await limits(bearer(BOT)), {
      caller: 'bot',
      scope: 'node',
      exempt: false,
      classes: {
        read: { limit: 3, remaining: 2, reset: 100 },
        build: { limit: 2, remaining: 2, reset: 0 },
        launch: { limit: 1, remaining: 1, reset: 0 },
      },
      sockets: { limit: 2, open: 1 },
    });
  }
  const own = await limits([]);
  assert.deepEqual([own.caller, own.exempt], ['127.0.0.1', true]);
  assert.deepEqual(own.classes.read, { limit: 200, remaining: 200, reset: 0 });
  assert.equal(own.sockets.open, 0, 'the socket counts against its key');
});

test('a socket counts against its key, and an unknown one ends it', async (t) => {
  const { port, sockets } = await serve(t);
  const open = async (key: unknown) => {
    const client = await Client.open(port);
    client.send(connect(key));
    return client;
  };
  const inHeader = await Client.open(port, { headers: { authorization: `Bearer ${BOT}` } });
  const second = await open(BOT);
  second.send(connect(BOT));
  await second.frame({ event: 'ConnectionSucceeded' });
  await (await open(BOT)).closed(4403);
  const fund = await open(FUND);
  await fund.frame({ event: 'ConnectionSucceeded' });
  const none = await open('');
  await none.frame({ event: 'ConnectionSucceeded' });
  const unknown = await open('upc_nobody');
  await unknown.closed(4501);
  const { cause, retry } = (await unknown.frame({ event: 'Error' })).data;
  assert.deepEqual([cause, retry], ['UNKNOWN_KEY', false]);
  await (await open(7)).closed(4501);
  const refused = await Client.open(port, { headers: { authorization: 'Bearer upc_nobody' } });
  await refused.closed(4501);
  inHeader.socket.close();
  await until('it is gone', () => sockets.open === 3);
  await (await open(BOT)).frame({ event: 'ConnectionSucceeded' });
});

test('a revoked key is refused and its sockets and streams end; others stay', async (t) => {
  const { port, apiKeys } = await serve(t);
  const sub = [{ topic: 'Counter', data: { name: 'a' } }];
  const headers = { authorization: `Bearer ${BOT}` };
  const stream = await EventStreamClient.open(port, { query: sub, headers });
  await stream.event('CounterUpdate');
  const [revoked, kept, without] = await Promise.all([1, 2, 3].map(() => Client.open(port)));
  assert(revoked !== undefined && kept !== undefined && without !== undefined);
  revoked.send(connect(BOT));
  kept.send(connect(FUND));
  await revoked.frame({ event: 'ConnectionSucceeded' });
  await kept.frame({ event: 'ConnectionSucceeded' });
  await ask(port, get('/small', bearer(FUND)));
  assert.deepEqual(apiKeys.replace([keyOf('fund', FUND, 5)]), ['bot']);
  await revoked.closed(4501);
  await until('the stream ends', () => stream.isEnded);
  assert.equal(stream.of('Error')[0]?.frame.data.cause, 'UNKNOWN_KEY');
  assert.equal((await ask(port, get('/small', bearer(BOT)))).status, 401);
  const answer = await ask(port, get('/small', bearer(FUND)));
  assert.equal(answer.headers['ratelimit-remaining'], '3', 'what is left stays');
  apiKeys.replace([keyOf('fund', FUND, 9)]);
  const more = await ask(port, get('/small', bearer(FUND)));
  assert.equal(more.headers['ratelimit-remaining'], '8', 'other limits begin again');
  assert.deepEqual([kept.closeCode, without.closeCode], [null, null]);
});
