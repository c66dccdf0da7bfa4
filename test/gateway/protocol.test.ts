import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from './client.ts';
import { startNode, until } from './node.ts';

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
