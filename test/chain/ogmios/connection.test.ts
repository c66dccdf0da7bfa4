/** One connection to a server that a test answers for by hand, message by message. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';
import {
  type Listener,
  MAX_REQUESTS,
  NodeConnection,
} from '../../../src/chain/ogmios/connection.ts';
import { NodeFault, NodeRefusal } from '../../../src/chain/ogmios/fault.ts';
import { DEFAULT_LIMITS } from '../../../src/chain/ogmios/messages.ts';
import { Fault } from '../../../src/engine/runtime/assert.ts';
import { type Clock, systemClock } from '../../../src/engine/runtime/clock.ts';
import { HandClock } from '../../support/handClock.ts';
import { until } from '../../support/until.ts';

const { answerMs } = DEFAULT_LIMITS;

interface Request {
  readonly method: string;
  readonly params?: unknown;
  readonly id?: number;
}

interface Scene {
  readonly connection: NodeConnection;
  readonly socket: WebSocket;
  /** Requests received by the server. */
  readonly requests: Request[];
  readonly ends: NodeFault[];
  /** Answers the request at this position. */
  answer(at: number, answer: object): void;
}

async function listen(scope: TestContext): Promise<{ server: WebSocketServer; url: string }> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  scope.after(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { server, url: `ws://127.0.0.1:${address.port}` };
}

async function connected(
  scope: TestContext,
  { clock = systemClock, onBlock = () => {} }: { clock?: Clock } & Listener = {},
): Promise<Scene> {
  const { server, url } = await listen(scope);
  const accepted = once(server, 'connection');
  const ends: NodeFault[] = [];
  const listener = { onBlock, onEnd: (fault: NodeFault) => void ends.push(fault) };
  const connection = await NodeConnection.open({ url, limits: DEFAULT_LIMITS, clock }, listener);
  const [socket] = await accepted;
  const requests: Request[] = [];
  socket.on('message', (data: unknown) => requests.push(JSON.parse(String(data))));
  scope.after(() => connection.end(new NodeFault('closed', 'the test is over')));
  const answer = (at: number, body: object) => {
    const { method, id } = requests[at] ?? {};
    socket.send(JSON.stringify({ jsonrpc: '2.0', method, ...body, id }));
  };
  return { connection, socket, requests, ends, answer };
}

function isFault(cause: string) {
  return (error: unknown) => error instanceof NodeFault && error.fault === cause;
}

test('answers go to the requests whose id they repeat, whatever their order', async (t) => {
  const { connection, requests, answer } = await connected(t);
  const asked = ['aa', 'bb', 'cc'].map((id) => connection.hasTransaction(id));
  await until('all requests came', () => requests.length === 3);
  assert.equal(new Set(requests.map(({ id }) => id)).size, 3);
  for (const at of [2, 0, 1]) answer(at, { result: at === 2 });
  assert.deepEqual(await Promise.all(asked), [false, false, true]);
});

test('a refusal keeps code, words and exact numbers, and the connection stays', async (t) => {
  const { connection, socket, requests, answer } = await connected(t);
  const submitted = connection.submitTransaction('80');
  await until('the request came', () => requests.length === 1);
  assert.deepEqual(requests[0]?.params, { transaction: { cbor: '80' } });
  const { id } = requests[0] ?? {};
  const data = '{"lovelace":1152921504606846977}';
  const error = `{"code":3123,"message":"not conserved","data":${data}}`;
  socket.send(`{"jsonrpc":"2.0","method":"submitTransaction","error":${error},"id":${id}}`);
  await assert.rejects(submitted, (refusal) => {
    assert.ok(refusal instanceof NodeRefusal);
    assert.deepEqual([refusal.code, refusal.message], [3123, 'not conserved']);
    assert.deepEqual(refusal.data, { lovelace: '1152921504606846977' });
    return true;
  });
  const tip = connection.networkTip();
  await until('the next request came', () => requests.length === 2);
  answer(1, { result: 'origin' });
  assert.equal(await tip, 'origin');
});

test('a result of the wrong kind fails its request alone', async (t) => {
  const { connection, requests, ends, answer } = await connected(t);
  const waits = connection.hasTransaction('aa');
  await until('the request came', () => requests.length === 1);
  answer(0, { result: 'perhaps' });
  await assert.rejects(waits, { kind: 'unreadableMessage' });
  assert.deepEqual(ends, []);
});

const UNEXPECTED: readonly (readonly [string, string, object])[] = [
  ['an answer to no request', 'garbage', { result: true, id: 99 }],
  ['a block that was not asked for', 'garbage', { method: 'nextBlock', result: {} }],
  ['a fault of the protocol, which names no request', 'garbage', { error: { code: -32700 } }],
  ['an answer without result and error', 'unreadable', { id: 1 }],
  ['an error that is none', 'unreadable', { error: 'no', id: 1 }],
];

