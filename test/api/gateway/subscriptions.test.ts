import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../support/until.ts';
import { Client } from './client.ts';
import { startNode } from './node.ts';

test('before the node is synced only what is not of the log can be subscribed', async (t) => {
  const { port, market } = await startNode(t);
  market.isSynced = false;
  const client = await Client.open(port);
  client.subscribe('r', 'Counter', { name: 'a' });
  const error = await client.frame({ requestId: 'r', event: 'Error' });
  assert.deepEqual([error.data.cause, error.data.retry], ['NOT_READY', true]);
  client.subscribe('h', 'Beat', null);
  await client.frame({ requestId: 'h', snapshot: true });
});

test('a socket may hold so many subscriptions and no more', async (t) => {
  const { port } = await startNode(t, { options: { maxSubscriptions: 2 } });
  const client = await Client.open(port);
  for (const id of ['a', 'b', 'c', 'a']) client.subscribe(id, 'Counter', { name: id });
  const error = await client.frame({ requestId: 'c' });
  assert.equal(error.data.cause, 'LIMIT_EXCEEDED');
  assert.match(String(error.data.message), /unsubscribe from some/, 'it says what to do');
  await until('replacing is fine', () => client.of('a').length === 2);
  client.send({ messageType: 'unsubscribe', requestId: 'b' });
  client.subscribe('c', 'Counter', { name: 'c' });
  await client.frame({ requestId: 'c', event: 'CounterUpdate' });
});

test('after a change of epoch every subscription gets Resync and a snapshot', async (t) => {
  const { port, market, resyncs } = await startNode(t);
  const client = await Client.open(port);
  for (const id of ['a', 'b', 'c', 'd', 'e']) client.subscribe(id, 'Counter', { name: id });
  await client.frame({ requestId: 'e' });
  market.count('a', 'b', 'c', 'd', 'e');
  market.changeEpoch('2-bbbb', 3);
  market.count('a');
  await until('renewed', () => resyncs.length === 5);
  await client.frame({ requestId: 'e', epoch: '2-bbbb', snapshot: true });
  market.count('a', 'e');
  for (const id of ['a', 'e']) {
    await client.frame({ requestId: id, epoch: '2-bbbb', seq: 5 });
    const frames = client.of(id);
    const at = frames.findIndex(({ event }) => event === 'Resync');
    assert(frames.slice(0, at).every(({ epoch }) => epoch === '1-aaaa'));
    assert.deepEqual(frames[at]?.data, { reason: 'epoch', skipped: 0 });
    const [snapshot, update] = frames.slice(at + 1);
    assert.deepEqual([snapshot?.snapshot, snapshot?.prev], [true, null]);
    assert(update?.prev !== null && update !== undefined);
    assert(snapshot !== undefined && update.prev <= snapshot.seq);
  }
});
