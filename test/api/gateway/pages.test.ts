/** Sources that answer in pages, and sources that have failed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { until } from '../../support/until.ts';
import { Client } from './client.ts';
import { startNode } from './node.ts';

const EPOCH = '1-aaaa';

test('a resume gets one page at most, else a snapshot', async (t) => {
  const { port, market } = await startNode(t);
  market.page = 2;
  for (let i = 0; i < 3; i++) market.trade('s', i, { final: true });
  const client = await Client.open(port);
  const recovered = async (requestId: string, seq: number) => {
    client.subscribe(requestId, 'Bars', { series: 's' }, { since: { epoch: EPOCH, seq } });
    const ack = await client.frame({ requestId, event: 'Subscribed' });
    await client.frame({ requestId, event: 'BarsUpdate', seq: 13 });
    return [
      ack.data.recovered,
      client
        .of(requestId)
        .slice(1)
        .map(({ seq }) => seq),
    ];
  };
  assert.deepEqual(await recovered('page', 11), [true, [12, 13]]);
  assert.deepEqual(await recovered('more', 10), [false, [13]]);
});

test('a slow cadence gets every final bar, page by page', async (t) => {
  const { port, market, resyncs } = await startNode(t);
  market.page = 2;
  const client = await Client.open(port);
  client.subscribe('r', 'Bars', { series: 's' }, { maxHz: 20 });
  await client.frame({ requestId: 'r', snapshot: true });
  market.trade('s', 0, { final: true });
  for (let i = 1; i < 30; i++) market.trade('s', i, { final: true });
  await client.frame({ requestId: 'r', seq: 40 });
  const values = client
    .of('r')
    .slice(2)
    .map(({ data }) => data.value);
  assert.deepEqual(
    values,
    Array.from({ length: 30 }, (_, i) => i),
  );
  assert.deepEqual(resyncs, []);
});

test('a socket that was slow gets every page', async (t) => {
  const { port, market, resyncs } = await startNode(t, { options: { sweepMs: 10 } });
  market.page = 2;
  market.padding = 'x'.repeat(100_000);
  const client = await Client.open(port);
  client.subscribe('r', 'Bars', { series: 's' });
  await client.frame({ requestId: 'r', snapshot: true });
  client.socket.pause();
  for (let i = 0; i < 60; i++) {
    market.trade('s', i, { final: true });
    await new Promise((resolve) => setTimeout(resolve, 6));
  }
  client.socket.resume();
  await client.frame({ requestId: 'r', seq: 70 });
  const values = new Set(
    client
      .of('r')
      .slice(1)
      .flatMap(({ data }) => data.value ?? []),
  );
  const missing = Array.from({ length: 60 }, (_, i) => i).filter((i) => !values.has(i));
  assert.deepEqual([missing, resyncs.length <= 1], [[], true]);
});

test('a source that has failed refuses a resume with its cause', async (t) => {
  const { port, market } = await startNode(t);
  market.failure = new Failure('OVERLOADED', 'put aside');
  const client = await Client.open(port);
  client.subscribe('r', 'Bars', { series: 's' }, { since: { epoch: EPOCH, seq: 5 } });
  const error = await client.frame({ requestId: 'r' });
  assert.deepEqual([error.event, error.data.cause], ['Error', 'OVERLOADED']);
  market.failure = null;
  market.trade('s', 1);
  client.send({ messageType: 'ping', requestId: 'p' });
  await client.frame({ event: 'Pong' });
  assert.equal(client.of('r').length, 1);
});

test('a source that fails while it is live ends its subscriptions with one Error', async (t) => {
  const { port, market, faults } = await startNode(t);
  const clients = [await Client.open(port), await Client.open(port)];
  for (const client of clients) {
    client.subscribe('r', 'Bars', { series: 's' });
    await client.frame({ requestId: 'r', snapshot: true });
  }
  market.failure = new Failure('SERVER_ERROR', 'put aside');
  for (let i = 0; i < 3; i++) market.trade('s', i);
  for (const client of clients) {
    const error = await client.frame({ requestId: 'r', event: 'Error' });
    assert.deepEqual([error.data.cause, error.data.retry], ['NOT_READY', true]);
  }
  market.failure = null;
  market.trade('s', 9);
  const [first] = clients;
  first?.subscribe('r', 'Bars', { series: 's' });
  await first?.frame({ requestId: 'r', snapshot: true, seq: 14 });
  market.trade('s', 10);
  await first?.frame({ requestId: 'r', event: 'BarsUpdate', seq: 15 });
  await until('no more', () => clients[1]?.of('r').length === 2);
  assert.equal(first?.of('r').length, 4);
  assert.deepEqual(faults, []);
});
