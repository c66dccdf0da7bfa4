import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encode } from '@msgpack/msgpack';
import { HandClock } from '../../support/handClock.ts';
import { until } from '../../support/until.ts';
import { Client } from './client.ts';
import { startNode } from './node.ts';

test('connect is answered with limits and a connection id', async (t) => {
  const { port } = await startNode(t);
  for (const path of ['/ws', '/websocket/ws', '/v1/websocket/ws']) {
    const client = await Client.open(port, { path });
    client.send({ messageType: 'connect', clientId: 'app-1', requestId: '0' });
    const { data, messageType, requestId } = await client.frame({ event: 'ConnectionSucceeded' });
    assert.equal(requestId, '0');
    assert.equal(messageType, 'Response');
    assert.equal(data.heartbeatMs, 5000);
    assert.deepEqual(data.limits, {
      subscriptions: 500,
      frameBytes: 65536,
      framesPerSecond: 50,
      bufferBytes: 1048576,
    });
    assert.match(String(data.connectionId), /^[a-z0-9]{12}$/);
    client.socket.terminate();
  }
});

test('a subscription starts with a snapshot and continues with a chain of updates', async (t) => {
  const { port, market } = await startNode(t);
  market.count('a');
  const client = await Client.open(port);
  client.subscribe('r1', 'Counter', { name: 'a' });
  const snapshot = await client.frame({ requestId: 'r1' });
  assert.deepEqual(
    { ...snapshot, ts: 0 },
    {
      requestId: 'r1',
      event: 'CounterUpdate',
      messageType: 'Response',
      data: { name: 'a', value: 1 },
      epoch: '1-aaaa',
      seq: 11,
      prev: null,
      snapshot: true,
      ts: 0,
    },
  );
  market.count('a');
  await until('first update', () => client.of('r1').length === 2);
  market.count('other');
  market.count('a');
  await until('second update', () => client.of('r1').length === 3);
  const [, first, second] = client.of('r1');
  assert.deepEqual([first?.seq, first?.data.value, first?.snapshot], [12, 2, undefined]);
  assert(first?.prev !== null && first !== undefined && first.prev <= 11);
  assert.deepEqual([second?.seq, second?.prev, second?.data.value], [14, 12, 3]);
});

test('unsubscribe ends updates and is silent in the original protocol', async (t) => {
  const { port, market } = await startNode(t);
  const client = await Client.open(port);
  client.subscribe('r1', 'Counter', { name: 'a' });
  client.subscribe('r2', 'Counter', { name: 'a' });
  await client.frame({ requestId: 'r2' });
  client.send({ messageType: 'unsubscribe', requestId: 'r1' });
  client.send({ messageType: 'unsubscribe', requestId: 'never' });
  client.send({ messageType: 'ping', requestId: 'p' });
  await client.frame({ event: 'Pong', requestId: 'p' });
  market.count('a');
  await until('update of r2', () => client.of('r2').length === 2);
  assert.equal(client.of('r1').length, 1);
  assert.deepEqual(
    client.frames.map(({ event }) => event),
    ['CounterUpdate', 'CounterUpdate', 'Pong', 'CounterUpdate'],
  );
});

test('acks are sent to clients that speak the extensions', async (t) => {
  const { port } = await startNode(t);
  const client = await Client.open(port);
  client.subscribe('a', 'Counter', { name: 'a' }, { snapshot: false });
  client.subscribe('b', 'Counter', { name: 'a' }, { maxHz: 3 });
  client.subscribe('c', 'Counter', { name: 'a' }, { snapshot: true });
  client.send({ messageType: 'unsubscribe', requestId: 'a' });
  await client.frame({ requestId: 'a', event: 'Unsubscribed' });
  await client.frame({ requestId: 'c', event: 'CounterUpdate' });
  // In order under each request id; a busy server starts some a turn later.
  const events = (id: string) =>
    client.frames.flatMap(({ requestId, event }) => (requestId === id ? [event] : []));
  assert.deepEqual(events('a'), ['Subscribed', 'Unsubscribed']);
  assert.deepEqual(events('b'), ['Subscribed', 'CounterUpdate']);
  assert.deepEqual(events('c'), ['Subscribed', 'CounterUpdate']);
  assert.deepEqual(client.frames[0]?.data, { recovered: false, seq: 10 });
  const asking = await Client.open(port);
  asking.send({ messageType: 'connect', data: { acks: true } });
  asking.subscribe('x', 'Counter', { name: 'a' });
  await asking.frame({ requestId: 'x', event: 'Subscribed' });
  asking.send({ messageType: 'unsubscribe', requestId: 'never' });
  await asking.frame({ requestId: 'never', event: 'Unsubscribed' });
});

