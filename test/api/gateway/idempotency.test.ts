/** `Idempotency-Key`: one call of the handler for as many requests as carry it. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import Type from 'typebox';
import { type ApiKey, ApiKeys } from '../../../src/api/gateway/apiKeys.ts';
import type { Answer, Route } from '../../../src/api/gateway/port.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { HandClock } from '../../support/handClock.ts';
import { until } from '../../support/until.ts';
import { startNode } from './node.ts';
import { Gate, plain } from './routes.ts';

const QUOTA = { perSecond: 100, burst: 1000 };
const BOT: ApiKey = {
  name: 'bot',
  sha256: hash('sha256', 'upc_bot'),
  limits: { read: QUOTA, build: QUOTA, launch: QUOTA, sockets: 5 },
};
const Body = Type.Object({
  wallet: Type.String(),
  amount: Type.String(),
  note: Type.Optional(Type.String()),
  inner: Type.Optional(Type.Object({ a: Type.Integer(), b: Type.Optional(Type.Integer()) })),
  parts: Type.Optional(Type.Array(Type.Object({ a: Type.Integer() }))),
  unit: Type.Optional(Type.String({ pattern: '^[0-9a-fA-F]*$' })),
  index: Type.Optional(Type.Union([Type.String({ pattern: '^[0-9]{1,5}$' }), Type.Integer()])),
  name: Type.Optional(Type.String()),
});
const buy = { wallet: 'w', amount: '5' };

/** Answers its count; `held` waits for the gate, `current` says whether answers may be repeated. */
class Counting {
  calls = 0;
  readonly gate = new Gate();
  isHeld = false;
  isCurrent: boolean | Failure = true;
  answer: (call: number) => Answer | Failure = (call) => ({ body: JSON.stringify({ call }) });

  route(path: string): Route {
    return {
      ...plain,
      method: 'POST',
      path,
      operationId: path.slice(1),
      body: Body,
      idempotency: {
        wallet: ({ body }) => String(Reflect.get(Object(body), 'wallet')),
        isCurrent: async () => this.isCurrent,
        likeAbsent: { note: 'none', parts: [] },
      },
      handle: () => {
        this.calls += 1;
        return this.isHeld ? this.gate.hold() : this.answer(this.calls);
      },
    };
  }
}

async function serve(t: TestContext) {
  const counting = new Counting();
  const clock = new HandClock();
  const routes = [counting.route('/build'), counting.route('/other')];
  const node = await startNode(t, { routes, clock, apiKeys: new ApiKeys([BOT]) });
  const send = async (key: string, body: object, more: { path?: string; auth?: string } = {}) => {
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (key !== '') headers['idempotency-key'] = key;
    if (more.auth !== undefined) headers.authorization = more.auth;
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(node.url + (more.path ?? '/build'), init);
    // trust: what `Counting` answers, or an error
    const { call, cause, details } = (await response.json()) as {
      call?: number;
      cause?: string;
      details?: readonly { path: string }[];
    };
    const isReplayed = response.headers.get('idempotency-replayed') === 'true';
    return { status: response.status, call, cause, details, isReplayed };
  };
  return { ...node, counting, clock, send };
}

test('the same request under one key is one call, and the repeats say so', async (t) => {
  const { send, counting } = await serve(t);
  const first = await send('k', buy);
  assert.deepEqual([first.status, first.call, first.isReplayed], [200, 1, false]);
  for (let i = 0; i < 3; i += 1) {
    const again = await send('k', buy);
    assert.deepEqual([again.status, again.call, again.isReplayed], [200, 1, true]);
  }
  assert.equal(counting.calls, 1);
  assert.deepEqual([(await send('', buy)).call, (await send('', buy)).call], [2, 3]);
});

test('order of fields, unknown and null ones do not matter; a known one does', async (t) => {
  const { send, counting } = await serve(t);
  const whole = { ...buy, inner: { a: 1, b: 2 }, parts: [{ a: 1 }, { a: 2 }] };
  await send('k', whole);
  const same = [
    { parts: [{ a: 1 }, { a: 2 }], inner: { b: 2, a: 1 }, amount: '5', wallet: 'w' },
    { ...whole, note: null },
    { ...whole, note: '' },
    { ...whole, unknown: [1], inner: { a: 1, b: 2, unknown: 3 } },
  ];
  for (const body of same) assert.equal((await send('k', body)).isReplayed, true);
  const others = [
    { ...whole, amount: '6' },
    { ...whole, note: 'x' },
    { ...whole, inner: { a: 1 } },
    { ...whole, parts: [{ a: 2 }, { a: 1 }] },
    buy,
  ];
  for (const body of others) {
    const { status, cause } = await send('k', body);
    assert.deepEqual([status, cause], [409, 'IDEMPOTENCY_CONFLICT'], JSON.stringify(body));
  }
  assert.equal(counting.calls, 1);
});

