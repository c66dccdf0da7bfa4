/** Answers of raw bytes under a name of their own, as images by content id are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type from 'typebox';
import type { Route } from '../../../src/api/gateway/port.ts';
import { route } from '../../../src/api/gateway/route.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { startNode } from './node.ts';
import { ask, get, post, RawConnection } from './raw.ts';
import { plain } from './routes.ts';

/** Every byte there is, and more than a connection takes at once. */
const BYTES = Buffer.from(Array.from({ length: 600_000 }, (_, at) => at % 256));
const FOREVER = 'public, max-age=31536000, immutable';

const image = (name: string, more: Partial<Route> = {}): Route => ({
  ...route({
    ...plain,
    method: 'GET',
    path: `/${name}/:cid`,
    params: Type.Object({ cid: Type.String({ pattern: '^[a-z2-7]{3,59}$' }) }),
    etag: true,
    handle: async ({ params: { cid } }) => ({
      body: BYTES,
      type: 'image/png',
      headers: { 'Cache-Control': FOREVER, 'X-Content-Type-Options': 'nosniff' },
      tag: cid,
    }),
  }),
  ...more,
});

const refusal = new Failure('SERVER_ERROR', 'the ledger refused it', { reason: 'INPUT_SPENT' });
const elsewhere = new Failure('ASSET_NOT_FOUND', 'no such token', { status: 500 });

const ROUTES: Route[] = [
  image('ipfs'),
  image('zipped', { gzip: true, path: '/zipped/:cid/:more' }),
  image('badtag', { handle: () => ({ body: 'x', tag: 'a"b' }) }),
  { ...plain, method: 'POST', path: '/submit', handle: () => refusal },
  { ...plain, method: 'POST', path: '/order', handle: () => elsewhere },
];

test('bytes arrive as they are, with type, tag and how long they last', async (t) => {
  const { port } = await startNode(t, { routes: ROUTES });
  const answer = await ask(port, get('/ipfs/bafk', ['Accept-Encoding: gzip']));
  assert.equal(answer.status, 200);
  assert.ok(Buffer.from(answer.body, 'latin1').equals(BYTES));
  assert.equal(answer.headers['content-type'], 'image/png');
  assert.equal(answer.headers['content-encoding'], undefined);
  assert.equal(answer.headers['cache-control'], FOREVER);
  assert.equal(answer.headers.etag, '"bafk"');
  const head = await ask(port, get('/ipfs/bafk', [], 'HEAD'));
  assert.deepEqual([head.status, head.headers['content-length']], [200, '600000']);
});

test('a client with the same bytes gets 304, with the same tag and headers', async (t) => {
  const { port } = await startNode(t, { routes: ROUTES });
  for (const held of ['"bafk"', 'W/"bafk"', '"other", "bafk"', '*']) {
    const answer = await ask(port, get('/ipfs/bafk', [`If-None-Match: ${held}`]));
    assert.deepEqual([answer.status, answer.body], [304, ''], held);
    assert.equal(answer.headers.etag, '"bafk"');
    assert.equal(answer.headers['cache-control'], FOREVER);
  }
  assert.equal((await ask(port, get('/ipfs/bafk', ['If-None-Match: "bafy"']))).status, 200);
});

test('a tag of a body that may be gzipped is weak', async (t) => {
  const { port } = await startNode(t, { routes: ROUTES });
  const zipped = await ask(port, get('/zipped/bafk/x', ['Accept-Encoding: gzip']));
  assert.equal(zipped.headers.etag, 'W/"bafk"');
  assert.equal(zipped.headers['content-encoding'], 'gzip');
  assert.equal((await ask(port, get('/zipped/bafk/x'))).headers.etag, 'W/"bafk"');
});

test('a handler that gives a tag no header can hold is at fault', async (t) => {
  const { port, faults } = await startNode(t, { routes: ROUTES });
  assert.equal((await ask(port, get('/badtag/bafk'))).status, 500);
  assert.equal(faults.length, 1);
});

test('path parameters are checked as the route says', async (t) => {
  const { port, faults } = await startNode(t, { routes: ROUTES });
  assert.equal((await ask(port, get('/ipfs/%62afk'))).status, 200);
  const hostile = ['BAFK', '..%2F..%2Fetc', '%00', '%zz', '%c3', '%', 'a'.repeat(60), '%20'];
  for (const cid of hostile) {
    const answer = await ask(port, get(`/ipfs/${cid}`));
    const { cause, details } = JSON.parse(answer.body);
    assert.deepEqual([answer.status, cause], [400, 'INVALID_PARAMS'], cid);
    assert.equal(details[0].path, 'path.cid');
  }
  for (const path of ['/ipfs', '/ipfs/', '/ipfs/bafk/more', '/ipfs/../submit']) {
    assert.equal((await ask(port, get(path))).status, 404, path);
  }
  assert.deepEqual(faults, []);
});

test('a failure may carry a reason, and another status than the usual one', async (t) => {
  const { port } = await startNode(t, { routes: ROUTES });
  const connection = new RawConnection(port);
  const refused = await connection.ask(post('/submit', '{}'));
  assert.equal(refused.status, 500);
  assert.deepEqual(JSON.parse(refused.body), {
    cause: 'SERVER_ERROR',
    message: 'the ledger refused it',
    reason: 'INPUT_SPENT',
    retry: false,
  });
  const unknown = await connection.ask(post('/order', '{}'));
  assert.equal(unknown.status, 500);
  assert.deepEqual(JSON.parse(unknown.body), {
    cause: 'ASSET_NOT_FOUND',
    message: 'no such token',
    retry: false,
  });
  assert.equal(new Failure('ASSET_NOT_FOUND', 'usually').status, 404);
  connection.socket.destroy();
});