test('snapshot:false gives updates only', async (t) => {
  const { port, market } = await startNode(t);
  const client = await Client.open(port);
  client.subscribe('r', 'Counter', { name: 'a' }, { snapshot: false });
  await client.frame({ event: 'Subscribed' });
  market.count('a');
  const update = await client.frame({ event: 'CounterUpdate' });
  assert.deepEqual([update.snapshot, update.data.value], [undefined, 1]);
});

test('several topics in one frame are answered each on its own', async (t) => {
  const { port } = await startNode(t);
  const client = await Client.open(port);
  const topics = [
    { requestId: 1, topic: 'Counter', data: { name: 'a' } },
    { requestId: '1', topic: 'Counter', data: { name: 'b' } },
    { requestId: 'x', topic: 'Nothing' },
    { requestId: 'y', topic: 'Counter', data: { name: 'refused' } },
    { requestId: 'z', topic: 'Counter', data: {} },
    'garbage',
    { requestId: 'broken', topic: 'Broken', data: { name: 'a' } },
  ];
  client.send({ messageType: 'subscribe', clientId: 't', topics });
  await client.frame({ requestId: 'broken' });
  const said = client.frames.map((frame) => [frame.requestId, frame.event, frame.data.cause]);
  // The subscription without an id is refused at once; others may wait for their slice.
  const isNamed = ([requestId]: readonly unknown[]) => requestId !== null;
  assert.deepEqual(
    said.find((each) => !isNamed(each)),
    [null, 'Error', 'INVALID_PARAMS'],
  );
  assert.deepEqual(said.filter(isNamed), [
    [1, 'Subscribed', undefined],
    [1, 'CounterUpdate', undefined],
    ['1', 'Subscribed', undefined],
    ['1', 'CounterUpdate', undefined],
    ['x', 'Error', 'TOPIC_NOT_FOUND'],
    ['y', 'Error', 'ASSET_NOT_FOUND'],
    ['z', 'Error', 'INVALID_PARAMS'],
    ['broken', 'Error', 'SERVER_ERROR'],
  ]);
  assert.equal(client.of('x')[0]?.data.retry, false);
  assert.equal(typeof client.of('x')[0]?.data.message, 'string');
});

test('a request id in use is replaced', async (t) => {
  const { port, market } = await startNode(t);
  const client = await Client.open(port);
  client.subscribe('r', 'Counter', { name: 'a' });
  client.subscribe('r', 'Counter', { name: 'b' });
  await client.frame({ requestId: 'r', seq: 10 }, 1);
  market.count('a');
  market.count('b');
  await until('update', () => client.of('r').length === 3);
  assert.deepEqual(client.of('r')[2]?.data, { name: 'b', value: 1 });
});

test('sockets with the same request id get the same bytes, rendered once', async (t) => {
  const { port, market } = await startNode(t);
  const clients = [];
  for (let i = 0; i < 5; i++) clients.push(await Client.open(port));
  const others = [await Client.open(port), await Client.open(port)];
  for (const client of clients) client.subscribe('same', 'Counter', { name: 'a' });
  for (const client of others) client.subscribe('other', 'Counter', { name: 'a', extra: 3 });
  const all = [...clients, ...others];
  await until('snapshots', () => all.every((client) => client.frames.length === 1));
  const before = market.rendered;
  market.count('a');
  await until('updates', () => all.every((client) => client.frames.length === 2));
  assert.equal(market.rendered, before + 1);
  const [first] = clients;
  for (const client of clients) assert.deepEqual(client.bytes[1], first?.bytes[1]);
  assert.deepEqual(
    others[0]?.bytes[1]?.toString().replace('"other"', '"same"'),
    first?.bytes[1]?.toString(),
  );
});

