import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HandClock } from '../../support/handClock.ts';
import { until } from '../../support/until.ts';
import { Client } from './client.ts';
import { startNode } from './node.ts';
import { ask, get } from './raw.ts';

const HANDSHAKE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

test('the fifth bad frame closes, refused subscriptions never do', async (t) => {
  const { port } = await startNode(t);
  const client = await Client.open(port);
  for (let i = 0; i < 20; i++) client.subscribe(`r${i}`, 'Nothing', {});
  await client.frame({ requestId: 'r19', event: 'Error' });
  const from = client.frames.length;
  for (const bad of ['{', '[]', '{"messageType":"x"}', 'null']) client.send(bad);
  await until('four errors', () => client.frames.length === from + 4);
  assert.equal(client.closeCode, null);
  for (const frame of client.frames.slice(from)) {
    assert.deepEqual([frame.event, frame.data.cause], ['Error', 'INVALID_PARAMS']);
  }
  client.send('"text"');
  await client.closed(4501);
  assert.equal(client.frames.length, from + 5);
});

test('bad frames with time between them are forgiven', async (t) => {
  const clock = new HandClock();
  const { port } = await startNode(t, { options: { badFrameWindowMs: 30 }, clock });
  const client = await Client.open(port);
  for (let i = 1; i <= 12; i++) {
    client.send('{');
    await until('an error', () => client.frames.length === i);
    if (i % 4 === 0) await clock.advance(31);
  }
  assert.equal(client.closeCode, null);
});

test('a frame that is too large is a bad frame', async (t) => {
  const { port } = await startNode(t);
  const client = await Client.open(port);
  for (let i = 0; i < 5; i++) client.send({ messageType: 'ping', requestId: 'x'.repeat(65536) });
  const { cause, message } = (await client.frame({ event: 'Error' })).data;
  assert.deepEqual([cause, /: send several$/.test(String(message))], ['LIMIT_EXCEEDED', true]);
  await client.closed(4501);
});

test('a client that floods is warned, then closed', async (t) => {
  const { port } = await startNode(t, { clock: new HandClock() });
  const client = await Client.open(port);
  for (let i = 0; i < 70; i++) client.send({ messageType: 'ping', requestId: i });
  const error = await client.frame({ event: 'Error' });
  assert.deepEqual([error.data.cause, error.data.retry], ['RATE_LIMITED', true]);
  assert.equal(client.closeCode, null);
  for (let i = 0; i < 100; i++) client.send({ messageType: 'ping', requestId: i });
  await client.closed(4429);
  assert.equal(client.frames.filter(({ event }) => event === 'Pong').length, 50);
});

test('a subscription above the limit of frames is refused under its request id', async (t) => {
  const clock = new HandClock();
  const { port } = await startNode(t, { clock });
  const client = await Client.open(port);
  client.send({ messageType: 'connect', requestId: 'hello', data: { acks: true } });
  client.subscribe('open', 'Counter', { name: 'a' });
  for (let i = 2; i < 50; i++) client.send({ messageType: 'ping', requestId: i });
  client.subscribe('one', 'Counter', { name: 'a' });
  const topics = ['two', 'three'].map((requestId) => ({
    requestId,
    topic: 'Counter',
    data: { name: 'a' },
  }));
  client.send({ messageType: 'subscribe', topics });
  client.send({ messageType: 'connect', requestId: 'again', data: {} });
  client.send({ messageType: 'unsubscribe', requestId: 'open' });
  await client.frame({ requestId: 'open', event: 'Unsubscribed' });
  for (const requestId of [null, 'one', 'two', 'three', 'again']) {
    const { data } = await client.frame({ requestId, event: 'Error' });
    assert.deepEqual([data.cause, data.retry], ['RATE_LIMITED', true], String(requestId));
  }
  await clock.advance(500);
  client.subscribe('one', 'Counter', { name: 'a' });
  await client.frame({ requestId: 'one', event: 'Subscribed' });
  assert.equal(client.closeCode, null);
});