for (const [what, cause, message] of UNEXPECTED) {
  test(`${what} ends the connection, and open requests with it`, async (t) => {
    const { connection, socket, requests, ends } = await connected(t);
    const open = [connection.networkTip(), connection.acquireChangedMempool()];
    await until('the requests came', () => requests.length === 2);
    socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
    for (const request of open) await assert.rejects(request, isFault(cause));
    await assert.rejects(connection.ended, isFault(cause));
    await assert.rejects(connection.networkTip(), isFault(cause));
    assert.equal(ends.length, 1);
  });
}

test('a request beyond the limit fails at once, and there is room after an answer', async (t) => {
  const { connection, requests, answer } = await connected(t);
  const open = Array.from({ length: MAX_REQUESTS }, () => connection.networkTip());
  await assert.rejects(connection.networkTip(), isFault('stalled'));
  await until('all but that one came', () => requests.length === MAX_REQUESTS);
  answer(0, { result: 'origin' });
  await open[0];
  const next = connection.networkTip();
  await until('the next one came', () => requests.length === MAX_REQUESTS + 1);
  for (let at = 1; at <= MAX_REQUESTS; at += 1) answer(at, { result: 'origin' });
  await Promise.all([...open, next]);
});

test('no answer in time ends the connection; a changed mempool may take long', async (t) => {
  const clock = new HandClock();
  const { connection, ends } = await connected(t, { clock });
  const changed = assert.rejects(connection.acquireChangedMempool(), isFault('stalled'));
  await clock.advance(10 * answerMs);
  assert.deepEqual(ends, []);
  const tip = assert.rejects(connection.networkTip(), /queryNetwork\/tip within 20000 ms/);
  await clock.advance(answerMs - 1);
  assert.deepEqual(ends, []);
  await clock.advance(1);
  await Promise.all([changed, tip]);
});

test('what a listener throws ends the connection', async (t) => {
  const { connection, socket, ends } = await connected(t, {
    onBlock() {
      throw new Fault('unreadableMessage', 'a block of no era');
    },
  });
  connection.nextBlocks(1);
  socket.send('{"jsonrpc":"2.0","method":"nextBlock","result":{}}');
  await assert.rejects(connection.ended, isFault('unreadable'));
  assert.match(String(ends[0]?.message), /a block of no era in \{"jsonrpc"/);
});

test('an end of ours is a close frame; a fault ends the socket without one', async (t) => {
  const calm = await connected(t);
  const closed = once(calm.socket, 'close');
  calm.connection.end(new NodeFault('closed', 'it is no longer needed'));
  assert.equal((await closed)[0], 1000);
  const faulty = await connected(t);
  const cut = once(faulty.socket, 'close');
  faulty.socket.send('{');
  assert.equal((await cut)[0], 1006);
  await assert.rejects(faulty.connection.ended, isFault('garbage'));
});

test('a server that does not answer our close frame is left', async (t) => {
  const server = createServer();
  const raw = new Promise<Duplex>((resolve) => {
    server.on('upgrade', ({ headers }, socket: Duplex) => {
      const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
      const accept = createHash('sha1').update(key).digest('base64');
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
          `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
      );
      socket.on('error', () => {}).resume();
      resolve(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => void server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const clock = new HandClock();
  const url = `ws://127.0.0.1:${address.port}`;
  const connection = await NodeConnection.open({ url, limits: DEFAULT_LIMITS, clock });
  const socket = await raw;
  let isLeft = false;
  socket.on('end', () => {
    isLeft = true;
    socket.destroy();
  });
  connection.end(new NodeFault('closed', 'it is no longer needed'));
  await clock.advance(answerMs);
  // The socket's own limit for this is half a minute.
  await until('the socket ended', () => isLeft, 20_000);
});

test('the reason of a server that closes at once is kept', async (t) => {
  const { server, url } = await listen(t);
  server.on('connection', (socket) => socket.close(1011, 'Connection with the node lost.'));
  const place = { url, limits: DEFAULT_LIMITS, clock: systemClock };
  const asked = NodeConnection.open(place).then((connection) => connection.networkTip());
  await assert.rejects(asked, /1011 Connection with the node lost/);
});

test('an address that is none or does not answer is named without its user', async () => {
  for (const url of ['ftp://someone:secret@x', 'ws://someone:secret@127.0.0.1:1', 'no address']) {
    const opening = NodeConnection.open({ url, limits: DEFAULT_LIMITS, clock: systemClock });
    await assert.rejects(opening, (fault) => {
      assert.ok(fault instanceof NodeFault);
      assert.equal(fault.fault, 'unreachable');
      assert.doesNotMatch(fault.message, /secret|someone/);
      return true;
    });
  }
});
