import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRng } from '../../../src/engine/runtime/rng.ts';
import { until } from '../../support/until.ts';
import { Client, type Frame } from './client.ts';
import { startNode, type TestNode } from './node.ts';

const OFFERED = 12 * 1_048_576;

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Trades until that many bytes were offered to each subscriber; answers how many final bars. */
async function trade({ market }: TestNode, client: Client, bytes: number): Promise<number> {
  const each = market.padding.length;
  let finals = 0;
  for (let offered = 0; offered < bytes; offered += each) {
    const final = offered % (each * 20) === 0;
    if (final) finals += 1;
    const { length } = client.frames;
    market.trade('s', offered, { final });
    await until('the fast client has it', () => client.frames.length > length);
  }
  return finals;
}

/** The state of a client that follows the rule of protocol.md 6.4; throws where it finds a loss. */
function replay(frames: readonly Frame[]): { bars: Map<number, unknown>; seq: number } {
  const bars = new Map<number, unknown>();
  let seq = -1;
  for (const frame of frames) {
    if (frame.event !== 'BarsUpdate') continue;
    if (frame.snapshot !== true) {
      if (frame.seq <= seq) continue;
      assert(frame.prev !== null && frame.prev <= seq, `lost between ${seq} and ${frame.prev}`);
    }
    if (frame.data !== null) bars.set(Number(frame.data.time), frame.data);
    seq = frame.seq;
  }
  return { bars, seq };
}

test('a reader that stops is brought up to date with every final bar', async (t) => {
  const node = await startNode(t);
  const { market, port, resyncs } = node;
  market.padding = 'x'.repeat(65_536);
  const fast = await Client.open(port);
  const slow = await Client.open(port);
  for (const client of [fast, slow]) client.subscribe('r', 'Bars', { series: 's' });
  await until('snapshots', () => slow.frames.length === 1 && fast.frames.length === 1);
  market.trade('s', 1);
  await until('first bar', () => slow.frames.length === 2);
  slow.socket.pause();
  const memoryBefore = process.memoryUsage().rss;
  const finals = await trade(node, fast, OFFERED);
  const grown = process.memoryUsage().rss - memoryBefore;
  market.padding = '';
  assert.equal(fast.closeCode, null);
  assert(grown < 150 * 1_048_576, `grew by ${grown}`);
  assert(slow.frames.length < 20);
  slow.socket.resume();
  const end = market.bars.get('s')?.at(-1);
  await until('end state', () => replay(slow.of('r')).seq === market.seq);
  const known = replay(slow.of('r'));
  const all = replay(fast.of('r'));
  assert.deepEqual([...known.bars.keys()].sort(), [...all.bars.keys()].sort());
  const isFinal = (bar: unknown) => JSON.stringify(bar).includes('"final":true');
  assert.equal([...known.bars.values()].filter(isFinal).length, finals);
  assert.equal(market.bars.get('s')?.length, known.bars.size);
  assert.equal(all.seq, end?.seq);
  assert.deepEqual(resyncs, ['slow']);
  await slow.frame({ requestId: 'r', snapshot: true }, 1);
  const at = slow.frames.findIndex(({ event }) => event === 'Resync');
  assert.equal(slow.frames[at]?.data.reason, 'slow');
  assert(Number(slow.frames[at]?.data.skipped) > 50);
  assert.equal(slow.frames[at + 1]?.snapshot, true);
  const { length } = slow.frames;
  market.trade('s', 7);
  await until('live again', () => slow.frames.length === length + 1);
  assert.equal(replay(slow.of('r')).seq, market.seq);
});

test('a reader that skipped little gets what changed and no Resync', async (t) => {
  const options = { behindBytes: 20_000, wakeBytes: 10_000, bufferBytes: 64 * 1_048_576 };
  const node = await startNode(t, { options: { ...options, sweepMs: 5 } });
  const { market, port, resyncs } = node;
  market.padding = 'x'.repeat(65_536);
  const fast = await Client.open(port);
  const slow = await Client.open(port);
  for (const client of [fast, slow]) {
    client.subscribe('r', 'Bars', { series: 's' });
    client.subscribe('c', 'Counter', { name: 'a' });
  }
  await until('snapshots', () => slow.frames.length === 2 && fast.frames.length === 2);
  slow.socket.pause();
  const finals = await trade(node, fast, OFFERED);
  market.count('a');
  await fast.frame({ requestId: 'c', seq: market.seq });
  market.padding = '';
  slow.socket.resume();
  await slow.frame({ requestId: 'c', seq: market.seq });
  await until('end state', () => replay(slow.of('r')).seq >= market.seq - 1);
  assert.deepEqual(resyncs, []);
  const isFinal = (bar: unknown) => JSON.stringify(bar).includes('"final":true');
  const { bars } = replay(slow.of('r'));
  assert.equal([...bars.values()].filter(isFinal).length, finals);
  assert(slow.frames.length < fast.frames.length);
});