test('another caller, route, wallet or key is another request', async (t) => {
  const { send, counting } = await serve(t);
  await send('k', buy);
  assert.equal((await send('k', buy, { auth: 'Bearer upc_bot' })).call, 2);
  assert.equal((await send('k', buy, { path: '/other' })).call, 3);
  assert.equal((await send('k', { ...buy, wallet: 'v' })).call, 4);
  assert.equal((await send('K', buy)).call, 5);
  assert.equal((await send('k', buy, { auth: 'Bearer upc_bot' })).call, 2);
  assert.equal(counting.calls, 5);
});

test('requests that mean the same are one, however they are spelled', async (t) => {
  const { send, counting } = await serve(t);
  const spelled: readonly (readonly [object, object])[] = [
    [{ unit: 'abCD' }, { unit: 'ABcd' }],
    [{ index: 7 }, { index: '7' }],
    [{ index: '7' }, { index: '007' }],
    [{}, { note: 'none' }],
    [{ parts: [] }, { parts: null, note: '' }],
  ];
  for (const [at, [one, other]] of spelled.entries()) {
    assert.equal((await send(`s${at}`, { ...buy, ...one })).call, at + 1);
    const again = await send(`s${at}`, { ...buy, ...other });
    assert.deepEqual([again.call, again.isReplayed], [at + 1, true], JSON.stringify(other));
  }
  await send('name', { ...buy, name: 'ab' });
  assert.equal((await send('name', { ...buy, name: 'AB' })).status, 409, 'text keeps its case');
  assert.equal(counting.calls, spelled.length + 1);
});

test('a repeat waits for the request that is under way; another one is a conflict', async (t) => {
  const { send, counting } = await serve(t);
  counting.isHeld = true;
  const both = [send('k', buy), send('k', buy)];
  await until('one is under way', () => counting.gate.waiting.length > 0);
  assert.equal((await send('k', { ...buy, amount: '6' })).cause, 'IDEMPOTENCY_CONFLICT');
  counting.gate.waiting[0]?.({ body: '{"call":1}' });
  const answers = await Promise.all(both);
  assert.deepEqual(
    answers.map(({ call }) => call),
    [1, 1],
  );
  assert.deepEqual(answers.filter(({ isReplayed }) => isReplayed).length, 1);
  assert.equal(counting.calls, 1);
});

test('a failure is not kept, and who waited for it is built', async (t) => {
  const { send, counting, faults } = await serve(t);
  counting.isHeld = true;
  const both = [send('k', buy), send('k', buy)];
  const next = async (count: number) => {
    await until(`call ${count}`, () => counting.gate.waiting.length === count);
    return counting.gate.waiting[count - 1] ?? assert.fail();
  };
  (await next(1))(new Failure('SERVER_ERROR', 'no luck'));
  (await next(2))({ body: '{"call":2}' });
  const answers = await Promise.all(both);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 500]);
  counting.isHeld = false;
  counting.answer = () => {
    throw new Error('thrown on purpose');
  };
  assert.equal((await send('thrown', buy)).status, 500);
  counting.answer = () => ({ status: 202, body: '{"call":7}' });
  assert.equal((await send('thrown', buy)).status, 202);
  assert.equal((await send('thrown', buy)).isReplayed, false, 'only what is 200 is kept');
  assert.equal(faults.length, 1);
  assert.equal((await send('k', buy)).isReplayed, true);
});

test('an answer that no longer holds, or is ten minutes old, is made again', async (t) => {
  const { send, counting, clock } = await serve(t);
  await send('k', buy);
  counting.isCurrent = new Failure('NOT_READY', 'who knows', { retryAfterSeconds: 1 });
  assert.equal((await send('k', buy)).status, 503);
  counting.isCurrent = false;
  assert.deepEqual((await send('k', buy)).call, 2);
  counting.isCurrent = true;
  assert.equal((await send('k', buy)).call, 2);
  await clock.advance(599_999);
  assert.equal((await send('k', buy)).call, 2);
  await clock.advance(1);
  assert.deepEqual((await send('k', { ...buy, amount: '9' })).call, 3, 'it names nothing now');
});

test('a key has 1 to 64 visible ASCII characters; elsewhere it is ignored', async (t) => {
  const { send, counting } = await serve(t);
  assert.equal((await send('~'.repeat(64), buy)).status, 200);
  for (const key of ['x'.repeat(65), 'a b', 'a, b', 'ä', ' ']) {
    const { status, details } = await send(key, buy);
    assert.deepEqual([status, details?.[0]?.path], [400, 'headers.idempotency-key'], key);
  }
  assert.equal(counting.calls, 1);
});