test('a socket without a sign of life is closed, one that answers pings is not', async (t) => {
  const options = { heartbeatMs: 40, silenceMs: 200, sweepMs: 10 };
  const clock = new HandClock();
  const { port, market } = await startNode(t, { options, clock });
  const silent = await Client.open(port);
  const alive = await Client.open(port, { protocols: ['msgpack'] });
  silent.keepsPings = true;
  alive.keepsPings = true;
  const answer = () => alive.send({ messageType: 'pong', requestId: null });
  alive.socket.on('message', answer);
  for (let beats = 1; beats <= 5; beats += 1) {
    assert.equal(silent.closeCode, null);
    await clock.advance(40);
    await until('both are asked', () => silent.pings === beats && alive.pings === beats);
  }
  await clock.advance(10);
  await silent.closed(4002);
  assert.equal(alive.closeCode, null);
  const ping = silent.frames[0];
  assert.deepEqual([ping?.event, ping?.messageType, ping?.requestId], ['Ping', 'Request', null]);
  assert.equal(ping?.seq, market.seq);
  assert.equal(ping?.data.seq, market.seq);
  assert.deepEqual(ping?.data.tip, { slot: 77, hash: 'abcd', lagMs: 5 });
  assert.equal(alive.frames[0]?.event, 'Ping');
});

test('a ping never claims what a slow subscription has not been sent', async (t) => {
  const clock = new HandClock();
  const options = { heartbeatMs: 10, sweepMs: 10 };
  const { port, market } = await startNode(t, { options, clock });
  const client = await Client.open(port);
  client.keepsPings = true;
  client.subscribe('r', 'Counter', { name: 'a' }, { maxHz: 2 });
  await client.frame({ requestId: 'r', event: 'CounterUpdate' });
  const updateOf = (at: number) =>
    client.frames.findIndex(({ requestId, seq }) => requestId === 'r' && seq === at);
  const advanceTo = async (at: number) => {
    for (let ticks = 0; ticks < 100 && updateOf(at) < 0; ticks += 1) {
      const { pings } = client;
      await clock.advance(10);
      await until('a ping', () => client.pings > pings);
    }
  };
  market.count('a');
  await advanceTo(11);
  market.count('a');
  const from = client.frames.length;
  await advanceTo(12);
  const update = updateOf(12);
  const waited = client.frames.slice(from, update);
  assert(waited.length > 5 && waited.every(({ event }) => event === 'Ping'));
  for (const ping of waited) assert(Number(ping.data.seq) < 12);
  await clock.advance(10);
  await client.frame({ event: 'Ping', seq: 12 }, update);
});

test('an unknown protocol opens and closes with 4500', async (t) => {
  const { port, sockets } = await startNode(t);
  const offered = await Client.open(port, { protocols: ['wamp', 'graphql'] });
  await offered.closed(4500);
  const inQuery = await Client.open(port, { path: '/ws?encoding=xml' });
  await inQuery.closed(4500);
  assert.equal(sockets.open, 0);
});

test('another version of the WebSocket protocol or a second Host is refused', async (t) => {
  const { port } = await startNode(t);
  const old = await ask(port, get('/ws', [...HANDSHAKE, 'Sec-WebSocket-Version: 12']));
  assert.deepEqual([old.status, old.headers['sec-websocket-version']], [400, '13']);
  const lines = [...HANDSHAKE, 'Sec-WebSocket-Version: 13'];
  assert.equal((await ask(port, get('/ws', [...lines, 'Host: b']))).status, 400);
  assert.equal((await ask(port, get('/ws', lines))).status, 101);
});

test('an address may hold so many sockets', async (t) => {
  const options = { maxSocketsPerAddress: 2, limitLoopback: true };
  const { port } = await startNode(t, { options });
  const first = await Client.open(port);
  await Client.open(port);
  await (await Client.open(port)).closed(4403);
  first.socket.terminate();
  const startMs = performance.now();
  let welcome = false;
  while (!welcome && performance.now() - startMs < 30_000) {
    const client = await Client.open(port);
    client.send({ messageType: 'ping', requestId: 'p' });
    await until('an answer', () => client.frames.length > 0 || client.closeCode !== null);
    welcome = client.closeCode === null;
  }
  assert(welcome);
});

test('a node that stops says goodbye', async (t) => {
  const { port, gateway, closes } = await startNode(t);
  const clients = [await Client.open(port), await Client.open(port, { protocols: ['msgpack'] })];
  const stopped = gateway.stop();
  for (const client of clients) {
    await client.closed(4001);
    const goodbye = client.frames.at(-1);
    assert.equal(goodbye?.event, 'Shutdown');
    assert(Number(goodbye?.data.reconnectAfterMs) > 0);
  }
  await stopped;
  assert.deepEqual(closes, [4001, 4001]);
  await assert.rejects(fetch(`http://127.0.0.1:${port}/`));
});
