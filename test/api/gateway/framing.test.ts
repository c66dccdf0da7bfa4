/**
 * Requests that can be read in two ways, with a request behind them. The second request must never
 * be executed: a proxy in front of us may have taken it for a body.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Route } from '../../../src/api/gateway/port.ts';
import { until } from '../../support/until.ts';
import { startNode } from './node.ts';
import { get, post, RawConnection } from './raw.ts';
import { plain } from './routes.ts';

const CHUNKS = '2\r\n{}\r\n0\r\n\r\n';
const MINE = post('/mine', '{}');
const UPGRADE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

function head(method: string, path: string, lines: readonly string[]): string {
  return [`${method} ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n');
}

function withBody(lines: readonly string[], body: string): string {
  return head('POST', '/read', ['Host: a', 'Content-Type: application/json', ...lines]) + body;
}

/** Our own check refuses these with 400, where nothing is behind them yet. */
const AMBIGUOUS: readonly (readonly [string, string])[] = [
  [
    'two Content-Length',
    withBody(['Content-Length: 2', `Content-Length: ${2 + MINE.length}`], '{}'),
  ],
  ['two equal Content-Length', withBody(['Content-Length: 2', 'Content-Length: 2'], '{}')],
  ['an empty Content-Length', withBody(['Content-Length:'], '')],
  ['an empty Transfer-Encoding', withBody(['Transfer-Encoding:', 'Content-Length: 2'], '{}')],
  ['two Host on POST', withBody(['Host: b', 'Content-Length: 2'], '{}')],
  ['two Host on GET', head('GET', '/small', ['Host: a', 'Host: b'])],
  ['two Host on an unknown path', head('GET', '/nowhere', ['Host: a', 'Host: b'])],
  ['two Host on OPTIONS', head('OPTIONS', '/read', ['Host: a', 'Host: b'])],
  ['two Host on an upgrade', head('GET', '/ws', ['Host: a', 'Host: b', ...UPGRADE])],
  ['Transfer-Encoding: identity', withBody(['Transfer-Encoding: identity'], '')],
  ['Transfer-Encoding: xchunked', withBody(['Transfer-Encoding: xchunked'], CHUNKS)],
  [
    'Transfer-Encoding: chunked, chunked',
    withBody(['Transfer-Encoding: chunked, chunked'], CHUNKS),
  ],
  ['Transfer-Encoding: gzip, chunked', withBody(['Transfer-Encoding: gzip, chunked'], CHUNKS)],
  [
    'two Transfer-Encoding',
    withBody(['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], CHUNKS),
  ],
  ['Transfer-Encoding on GET', head('GET', '/small', ['Host: a', 'Transfer-Encoding: identity'])],
];

/** The library decides these, or we do after it has: any answer, and the connection ends. */
const REFUSED: readonly (readonly [string, string])[] = [
  [
    'Transfer-Encoding and Content-Length',
    withBody(['Transfer-Encoding: chunked', 'Content-Length: 2'], CHUNKS),
  ],
  ['a chunk extension', withBody(['Transfer-Encoding: chunked'], '2;name=x\r\n{}\r\n0\r\n\r\n')],
  [
    'a chunk extension of hex digits',
    withBody(['Transfer-Encoding: chunked'], '2;a=b\r\n{}\r\n0\r\n\r\n'),
  ],
  [
    'an extension of the last chunk',
    withBody(['Transfer-Encoding: chunked'], '2\r\n{}\r\n0;a\r\n\r\n'),
  ],
  ['a trailer', withBody(['Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\nX: y\r\n\r\n')],
  ['chunked, and whole', withBody(['Transfer-Encoding: chunked'], CHUNKS)],
  ['chunked on GET', head('GET', '/small', ['Host: a', 'Transfer-Encoding: chunked']) + CHUNKS],
  ['no Host', head('GET', '/small', [])],
  ['Content-Length: +2', withBody(['Content-Length: +2'], '{}')],
  ['lines that end with LF', 'GET /small HTTP/1.1\nHost: a\n\n'],
];

/** The library waits for more of these; its own time limit of 10 to 14 s ends the connection. */
const UNFINISHED: readonly (readonly [string, string])[] = [
  ['a leading CRLF', '\r\n'],
  ['a folded header', head('GET', '/small', ['Host: a', 'X-A: b', ' c'])],
  ['a space before the colon', head('GET', '/small', ['Host : a'])],
];

function routes() {
  let mined = 0;
  const started: (() => void)[] = [];
  const mine: Route = {
    ...plain,
    method: 'POST',
    path: '/mine',
    exclusive: true,
    async handle() {
      mined += 1;
      await new Promise<void>((resolve) => started.push(resolve));
      return { body: '{"mined":true}' };
    },
  };
  const read: Route = { ...plain, method: 'POST', path: '/read', handle: () => ({ body: '[]' }) };
  const small: Route = { ...plain, method: 'GET', path: '/small', handle: () => ({ body: '{}' }) };
  return { list: [mine, read, small], mined: () => mined, started };
}

/** In one write, at the boundary, and cut within both requests. */
function writesOf(request: string): readonly (readonly string[])[] {
  const both = request + MINE;
  const cuts = [request.length - 1, request.length + 30];
  return [
    [both],
    [request, MINE],
    [both.slice(0, cuts[0]), both.slice(cuts[0], cuts[1]), both.slice(cuts[1])],
  ];
}

interface Sent {
  readonly name: string;
  readonly connection: RawConnection;
}

/** Each request in each way of writing it, all at the same time. */
function sendAll(port: number, requests: typeof AMBIGUOUS): Sent[] {
  return requests.flatMap(([name, request]) =>
    writesOf(request).map((parts) => {
      const connection = new RawConnection(port);
      connection.write(parts);
      return { name: `${name}, in ${parts.length} parts`, connection };
    }),
  );
}

function statusesOf({ received }: RawConnection): string[] {
  return Array.from(received.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status = '']) => status);
}

test('nothing behind an ambiguous request is executed', async (t) => {
  const { list, mined } = routes();
  const { port, faults } = await startNode(t, { routes: list });
  for (const sent of sendAll(port, AMBIGUOUS)) {
    await until(`${sent.name} ends: ${sent.connection.received}`, () => sent.connection.closed);
    for (const status of statusesOf(sent.connection)) assert.equal(status, '400', sent.name);
  }
  assert.equal(mined(), 0);
  assert.deepEqual(faults, []);
});

test('an ambiguous request with nothing behind it is answered 400', async (t) => {
  const { port } = await startNode(t, { routes: routes().list });
  for (const [name, request] of AMBIGUOUS) {
    const connection = new RawConnection(port);
    const answer = await connection.ask(request);
    assert.deepEqual([answer.status, answer.headers.connection], [400, 'close'], name);
    await until(`${name} ends`, () => connection.closed);
  }
});

test('nothing behind what the library refuses, or may misread, is executed', async (t) => {
  const { list, mined } = routes();
  const { port, faults } = await startNode(t, { routes: list });
  for (const sent of sendAll(port, [...REFUSED, ...UNFINISHED])) {
    await until(`${sent.name} ends: ${sent.connection.received}`, () => sent.connection.closed);
    assert(statusesOf(sent.connection).length <= 1, `${sent.name}: ${sent.connection.received}`);
  }
  assert.equal(mined(), 0);
  assert.deepEqual(faults, []);
});

test('a chunked body is read, and its answer ends the connection', async (t) => {
  const { list } = routes();
  const { port } = await startNode(t, { routes: list });
  const connection = new RawConnection(port);
  const answer = await connection.ask(withBody(['Transfer-Encoding: Chunked'], CHUNKS));
  assert.deepEqual([answer.status, answer.headers.connection], [200, 'close']);
  await until('it ends', () => connection.closed);
});

test('an exclusive request with a request behind it is answered or not executed', async (t) => {
  const { list, mined, started } = routes();
  const { port } = await startNode(t, { routes: list });
  const together = new RawConnection(port);
  await together.write([MINE + get('/small')]);
  await until('it ends', () => together.closed);
  assert.deepEqual([together.received, mined()], ['', 0]);
  const apart = new RawConnection(port);
  await apart.write([MINE]);
  await until('it is being executed', () => started.length === 1);
  await apart.write([get('/small'), get('/small')]);
  for (const finish of started) finish();
  await until(`three answers: ${apart.received}`, () => statusesOf(apart).length === 3);
  assert.match(apart.received, /^HTTP\/1.1 200 OK[\s\S]*mined[\s\S]*HTTP/);
  apart.socket.destroy();
  assert.equal(mined(), 1);
});
