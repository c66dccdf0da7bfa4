/** `/mcp` over HTTP by the SDK's own client: tools, unsigned transactions, the guard, the price. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import Type from 'typebox';
import { openapi } from '../../../src/api/docs/openapi.ts';
import type { Route } from '../../../src/api/gateway/port.ts';
import { mcpRoute } from '../../../src/api/mcp/routes.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { startNode } from '../gateway/node.ts';
import { ask, get, post } from '../gateway/raw.ts';
import { plain } from '../gateway/routes.ts';

const JSON_ANSWER = { 200: { description: 'It', schema: Type.Object({}) } };
const common = { ...plain, answers: JSON_ANSWER, tag: 'Trades' };

const routes: Route[] = [
  {
    ...common,
    method: 'GET',
    path: '/costly/:name',
    operationId: 'costly',
    query: Type.Object({
      cost: Type.Integer({ minimum: 1 }),
      ids: Type.Optional(Type.Array(Type.String({ pattern: '^[a-z]+$' }))),
    }),
    cost: ({ query }) => Number(Reflect.get(Object(query), 'cost')),
    handle: ({ query, params }) => ({ body: JSON.stringify({ query, params }) }),
  },
  {
    ...common,
    method: 'POST',
    path: '/build',
    operationId: 'build',
    rate: 'build',
    body: Type.Object({ amount: Type.String(), note: Type.Optional(Type.String()) }),
    handle: async ({ body }) =>
      Reflect.get(Object(body), 'amount') === '0'
        ? new Failure('MIN_TRADE_AMOUNT', 'too little')
        : { body: JSON.stringify(body) },
  },
  { ...common, method: 'GET', path: '/secret', operationId: 'secret', needsKey: true, handle },
  { ...common, tag: 'Devnet', method: 'GET', path: '/devnet', operationId: 'devnet', handle },
];

function handle() {
  return { body: '{}' };
}

async function start(t: TestContext, burst = 100) {
  const document = openapi({ title: 'test', version: '1' }, routes);
  const mcp = mcpRoute({ version: '1', openapi: () => document, routes });
  const node = await startNode(t, {
    routes: [...routes, mcp],
    options: {
      limitLoopback: true,
      reads: { perSecond: 0.001, burst },
      builds: { perSecond: 0.001, burst: 2 },
    },
  });
  const client = new McpClient({ name: 'test', version: '1' });
  await client.connect(
    // trust: the SDK's class differs from its own interface in an optional field
    new StreamableHTTPClientTransport(new URL(`${node.url}/mcp`)) as never,
  );
  t.after(() => client.close());
  const call = async (name: string, given: Record<string, unknown>) => {
    const { content, isError } = await client.callTool({ name, arguments: given });
    const [first] = Array.isArray(content) ? content : [];
    return { isError, said: JSON.parse(String(first?.text)) };
  };
  return { ...node, client, call };
}

const message = (method: string, params: object = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

test('lists what reads or builds, and calls it as a request of its own is called', async (t) => {
  const { client, call } = await start(t);
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name).sort(), ['build', 'costly']);
  const costly = await call('costly', { name: 'a b/c', cost: 2 });
  assert.deepEqual(costly, {
    isError: false,
    said: { query: { cost: 2 }, params: { name: 'a b/c' } },
  });
  const listed = await call('costly', { name: 'a', cost: 1, ids: ['x', 'y'] });
  assert.deepEqual(listed.said.query.ids, ['x', 'y']);
  const bad = await call('costly', { name: 'a', cost: 0 });
  assert.deepEqual([bad.isError, bad.said.details[0].path], [true, 'query.cost']);
  const unknown = await call('costly', { name: 'a', cost: 1, extra: 1 });
  assert.deepEqual(unknown.said.details[0].path, 'arguments.extra');
  assert.equal((await call('costly', { cost: 1 })).said.details[0].path, 'arguments.name');
  assert.equal((await call('build', { body: { amount: 1 } })).said.details[0].path, 'body.amount');
  await assert.rejects(client.callTool({ name: 'secret' }), /no tool secret/);
});

test('costs what the routes behind it cost, and is refused as they are', async (t) => {
  const { call, port } = await start(t, 20);
  const left = async () => {
    const { headers } = await ask(
      port,
      post('/mcp', message('ping')).replace('Host: test', 'Host: 127.0.0.1'),
    );
    return Number(headers['ratelimit-remaining']);
  };
  const before = await left();
  await call('costly', { name: 'a', cost: 6 });
  // The call, and the question after it.
  assert.equal(await left(), before - 6 - 1);
  assert.equal((await call('build', { body: { amount: '0' } })).said.cause, 'MIN_TRADE_AMOUNT');
  assert.equal((await call('build', { body: { amount: '5' } })).isError, false);
  assert.equal((await call('build', { body: { amount: '5' } })).isError, false);
  const third = await call('build', { body: { amount: '5' } });
  assert.deepEqual([third.isError, third.said.cause], [true, 'RATE_LIMITED']);
  await call('costly', { name: 'a', cost: 50 }).catch(() => {});
  const refused = await ask(
    port,
    post('/mcp', message('ping')).replace('Host: test', 'Host: 127.0.0.1'),
  );
  assert.equal(refused.status, 429);
});

test('answers no page of another site, and under no other host name', async (t) => {
  const { port } = await start(t);
  const to = (lines: readonly string[], host = `127.0.0.1:${port}`) =>
    ask(port, post('/mcp', message('ping'), lines).replace('Host: test', `Host: ${host}`));
  assert.equal((await to([])).status, 200);
  assert.equal((await to([`Origin: http://127.0.0.1:${port}`])).status, 200);
  assert.equal((await to(['Origin: https://evil.example'])).status, 403);
  assert.equal((await to(['Origin: null'])).status, 403);
  assert.equal((await to([], 'evil.example')).status, 403);
});

test('takes one message at a time, and nothing that is none', async (t) => {
  const { port } = await start(t);
  const to = (body: string) =>
    ask(port, post('/mcp', body).replace('Host: test', 'Host: 127.0.0.1'));
  assert.equal((await to(`[${message('ping')},${message('ping')}]`)).status, 400);
  assert.equal((await to('{"id":1}')).status, 400);
  assert.equal((await to('{"')).status, 400);
  assert.equal(JSON.parse((await to(message('nope'))).body).error.code, -32601);
  assert.equal((await to('{"jsonrpc":"2.0","method":"notifications/initialized"}')).status, 202);
  assert.equal((await ask(port, get('/mcp'))).status, 405);
});
