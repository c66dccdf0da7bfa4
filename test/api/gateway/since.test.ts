import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HandClock } from '../../support/handClock.ts';
import { until } from '../../support/until.ts';
import { Client } from './client.ts';
import { startNode } from './node.ts';

const EPOCH = '1-aaaa';
const PATIENT = { positionWaitMs: 60_000 };

test('resumes with exactly what changed since', async (t) => {
  const { port, market } = await startNode(t);
  market.trade('s', 1, { final: true });
  market.trade('s', 2, { final: true });
  market.count('noise');
  market.trade('s', 3);
  const client = await Client.open(port);
  client.subscribe('r', 'Bars', { series: 's' }, { since: { epoch: EPOCH, seq: 11 } });
  await until('both parts', () => client.frames.length === 3);
  const [ack, first, second] = client.frames;
  assert.equal(ack?.event, 'Subscribed');
  assert.deepEqual(ack?.data, { recovered: true, seq: 11 });
  assert.deepEqual([first?.prev, first?.seq, first?.data.value], [11, 12, 2]);
  assert.deepEqual([second?.prev, second?.seq, second?.data.value], [12, 14, 3]);
  assert.equal(first?.snapshot, undefined);
  market.trade('s', 4);
  await until('live', () => client.frames.length === 4);
  const live = client.frames[3];
  assert(live !== undefined && live.prev !== null && live.prev <= 14 && live.seq === 15);
});

test('a resumed subscription that missed nothing gets nothing, then what comes', async (t) => {
  const { port, market } = await startNode(t);
  const early = await Client.open(port);
  early.subscribe('r', 'Counter', { name: 'a' });
  await early.frame({ requestId: 'r' });
  const client = await Client.open(port);
  client.subscribe('r', 'Counter', { name: 'a' }, { since: { epoch: EPOCH, seq: 5 } });
  await client.frame({ event: 'Subscribed' });
  market.count('a');
  const update = await client.frame({ event: 'CounterUpdate' });
  assert.equal(client.frames.length, 2);
  // Its own position is 5: a higher prev would look like a loss.
  assert(update.prev !== null && update.prev <= 5);
});

test('beyond the horizon or of an older epoch there is a snapshot', async (t) => {
  const { port, market } = await startNode(t);
  market.horizon = 8;
  const client = await Client.open(port);
  const sinces = [
    { epoch: EPOCH, seq: 7 },
    { epoch: '0-zzzz', seq: 900 },
  ];
  for (const [index, since] of sinces.entries()) {
    client.subscribe(index, 'Counter', { name: 'a' }, { since });
    await client.frame({ requestId: index, snapshot: true });
    const [ack, snapshot] = client.of(index);
    assert.deepEqual(ack?.data, { recovered: false, seq: 10 });
    assert.deepEqual([snapshot?.snapshot, snapshot?.seq, snapshot?.prev], [true, 10, null]);
  }
});

test('a malformed since is refused', async (t) => {
  const { port } = await startNode(t);
  const client = await Client.open(port);
  const sinces = [7, 'x', {}, { epoch: 'x', seq: 1 }, { epoch: EPOCH, seq: -1 }, { seq: 1 }];
  for (const [index, since] of sinces.entries()) {
    client.subscribe(index, 'Counter', { name: 'a' }, { since });
    const error = await client.frame({ requestId: index });
    assert.deepEqual([error.event, error.data.cause], ['Error', 'INVALID_PARAMS']);
  }
});

test('waits for a position that is not reached yet, and never sends older state', async (t) => {
  const { port, market } = await startNode(t, { options: PATIENT });
  const client = await Client.open(port);
  client.subscribe('r', 'Counter', { name: 'a' }, { since: { epoch: EPOCH, seq: 12 } });
  client.send({ messageType: 'ping', requestId: 'p' });
  await client.frame({ event: 'Pong' });
  market.count('a');
  market.count('a');
  assert.deepEqual((await client.frame({ event: 'Subscribed' })).data, {
    recovered: true,
    seq: 12,
  });
  market.count('a');
  const update = await client.frame({ event: 'CounterUpdate' });
  assert.deepEqual([update.seq, update.data.value], [13, 3]);
});