test('topics without subscribers are not rendered', async (t) => {
  const { port, market } = await startNode(t);
  const client = await Client.open(port);
  client.subscribe('r', 'Counter', { name: 'a' });
  await client.frame({ requestId: 'r' });
  client.send({ messageType: 'unsubscribe', requestId: 'r' });
  client.subscribe('s', 'Counter', { name: 'b' });
  await client.frame({ requestId: 's' });
  const before = market.rendered;
  market.count('a');
  market.count('a', 'b');
  await until('update of s', () => client.of('s').length === 2);
  assert.equal(market.rendered, before + 1);
});

test('a periodic topic is sent whole at its cadence', async (t) => {
  const { port } = await startNode(t);
  const client = await Client.open(port);
  client.subscribe('h', 'Beat', null);
  await until('beats', () => client.of('h').length >= 4);
  for (const frame of client.of('h')) {
    assert.deepEqual([frame.snapshot, frame.prev, frame.seq], [true, null, 10]);
  }
});

test('maxHz collapses changes and keeps the chain', async (t) => {
  const clock = new HandClock();
  const { port, market } = await startNode(t, { clock });
  const client = await Client.open(port);
  client.subscribe('fast', 'Counter', { name: 'a' });
  client.subscribe('slow', 'Counter', { name: 'a' }, { maxHz: 13 });
  await client.frame({ requestId: 'slow', event: 'CounterUpdate' });
  for (let ms = 0; ms < 550; ms += 2) {
    market.count('a');
    await clock.advance(2);
  }
  await clock.advance(100);
  const end = { name: 'a', value: market.counters.get('a')?.value };
  const last = () => client.of('slow').at(-1)?.data.value === end.value;
  await until('the end state at the slow pace', last);
  const slow = client.of('slow').filter(({ event }) => event === 'CounterUpdate');
  assert(slow.length >= 6 && slow.length <= 9, `${slow.length} frames in 0.65 s at 10 Hz`);
  assert(client.of('fast').length > 30);
  for (const [index, frame] of slow.entries()) {
    const before = slow[index - 1];
    if (before === undefined || frame.prev === null) continue;
    assert(frame.prev <= before.seq && frame.seq > before.seq);
  }
});

test('maxHz outside what is offered is refused or rounded down', async (t) => {
  const { port } = await startNode(t);
  const client = await Client.open(port);
  for (const maxHz of [0, 0.5, -1, 'x', 1, 20, 1000]) {
    client.subscribe(`r${maxHz}`, 'Counter', { name: 'a' }, { maxHz });
  }
  await client.frame({ requestId: 'r1000', event: 'CounterUpdate' });
  for (const bad of ['r0', 'r0.5', 'r-1', 'rx']) {
    assert.equal(client.of(bad)[0]?.data.cause, 'INVALID_PARAMS');
  }
  for (const good of ['r1', 'r20', 'r1000']) {
    assert.equal(client.of(good)[0]?.event, 'Subscribed');
  }
});

test('MessagePack goes both ways with the same envelopes', async (t) => {
  const { port, market } = await startNode(t);
  const json = await Client.open(port, { protocols: ['json'] });
  const packed = await Client.open(port, { protocols: ['nonsense', 'msgpack', 'json'] });
  const byQuery = await Client.open(port, { path: '/ws?encoding=msgpack' });
  assert.equal(json.socket.protocol, 'json');
  assert.equal(packed.socket.protocol, 'msgpack');
  assert.equal(byQuery.socket.protocol, '');
  json.subscribe('r', 'Counter', { name: 'a' });
  byQuery.subscribe('r', 'Counter', { name: 'a' });
  const binary = { messageType: 'subscribe', requestId: 'r', topic: 'Counter' };
  packed.socket.send(encode({ ...binary, data: { name: 'a' } }));
  const all = [json, packed, byQuery];
  await until('snapshots', () => all.every((client) => client.frames.length === 1));
  market.count('a');
  await until('updates', () => all.every((client) => client.frames.length === 2));
  assert.deepEqual(packed.bytes[1], byQuery.bytes[1]);
  assert.deepEqual({ ...packed.frames[0], ts: 0 }, { ...json.frames[0], ts: 0 });
  assert.deepEqual(packed.frames[1], json.frames[1]);
  assert.equal(
    Object.keys(packed.frames[0] ?? {}).join(),
    Object.keys(json.frames[0] ?? {}).join(),
  );
  packed.socket.send(Buffer.from([0xc1]));
  assert.equal((await packed.frame({ event: 'Error' })).data.cause, 'INVALID_PARAMS');
});