test('a change of epoch reaches a slow reader as Resync for each subscription', async (t) => {
  const node = await startNode(t);
  const { market, port } = node;
  market.padding = 'x'.repeat(65_536);
  const fast = await Client.open(port);
  const slow = await Client.open(port);
  for (const client of [fast, slow]) client.subscribe('r', 'Bars', { series: 's' });
  slow.subscribe('c', 'Counter', { name: 'a' });
  await until('snapshots', () => slow.frames.length === 2 && fast.frames.length === 1);
  slow.socket.pause();
  await trade(node, fast, OFFERED);
  market.changeEpoch('2-bbbb', 4);
  await fast.frame({ requestId: 'r', epoch: '2-bbbb', snapshot: true });
  slow.socket.resume();
  for (const requestId of ['r', 'c']) {
    await slow.frame({ requestId, epoch: '2-bbbb', snapshot: true });
    const resyncs = slow.of(requestId).filter(({ event }) => event === 'Resync');
    assert.deepEqual(resyncs.at(-1)?.data, { reason: 'epoch', skipped: 0 });
  }
  market.count('a');
  await slow.frame({ requestId: 'c', epoch: '2-bbbb', seq: 5 });
});

test('a Resync that found no room is sent again before the snapshot', async (t) => {
  const options = { behindBytes: 65_536, wakeBytes: 16_384, bufferBytes: 262_144, sweepMs: 5 };
  const node = await startNode(t, { options });
  const { market, port } = node;
  const client = await Client.open(port);
  client.subscribe('r', 'Bars', { series: 's' });
  client.subscribe('c', 'Counter', { name: 'a' });
  await until('snapshots', () => client.frames.length === 2);
  market.trade('s', 1);
  market.count('a');
  await client.frame({ requestId: 'c', seq: market.seq });
  // The snapshot of the first subscription leaves no room for the Resync of the second.
  market.padding = 'x'.repeat(16 * 1_048_576);
  market.changeEpoch('2-bbbb', market.seq + 1);
  await client.frame({ requestId: 'c', epoch: '2-bbbb', snapshot: true });
  const renewed = client.of('c').filter(({ epoch }) => epoch === '2-bbbb');
  const events = renewed.map(({ event, snapshot }) => (snapshot === true ? 'snapshot' : event));
  assert.deepEqual(events, ['Resync', 'snapshot']);
  assert.deepEqual(node.faults, []);
});

test('a subscription whose acknowledgement found no room begins later', async (t) => {
  const options = { behindBytes: 65_536, wakeBytes: 16_384, bufferBytes: 262_144, sweepMs: 5 };
  const node = await startNode(t, { options });
  const { market, port } = node;
  const client = await Client.open(port);
  client.send({ messageType: 'connect', requestId: 'hello', data: { acks: true } });
  const since = { epoch: '1-aaaa', seq: market.seq + 5 };
  client.subscribe('r', 'Bars', { series: 's' }, { since });
  client.subscribe('c', 'Counter', { name: 'a' }, { since });
  client.send({ messageType: 'ping', requestId: 'asked' });
  await client.frame({ requestId: 'asked' });
  // Both wait for a position; the first snapshot leaves no room for the second acknowledgement.
  market.trade('s', 1);
  market.padding = 'x'.repeat(16 * 1_048_576);
  market.changeEpoch('2-bbbb', market.seq + 1);
  await client.frame({ requestId: 'c', epoch: '2-bbbb', snapshot: true });
  const events = client.of('c').map(({ event, snapshot }) => (snapshot ? 'snapshot' : event));
  assert.deepEqual(events, ['Subscribed', 'snapshot']);
  market.count('a');
  await client.frame({ requestId: 'c', seq: market.seq });
  assert.deepEqual(node.faults, []);
});

