/** Clients that try to make the node spend memory or time on them. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { encode } from '@msgpack/msgpack';
import { readFrame } from '../../../src/api/ws/clientFrame.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { until } from '../../support/until.ts';
import { Client } from './client.ts';
import { startNode } from './node.ts';
import { get, RawConnection } from './raw.ts';
import { BIG, testRoutes } from './routes.ts';

const REQUESTS = 500;

/** Headers of arrays of 33 million items, one in the other. */
function bomb(): Buffer {
  const bytes = Buffer.alloc(100);
  for (let i = 0; i < 20; i++) {
    bytes[5 * i] = 0xdd;
    bytes.writeUInt32BE(0x01ffffff, 5 * i + 1);
  }
  return bytes;
}

function read(bytes: Uint8Array) {
  return readFrame(new Uint8Array(bytes).buffer, true, 500);
}

test('MessagePack that declares more than it holds is not decoded', async (t) => {
  const before = process.memoryUsage().rss;
  const array = (size: number) => [0xdc, size >> 8, size & 0xff];
  const nested = (depth: number) => {
    let data: unknown = null;
    for (let i = 0; i < depth; i++) data = [data];
    return encode({ messageType: 'ping', requestId: 1, data });
  };
  const bad = [
    bomb(),
    Buffer.from([0xdf, 0xff, 0xff, 0xff, 0xff]),
    Buffer.from([0xdb, 0xff, 0xff, 0xff, 0xff, 0x61]),
    Buffer.from([0xdd]),
    Buffer.from([...array(1_200), ...Array.from({ length: 1_200 }, () => 0)]),
    Buffer.from([0xc0, 0xc0]),
    encode({ messageType: 'ping', data: Buffer.alloc(4) }),
    encode({ messageType: 'ping', data: new Date() }),
    nested(8),
  ];
  for (const bytes of bad)
    assert(read(bytes) instanceof Failure, Buffer.from(bytes).toString('hex'));
  const grown = process.memoryUsage().rss - before;
  assert(grown < 100 * 1_048_576, `grown by ${grown} bytes`);
  assert.deepEqual(read(nested(7)), { kind: 'ping', requestId: 1 });

  const { port } = await startNode(t);
  const client = await Client.open(port, { protocols: ['msgpack'] });
  client.socket.send(bomb());
  assert.equal((await client.frame({ event: 'Error' })).data.cause, 'INVALID_PARAMS');
});

test('every kind of MessagePack that JSON has is read', () => {
  const text = ['', 'a'.repeat(31), 'b'.repeat(40), 'c'.repeat(300), '\u00e5'.repeat(20_000)];
  const numbers = [0, 127, 128, 300, 70_000, 2 ** 40, -1, -32, -33, -200, -40_000, -(2 ** 40), 1.5];
  const wide = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`k${i}`, i]));
  const data = {
    text,
    numbers,
    wide,
    nothing: null,
    yes: true,
    no: false,
    rows: text.concat(text),
  };
  const topic = 'T';
  const parsed = read(encode({ messageType: 'subscribe', requestId: 'r', topic, data }));
  assert(!(parsed instanceof Failure) && parsed.kind === 'subscribe');
  assert.deepEqual(parsed.subscriptions[0]?.data, data);
});

test('more topics in a frame than a socket may hold get one Error', async (t) => {
  const { port } = await startNode(t);
  const client = await Client.open(port);
  const topics = Array.from({ length: 30_000 }, () => 0);
  client.send({ messageType: 'subscribe', requestId: 'many', topics });
  client.send({ messageType: 'ping', requestId: 'p' });
  await client.frame({ event: 'Pong' });
  const told = client.frames.map(({ requestId, event, data }) => [requestId, event, data.cause]);
  assert.deepEqual(told[0], ['many', 'Error', 'LIMIT_EXCEEDED']);
  assert.equal(told.length, 2);
});

test('a socket may wait for so many positions', async (t) => {
  const { port } = await startNode(t, { options: { maxWaitingEach: 2, positionWaitMs: 60_000 } });
  const [greedy, modest] = [await Client.open(port), await Client.open(port)];
  const since = { epoch: '1-aaaa', seq: 99 };
  for (const id of ['a', 'b', 'c']) greedy.subscribe(id, 'Counter', { name: 'a' }, { since });
  modest.subscribe('d', 'Counter', { name: 'a' }, { since });
  assert.equal((await greedy.frame({ event: 'Error' })).requestId, 'c');
  assert.deepEqual([greedy.frames.length, modest.frames.length], [1, 0]);
  greedy.send({ messageType: 'unsubscribe', requestId: 'a' });
  greedy.subscribe('e', 'Counter', { name: 'a' }, { since });
  greedy.send({ messageType: 'ping', requestId: 'p' });
  await greedy.frame({ event: 'Pong' });
  assert.equal(greedy.of('e').length, 0);
});

test('endless requests with unread answers cost one answer', async (t) => {
  const { port, faults } = await startNode(t, { routes: testRoutes() });
  const before = process.memoryUsage().rss;
  const socket = connect(port, '127.0.0.1').pause();
  socket.on('error', () => {});
  let closed = false;
  socket.on('close', () => {
    closed = true;
  });
  socket.write(get('/big').repeat(REQUESTS));
  await new Promise((resolve) => setTimeout(resolve, 500));
  const grown = process.memoryUsage().rss - before;
  assert(grown < 50 * 1_048_576, `grown by ${grown} bytes`);
  // The client gets correct answers to its first requests; then the connection ends.
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  socket.resume();
  await until('closed', () => closed);
  const bodies = received.split(/HTTP[\s\S]*?\r\n\r\n/).slice(1);
  assert(bodies.length > 0);
  for (const body of bodies.slice(0, -1)) assert.equal(body, BIG);
  assert(BIG.startsWith(bodies.at(-1) ?? '?'));
  assert.deepEqual(faults, []);
});

test('a client that reads late gets long answers whole, one after the other', async (t) => {
  const { port } = await startNode(t, { routes: testRoutes() });
  const client = new RawConnection(port);
  for (let round = 0; round < 3; round++) {
    client.socket.pause();
    setTimeout(() => client.socket.resume(), 50);
    const answer = await client.ask(get('/bigger'));
    assert.deepEqual([answer.status, answer.body === BIG.repeat(8)], [200, true]);
  }
  client.socket.destroy();
});

test('clients that leave in the middle of a long answer do no harm', async (t) => {
  const { port, faults } = await startNode(t, { routes: testRoutes() });
  let left = 0;
  for (let i = 0; i < 20; i++) {
    const socket = connect(port, '127.0.0.1').pause();
    socket.on('error', () => {});
    socket.on('close', () => {
      left += 1;
    });
    socket.write(get('/bigger'));
    setTimeout(() => socket.resetAndDestroy(), 5 * i);
  }
  await until('all have left', () => left === 20);
  const client = new RawConnection(port);
  assert.equal((await client.ask(get('/small'))).status, 200);
  client.socket.destroy();
  assert.deepEqual(faults, []);
});
