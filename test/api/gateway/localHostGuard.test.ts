/** Routes that answer only callers on this host, such as the routes of a devnet. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Route } from '../../../src/api/gateway/port.ts';
import { startNode } from './node.ts';
import { ask } from './raw.ts';
import { plain } from './routes.ts';

const MINE: Route = {
  ...plain,
  method: 'POST',
  path: '/mine',
  localOnly: true,
  handle: () => ({ body: '{}' }),
};

const OWN = [
  ['localhost', null],
  ['localhost:8080', null],
  ['127.0.0.1:8080', 'http://127.0.0.1:8080'],
  ['127.9.9.9', null],
  ['[::1]:8080', 'http://[::1]:8080'],
  ['[::ffff:127.0.0.1]:8080', null],
  ['LOCALHOST:8080', 'http://localhost:8080'],
  ['market.example', 'https://market.example'],
  ['market.example:443', null],
  ['localhost:8080', 'https://market.example'],
] as const;

const FOREIGN = [
  ['evil.example', null],
  ['evil.example:8080', 'http://evil.example:8080'],
  ['localhost:8080', 'http://evil.example'],
  ['localhost:8080', 'null'],
  ['localhost:8080', 'http://localhost:3000'],
  ['localhost:8080', ''],
  ['market.example', 'http://market.example'],
  ['market.example:8443', null],
  ['localhost.evil.example', null],
  ['127.evil.example', null],
  ['127.evil.example:8080', 'http://127.evil.example:8080'],
  ['127.0.0.1.evil.example', null],
  ['127-0-0-1.evil.example', null],
  ['[::1.2.3.4]', null],
  ['10.0.0.1', null],
  ['', null],
] as const;

/** No names of hosts: refused on every route. */
const MALFORMED = ['localhost@evil.example', 'localhost/.evil.example', 'localhost evil.example'];

function request(host: string, origin: string | null): string {
  const lines = origin === null ? [] : [`Origin: ${origin}`];
  return ['POST /mine HTTP/1.1', `Host: ${host}`, 'Content-Length: 0', ...lines, '', ''].join(
    '\r\n',
  );
}

test('a route of this host refuses pages of other sites, and names of other hosts', async (t) => {
  const options = { publicUrl: 'https://market.example/app' };
  const { port } = await startNode(t, { routes: [MINE], options });
  for (const [host, origin] of OWN) {
    const answer = await ask(port, request(host, origin));
    assert.equal(answer.status, 200, `${host}, ${origin}: ${answer.body}`);
  }
  for (const [host, origin] of FOREIGN) {
    const answer = await ask(port, request(host, origin));
    const told = `${host}, ${origin}: ${answer.body}`;
    assert.equal(answer.status, 403, told);
    assert.equal(JSON.parse(answer.body).cause, 'FORBIDDEN', told);
  }
  for (const host of MALFORMED) {
    assert.equal((await ask(port, request(host, null))).status, 400, host);
  }
});

test('without a public address, a route of this host answers on loopback only', async (t) => {
  const { port } = await startNode(t, { routes: [MINE] });
  assert.equal((await ask(port, request('127.0.0.1', null))).status, 200);
  assert.equal((await ask(port, request('market.example', null))).status, 403);
});
