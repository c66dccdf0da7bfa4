/** Errors as problem details, and the limits as structured fields. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Item, parseList } from 'structured-headers';
import { HandClock } from '../../support/handClock.ts';
import { startNode } from '../gateway/node.ts';
import { ask, get, post, type RawAnswer } from '../gateway/raw.ts';
import { plain, testRoutes } from '../gateway/routes.ts';
import { isProblem } from './problemJudge.ts';

const PROBLEM = ['Accept: application/problem+json'];

test('every kind of error is a problem to a client that names the type', async (t) => {
  const { port } = await startNode(t, { routes: testRoutes() });
  const said = async (request: string, status: number) =>
    isProblem(await ask(port, request), status);
  const notFound = await said(get('/nowhere', PROBLEM), 404);
  assert.deepEqual([notFound.cause, notFound.title], ['NOT_FOUND', 'Not found']);
  assert.equal(notFound.type, '/docs#cause-NOT_FOUND');
  assert.match(String(notFound.detail), /no such route: \/nowhere/);
  assert.equal((await said(get('/small', PROBLEM, 'PUT'), 405)).cause, 'METHOD_NOT_ALLOWED');
  await said(get('/small', PROBLEM, 'FROB'), 501);
  const invalid = await said(get('/echo?asset=1', PROBLEM), 400);
  assert.deepEqual(Object.keys(Object((invalid.details as unknown[])[0])), ['path', 'message']);
  await said(get('/throws', PROBLEM), 500);
  await said(get('/unavailable', PROBLEM), 503);
  await said(get('/overloaded', PROBLEM), 503);
  await said(get('/small', [...PROBLEM, 'If-Match: "other"']), 412);
  await said(get('/small', [...PROBLEM, 'Expect: much']), 417);
  await said(get('/small', [...PROBLEM, 'Authorization: Bearer upc_nobody']), 401);
  await said(post('/echo', 'x'.repeat(2_000_000), PROBLEM), 413);
  await said(post('/echo', '{}', [...PROBLEM, 'Content-Type: text/plain']), 415);
  await said(get('/small', [...PROBLEM, 'Host: other']), 400);
  const upgrade = [...PROBLEM, 'Upgrade: websocket', 'Connection: Upgrade'];
  const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
  await said(get('/ws', [...upgrade, key, 'Sec-WebSocket-Version: 8']), 400);
});

test('an answer of a handler with an error status becomes one, with its own fields', async (t) => {
  const state = { status: 503, body: '{"synced":false,"reasons":[]}' };
  const page = { status: 404, body: '<p>no</p>', type: 'text/html' };
  const routes = [
    { ...plain, method: 'GET' as const, path: '/state', handle: () => state },
    { ...plain, method: 'GET' as const, path: '/page', handle: () => page },
  ];
  const { port } = await startNode(t, { routes });
  const problem = isProblem(await ask(port, get('/state', PROBLEM)), 503);
  assert.deepEqual([problem.title, problem.synced], ['Service Unavailable', false]);
  assert.equal((await ask(port, get('/state'))).body, state.body);
  isProblem(await ask(port, get('/page', PROBLEM)), 404);
  assert.equal((await ask(port, get('/page', ['Accept: text/html']))).body, page.body);
});

test('a client that does not name the type, or prefers JSON, gets the usual errors', async (t) => {
  const { port } = await startNode(t, { routes: testRoutes() });
  const typeFor = async (accept: string) =>
    (await ask(port, get('/nowhere', [`Accept: ${accept}`]))).headers['content-type'];
  const json = [
    '*/*',
    'application/*',
    'application/json',
    'text/html, */*;q=0.1',
    'application/json, application/problem+json;q=0.9',
    'application/problem+json;q=0',
    'application/problem+json;q=0.5, */*',
    'application/problem+jsonx',
  ];
  for (const accept of json) assert.equal(await typeFor(accept), 'application/json', accept);
  const problems = [
    'application/json, application/problem+json',
    'APPLICATION/Problem+JSON',
    'application/problem+json, */*;q=0.8',
    'application/json;q=0.9,application/problem+json;q=1',
  ];
  for (const accept of problems) {
    assert.equal(await typeFor(accept), 'application/problem+json', accept);
  }
  const { headers, body } = await ask(port, get('/nowhere'));
  assert.deepEqual(Object.keys(JSON.parse(body)), ['cause', 'message']);
  assert.equal(headers.vary, 'Accept', 'a cache keeps the forms apart');
});

function policyOf(answer: RawAnswer, name: 'ratelimit' | 'ratelimit-policy') {
  const [first, ...more] = parseList(answer.headers[name] ?? '');
  assert.deepEqual(more, []);
  // trust: neither field holds inner lists
  const [policy, parameters] = first as Item;
  return [policy, Object.fromEntries(parameters)];
}

test('the limits are structured fields, and agree with Retry-After', async (t) => {
  const clock = new HandClock();
  const options = {
    limitLoopback: true,
    reads: { perSecond: 0.5, burst: 3 },
    launches: { perSecond: 0.5, burst: 30 },
  };
  const { port } = await startNode(t, { routes: testRoutes(), options, clock });
  const read = () => ask(port, get('/small', PROBLEM));
  for (const left of [2, 1, 0]) {
    const answer = await read();
    assert.deepEqual(policyOf(answer, 'ratelimit-policy'), ['read', { q: 3, w: 6 }]);
    assert.deepEqual(policyOf(answer, 'ratelimit'), ['read', { r: left, t: 2 }]);
  }
  const refused = await read();
  assert.deepEqual(policyOf(refused, 'ratelimit'), ['read', { r: 0, t: 2 }]);
  assert.equal(refused.headers['retry-after'], '2');
  const problem = isProblem(refused, 429);
  assert.deepEqual(problem['violated-policies'], ['read']);
  assert.match(String(problem.type), /http-problem-types#quota-exceeded$/);
  await clock.advance(1_500);
  assert.deepEqual(policyOf(await read(), 'ratelimit'), ['read', { r: 0, t: 1 }]);
  await clock.advance(6_000);
  const launch = await ask(port, post('/launch', ''));
  assert.deepEqual(policyOf(launch, 'ratelimit-policy'), ['launch', { q: 30, w: 60 }]);
  assert.deepEqual(policyOf(launch, 'ratelimit'), ['launch', { r: 29, t: 2 }]);
});

test('a full bucket has nothing to wait for', async (t) => {
  const { port } = await startNode(t, { routes: testRoutes() });
  const answer = await ask(port, get('/small'));
  assert.deepEqual(policyOf(answer, 'ratelimit'), ['read', { r: 200, t: 0 }]);
  assert.deepEqual(policyOf(answer, 'ratelimit-policy'), ['read', { q: 200, w: 2 }]);
});