test('a node that stays behind says so', async (t) => {
  const { port } = await startNode(t, { options: { positionWaitMs: 30 } });
  const client = await Client.open(port);
  for (const since of [
    { epoch: EPOCH, seq: 12 },
    { epoch: '2-cccc', seq: 1 },
  ]) {
    client.subscribe(since.epoch, 'Counter', { name: 'a' }, { since });
    const error = await client.frame({ requestId: since.epoch });
    assert.deepEqual([error.data.cause, error.data.retry], ['NOT_READY', true]);
  }
});

test('a subscription that waits can be ended and replaced', async (t) => {
  const clock = new HandClock();
  const { port, market } = await startNode(t, { clock });
  const client = await Client.open(port);
  const since = { epoch: EPOCH, seq: 11 };
  client.subscribe('ended', 'Counter', { name: 'a' }, { since });
  client.send({ messageType: 'unsubscribe', requestId: 'ended' });
  client.subscribe('replaced', 'Counter', { name: 'a' }, { since });
  client.subscribe('replaced', 'Counter', { name: 'b' });
  await client.frame({ requestId: 'replaced', snapshot: true });
  market.count('a');
  client.subscribe('later', 'Counter', { name: 'a' }, { since: { epoch: EPOCH, seq: 99 } });
  client.send({ messageType: 'ping', requestId: 'p' });
  await client.frame({ event: 'Pong' });
  await clock.advance(2_000);
  await client.frame({ requestId: 'later', event: 'Error' });
  assert.deepEqual(
    client.of('ended').map(({ event }) => event),
    ['Unsubscribed'],
  );
  assert.equal(client.of('replaced').length, 1);
});

test('resumes a socket that was waiting in the epoch it waited for', async (t) => {
  const { port, market } = await startNode(t, { options: PATIENT });
  const client = await Client.open(port);
  client.subscribe('r', 'Counter', { name: 'a' }, { since: { epoch: '2-cccc', seq: 4 } });
  client.send({ messageType: 'ping', requestId: 'p' });
  await client.frame({ event: 'Pong' });
  market.changeEpoch('2-cccc', 5);
  const ack = await client.frame({ event: 'Subscribed' });
  assert.deepEqual(ack.data, { recovered: true, seq: 4 });
  market.count('a');
  await client.frame({ event: 'CounterUpdate', epoch: '2-cccc', seq: 6 });
});

const GONE = [
  { epoch: EPOCH, seq: 11 },
  { epoch: '1-bbbb', seq: 3 },
  { epoch: '3-cccc', seq: 2 },
];

test('a since that is gone: recovered:false and a snapshot, also if the log grows', async (t) => {
  const { port, market } = await startNode(t, { options: PATIENT });
  market.end = { epoch: EPOCH, seq: 10 };
  const client = await Client.open(port);
  for (const [index, since] of GONE.entries()) {
    client.subscribe(`r${index}`, 'Counter', { name: 'a' }, { since });
    const ack = await client.frame({ requestId: `r${index}`, event: 'Subscribed' });
    assert.deepEqual(ack.data, { recovered: false, seq: 10 });
    const state = await client.frame({ requestId: `r${index}`, event: 'CounterUpdate' });
    assert.equal(state.snapshot, true);
  }
  // This node is behind the log's end, and gets there after the position was found to be gone.
  market.end = { epoch: EPOCH, seq: 12 };
  client.subscribe('late', 'Counter', { name: 'a' }, { since: { epoch: EPOCH, seq: 13 } });
  client.subscribe('behind it', 'Counter', { name: 'b' });
  await client.frame({ requestId: 'behind it' });
  assert.deepEqual(client.of('late'), []);
  for (let count = 0; count < 4; count += 1) market.count('a');
  const ack = await client.frame({ requestId: 'late', event: 'Subscribed' });
  assert.deepEqual(ack.data, { recovered: false, seq: 12 });
});

test('a since is never gone by a node that is behind, or that cannot ask', async (t) => {
  const { port, market } = await startNode(t, { options: { positionWaitMs: 60 } });
  const client = await Client.open(port);
  const ends = ['away', null, { epoch: '3-cccc', seq: 40 }, { epoch: EPOCH, seq: 20 }] as const;
  for (const [index, end] of ends.entries()) {
    market.end = end;
    client.subscribe(`r${index}`, 'Counter', { name: 'a' }, { since: { epoch: EPOCH, seq: 11 } });
    const answer = await client.frame({ requestId: `r${index}` });
    assert.deepEqual([answer.event, answer.data.cause], ['Error', 'NOT_READY']);
  }
});