test('a bar that ends while a dropped snapshot is awaited is sent', async (t) => {
  const options = { behindBytes: 65_536, wakeBytes: 16_384, bufferBytes: 262_144, sweepMs: 5 };
  const node = await startNode(t, { options });
  const { market, port, behind, resyncs } = node;
  const fast = await Client.open(port);
  const slow = await Client.open(port);
  fast.subscribe('c', 'Counter', { name: 'a' });
  slow.subscribe('r', 'Bars', { series: 's' });
  await until('snapshots', () => slow.frames.length === 1 && fast.frames.length === 1);
  slow.socket.pause();
  // Larger than the buffers of the operating system for one socket: behind one frame there is no
  // room for another.
  market.padding = 'x'.repeat(16 * 1_048_576);
  market.trade('s', 1);
  await until('the slow one is behind', () => behind.length === 1);
  market.trade('s', 2);
  market.count('a');
  await fast.frame({ requestId: 'c', seq: market.seq });
  const heard = resyncs.push.bind(resyncs);
  resyncs.push = (...reasons) => {
    if (resyncs.length === 0) {
      queueMicrotask(() => {
        market.padding = '';
        market.trade('s', 3, { final: true });
        market.trade('s', 4);
      });
    }
    return heard(...reasons);
  };
  slow.socket.resume();
  await until('its end state', () => replay(slow.of('r')).bars.size === 2);
  const first = slow
    .of('r')
    .filter(({ event, data }) => event === 'BarsUpdate' && data?.time === 0);
  assert.deepEqual([first.at(-1)?.data.value, first.at(-1)?.data.final], [3, true]);
  await slow.frame({ requestId: 'r', seq: market.seq });
  assert.deepEqual(node.faults, []);
});

test('a reader that never reads again is closed', async (t) => {
  const node = await startNode(t, { options: { behindMs: 100, sweepMs: 10 } });
  const { market, port, closes } = node;
  market.padding = 'x'.repeat(65_536);
  const fast = await Client.open(port);
  const slow = await Client.open(port);
  for (const client of [fast, slow]) client.subscribe('r', 'Bars', { series: 's' });
  await until('snapshots', () => slow.frames.length === 1 && fast.frames.length === 1);
  slow.socket.pause();
  await trade(node, fast, OFFERED);
  await until('closed by the server', () => closes.includes(4008));
  slow.socket.resume();
  await until('client sees the end', () => slow.closeCode !== null);
  assert.equal(fast.closeCode, null);
});

test('a subscription asked for while the socket does not read starts when it does', async (t) => {
  const node = await startNode(t, { options: { behindBytes: 20_000, sweepMs: 5 } });
  const { market, port } = node;
  market.padding = 'x'.repeat(65_536);
  const fast = await Client.open(port);
  const slow = await Client.open(port);
  for (const client of [fast, slow]) client.subscribe('r', 'Bars', { series: 's' });
  await until('snapshots', () => slow.frames.length === 1 && fast.frames.length === 1);
  slow.socket.pause();
  await trade(node, fast, OFFERED);
  slow.subscribe('late', 'Counter', { name: 'a' }, { snapshot: true });
  for (let i = 0; i < 20; i++) await nextTurn();
  market.count('a');
  slow.socket.resume();
  const snapshot = await slow.frame({ requestId: 'late', event: 'CounterUpdate' });
  assert.deepEqual([snapshot.snapshot, snapshot.data.value], [true, 1]);
});

test('readers that stop and go at random all end in the same state', async (t) => {
  const options = { behindBytes: 65_536, wakeBytes: 16_384, bufferBytes: 262_144, sweepMs: 500 };
  const node = await startNode(t, { options });
  const { market, port } = node;
  const seed = 20_260_731;
  const rng = seededRng(seed);
  const clients: Client[] = [];
  for (let i = 0; i < 8; i++) {
    const protocols = i % 2 === 0 ? ['json'] : ['msgpack'];
    const client = await Client.open(port, { protocols });
    client.subscribe(i % 3, 'Bars', { series: 's' }, i % 4 === 3 ? { maxHz: 20 } : {});
    client.subscribe('c', 'Counter', { name: 'a' });
    clients.push(client);
  }
  await until('snapshots', () => clients.every(({ frames }) => frames.length >= 2));
  market.padding = 'x'.repeat(200_000);
  for (let step = 0; step < 150; step++) {
    market.trade('s', step, { final: rng.unit() < 0.1 });
    if (rng.unit() < 0.3) market.count('a');
    const client = clients[Math.floor(rng.unit() * clients.length)];
    if (rng.unit() < 0.85) client?.socket.pause();
    else client?.socket.resume();
    const startMs = performance.now();
    await until('time for a flush', () => performance.now() - startMs > 6);
  }
  market.padding = '';
  market.trade('s', -1);
  market.count('a');
  for (const client of clients) client.socket.resume();
  const value = market.counters.get('a')?.value;
  const bars = market.bars.get('s') ?? [];
  for (const [index, client] of clients.entries()) {
    const what = `end state of client ${index}, seed ${seed}`;
    const atEnd = () => client.frames.findLast(({ requestId }) => requestId === 'c')?.data.value;
    await until(what, () => atEnd() === value);
    const ended = () => replay(client.of(index % 3)).seq >= market.seq - 1;
    await until(what, ended);
    const known = replay(client.of(index % 3)).bars;
    for (const { time, final } of bars) {
      if (final) assert.match(JSON.stringify(known.get(time)), /"final":true/, what);
    }
  }
  assert.deepEqual(node.faults, []);
});
