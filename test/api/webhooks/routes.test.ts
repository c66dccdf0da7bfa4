/** `/v1/webhooks` over HTTP: who may register, which requests are refused, and the answers. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Destinations } from '../../../src/api/webhooks/destination.ts';
import { rangesOf } from '../../../src/api/webhooks/publicAddress.ts';
import { webhookRoutes } from '../../../src/api/webhooks/routes.ts';
import { SqliteWebhooks } from '../../../src/api/webhooks/sqliteStore.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { systemRng } from '../../../src/engine/runtime/rng.ts';
import { fillDisk } from '../../support/fullDisk.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { Market } from '../gateway/market.ts';
import { startNode } from '../gateway/node.ts';
import { keysOf } from './world.ts';

const URL_OK = 'https://127.0.0.1:9999/hook';
const TOPICS = [{ topic: 'Bars', data: { series: 'a' } }];

async function serve(t: TestContext) {
  const store = new SqliteWebhooks(join(temporaryDirectory(t), 'webhooks.sqlite'));
  t.after(() => store.close());
  const destinations = new Destinations(rangesOf(['127.0.0.0/8']));
  const common = { clock: systemClock, rng: systemRng, topics: new Market().topics() };
  const notSaved: string[] = [];
  const observer = { webhooksNotSaved: (why: string) => void notSaved.push(why) };
  const routes = webhookRoutes({ store, destinations, observer, ...common });
  const node = await startNode(t, { routes, apiKeys: keysOf('bot', 'fund') });
  const ask = async (method: string, path: string, body?: unknown, key: string | null = 'bot') => {
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (key !== null) headers.authorization = `Bearer upc_${key}`;
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await fetch(`${node.url}/v1/webhooks${path}`, init);
    const answer = await response.json();
    const field = (name: string): unknown => Reflect.get(Object(answer), name);
    return { status: response.status, answer, field, headers: response.headers };
  };
  return { ask, store, node, notSaved };
}

test('a key registers, sees and removes its webhooks, and those of no other', async (t) => {
  const { ask } = await serve(t);
  const { status, field } = await ask('POST', '', { url: URL_OK, topics: TOPICS });
  assert.equal(status, 200);
  const id = String(field('id'));
  assert.match(id, /^wh_[a-z0-5]{20}$/);
  assert.match(String(field('secret')), /^whsec_[0-9a-f]{64}$/);
  const own = { url: URL_OK, topics: TOPICS, secret: 'my-own-secret-16' };
  assert.equal((await ask('POST', '', own)).field('secret'), 'my-own-secret-16');
  const list = await ask('GET', '');
  assert.equal(list.field('length'), 2);
  const one = await ask('GET', `/${id}`);
  assert.deepEqual(one.answer, list.field('0'));
  assert.deepEqual(one.answer, {
    id,
    url: URL_OK,
    topics: [{ topic: 'Bars', requestId: '0', snapshot: true, data: { series: 'a' } }],
    state: 'active',
    position: null,
    createdAt: one.field('createdAt'),
    deliveredAt: null,
    failures: 0,
    nextTryAt: null,
    lastError: null,
  });
  assert(!JSON.stringify(list.answer).includes('secret'));
  assert.deepEqual((await ask('GET', '', undefined, 'fund')).answer, []);
  for (const method of ['GET', 'DELETE']) {
    assert.equal((await ask(method, `/${id}`, undefined, 'fund')).status, 404);
  }
  const removed = await ask('DELETE', `/${id}`);
  assert.deepEqual([removed.status, removed.answer], [200, { id }]);
  assert.equal((await ask('DELETE', `/${id}`)).status, 404);
  assert.equal((await ask('GET', '')).field('length'), 1);
});

test('on a full disk it is 503 with the reason, and nothing is changed', async (t) => {
  const { ask, notSaved } = await serve(t);
  const body = { url: URL_OK, topics: TOPICS };
  const id = String((await ask('POST', '', body)).field('id'));
  const makeRoom = fillDisk();
  t.after(makeRoom);
  for (const [method, path] of [
    ['POST', ''],
    ['DELETE', `/${id}`],
  ] as const) {
    const refused = await ask(method, path, method === 'POST' ? body : undefined);
    assert.deepEqual([refused.status, refused.field('cause')], [503, 'NOT_READY'], method);
    assert.match(String(refused.field('message')), /SQLITE_IOERR_WRITE.*nothing was changed/);
    assert.equal(refused.headers.get('retry-after'), '2');
  }
  assert.equal((await ask('GET', '')).field('length'), 1);
  assert.equal(notSaved.length, 2, 'readiness hears of it');
  makeRoom();
  assert.equal((await ask('POST', '', body)).status, 200);
  assert.equal((await ask('DELETE', `/${id}`)).status, 200);
});

test('without a key it is 401, before anything is read', async (t) => {
  const { ask, node } = await serve(t);
  for (const [method, path] of [
    ['POST', ''],
    ['GET', ''],
    ['GET', '/x'],
    ['DELETE', '/x'],
  ] as const) {
    const { status, field, headers } = await ask(method, path, undefined, null);
    assert.deepEqual([status, field('cause')], [401, 'KEY_REQUIRED'], method);
    assert.equal(headers.get('www-authenticate'), 'Bearer');
    const unknown = await ask(method, path, undefined, 'stranger');
    assert.equal(unknown.field('cause'), 'UNKNOWN_KEY');
  }
  const other = await fetch(`${node.url}/v1/webhooks`, { method: 'DELETE' });
  assert.deepEqual([other.status, other.headers.get('allow')], [405, 'POST, GET, HEAD, OPTIONS']);
});

test('bad input is refused with its place, and nothing is kept', async (t) => {
  const { ask, store, node } = await serve(t);
  const [bars] = TOPICS;
  const ofTopics = (...topics: readonly object[]) => ({ url: URL_OK, topics });
  const wide = { series: 'a', x: 'y'.repeat(9_000) };
  const bytes = { series: 'a', x: 'ä'.repeat(5_000) };
  const rows: readonly (readonly [body: object, path: string, cause?: string])[] = [
    [{ topics: TOPICS }, 'body'],
    [{ url: URL_OK }, 'body'],
    [{ url: 'https://10.0.0.1/', topics: TOPICS }, 'body.url'],
    [{ url: 'https://9.9.9.9:0/', topics: TOPICS }, 'body.url'],
    [{ url: 'https://9.9.9.9:22/', topics: TOPICS }, 'body.url'],
    [{ url: 'nonsense', topics: TOPICS }, 'body.url'],
    [ofTopics(), 'body.topics'],
    [ofTopics(...Array.from({ length: 21 }, () => ({ ...bars }))), 'body.topics'],
    [ofTopics({ topic: 'Nothing' }), '', 'TOPIC_NOT_FOUND'],
    [ofTopics({ topic: 'Beat' }), 'body.topics.0.topic'],
    [ofTopics({ ...bars }, { topic: 'Bars' }), 'body.topics.1.data'],
    [ofTopics({ ...bars, maxHz: 0 }), 'body.topics.0.maxHz'],
    [ofTopics({ ...bars, since: { epoch: 'x', seq: 1 } }), 'body.topics.0.since'],
    [ofTopics({ ...bars }, { ...bars, requestId: '0' }), 'body.topics.1.requestId'],
    [ofTopics({ ...bars, data: wide }), 'body.topics'],
    [ofTopics({ ...bars, data: bytes }), 'body.topics'],
    [{ ...ofTopics({ ...bars }), secret: 'short' }, 'body.secret'],
    [{ ...ofTopics({ ...bars }), secret: 'ä'.repeat(20) }, 'body.secret'],
  ];
  for (const [body, path, cause = 'INVALID_PARAMS'] of rows) {
    const { status, field, answer } = await ask('POST', '', body);
    const what = `${JSON.stringify(body).slice(0, 80)}: ${JSON.stringify(answer)}`;
    assert.deepEqual([status, field('cause')], [path === '' ? 404 : 400, cause], what);
    const [detail] = [Reflect.get(Object(field('details') ?? []), '0')];
    assert(String(Reflect.get(Object(detail), 'path') ?? '').startsWith(path), what);
  }
  assert.equal((await ask('GET', '/nonsense')).status, 400);
  const deep = `{"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  const response = await fetch(`${node.url}/v1/webhooks`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer upc_bot' },
    body: `{"url":"${URL_OK}","topics":[{"topic":"Bars","data":${deep}}]}`,
  });
  assert.equal(response.status, 400);
  const all = await store.all();
  assert(!(all instanceof Failure) && all.length === 0);
});

test('a key may have 20', async (t) => {
  const { ask } = await serve(t);
  const body = { url: URL_OK, topics: TOPICS };
  const { field } = await ask('POST', '', body);
  for (let i = 1; i < 20; i += 1) assert.equal((await ask('POST', '', body)).status, 200);
  const refused = await ask('POST', '', body);
  assert.deepEqual([refused.status, refused.field('cause')], [429, 'LIMIT_EXCEEDED']);
  assert.equal((await ask('POST', '', body, 'fund')).status, 200);
  await ask('DELETE', `/${String(field('id'))}`);
  assert.equal((await ask('POST', '', body)).status, 200);
});
