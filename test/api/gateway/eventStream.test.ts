/** Server-sent events: the frames of a socket, positions to continue from, the rules of sockets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventStreamRoutes } from '../../../src/api/sse/routes.ts';
import { until } from '../../support/until.ts';
import { Client, type Frame } from './client.ts';
import { EventStreamClient, type StreamEvent } from './eventStreamClient.ts';
import { startNode, type TestNode } from './node.ts';
import { get, RawConnection } from './raw.ts';

const routes = eventStreamRoutes();
const counter = (requestId: string, topic = 'Counter') => {
  return { requestId, topic, data: { name: requestId } };
};

/** The state of a client that follows the rules of the README; throws where something was lost. */
function known(events: readonly StreamEvent[]): Map<unknown, unknown> {
  const values = new Map<unknown, unknown>();
  const seqs = new Map<unknown, number>();
  for (const { event, frame } of events) {
    if (!event.endsWith('Update')) continue;
    const { requestId, seq, prev, snapshot, data } = frame;
    const own = seqs.get(requestId) ?? -1;
    if (snapshot !== true) {
      if (seq <= own) continue;
      assert(prev !== null && prev <= own, `${requestId}: lost between ${own} and ${prev}`);
    }
    seqs.set(requestId, seq);
    values.set(requestId, data.value);
  }
  return values;
}

test('HEAD tells the head of a stream, and opens none', async (t) => {
  const { port, sockets, closes } = await startNode(t, { routes });
  const connection = new RawConnection(port);
  const target = `/v1/stream?sub=${encodeURIComponent(JSON.stringify(counter('a')))}`;
  for (let round = 0; round < 2; round += 1) {
    const head = await connection.ask(get(target, [], 'HEAD'), true);
    assert.deepEqual([head.status, head.headers['content-type']], [200, 'text/event-stream']);
    assert.equal(head.headers['content-length'], undefined);
  }
  const refused = await connection.ask(get('/v1/stream?sub=x', [], 'HEAD'), true);
  assert.deepEqual([refused.status, connection.received], [400, '']);
  assert.deepEqual([sockets.open, closes], [0, []]);
  connection.socket.destroy();
});

test('a stream has the frames of a socket, and ends as its client does', async (t) => {
  const node = await startNode(t, { routes });
  const { market, port, sockets } = node;
  const subs = [counter('a'), counter('b')];
  const socket = await Client.open(port);
  socket.send({ messageType: 'subscribe', topics: subs });
  const streams = [
    await EventStreamClient.open(port, { query: subs }),
    await EventStreamClient.open(port, { body: subs }),
  ];
  for (const stream of streams) await stream.event('CounterUpdate', 2);
  assert.equal(sockets.open, 3);
  for (let round = 0; round < 20; round += 1) {
    market.count(...(round % 3 === 0 ? ['a', 'b'] : ['a']));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const frames = () => socket.frames.map(({ ts: _, ...frame }) => frame);
  const last = [20, 7];
  const values = (events: readonly { event: string; data: Record<string, unknown> }[]) =>
    ['a', 'b'].map((name) => events.filter(({ data }) => data.name === name).at(-1)?.data.value);
  const isAll = (frames: readonly Frame[]) => String(values(frames)) === String(last);
  await until('the socket has all', () => isAll(socket.frames));
  for (const stream of streams) {
    await until('the stream has all', () => isAll(stream.events.map(({ frame }) => frame)));
    assert.deepEqual(
      [...known(stream.events)],
      [
        ['a', 20],
        ['b', 7],
      ],
    );
    const { headers, statusCode } = stream.response;
    assert.deepEqual([statusCode, headers['content-type']], [200, 'text/event-stream']);
    assert.deepEqual([headers['cache-control'], headers['x-accel-buffering']], ['no-store', 'no']);
    assert.equal(headers['access-control-allow-origin'], '*');
    assert.equal(stream.retry, '1000');
    assert.equal(stream.lastId, `1-aaaa:${market.seq}`);
    assert(stream.events.every(({ event, frame }) => event === frame.event));
    const sent = stream.events.map(({ frame: { ts: _, ...frame } }) => frame);
    assert.deepEqual(sent, frames());
    stream.close();
  }
  await until('the streams are closed', () => sockets.open === 1);
  assert.deepEqual(node.faults, []);
});

test('an id stands only where all subscriptions are complete', async (t) => {
  const { market, port } = await startNode(t, { routes });
  const query = [counter('a'), counter('s', 'SlowCounter')];
  const stream = await EventStreamClient.open(port, { query });
  await stream.event('s');
  const id = () => stream.lastId;
  assert.equal(id(), '1-aaaa:10');
  // A flush of the slow one, so that its next flush has to wait.
  market.count('s');
  await until('the slow one has it', () => id() === '1-aaaa:11');
  market.count('a', 's');
  market.count('a');
  await until('the fast one has it', () => stream.of('a').at(-1)?.frame.seq === 13);
  const early = stream.of('a').at(-1);
  assert.equal(id() === '1-aaaa:13', stream.of('s').at(-1)?.frame.seq === 12);
  assert(early !== undefined && early.id !== '');
  await until('both have it', () => id() === '1-aaaa:13');
  assert.deepEqual([...known(stream.events)].sort(), [
    ['a', 2],
    ['s', 2],
  ]);
});

test('Last-Event-ID brings what is missing, and whole state beyond the horizon', async (t) => {
  const { market, port } = await startNode(t, { routes });
  const query = [counter('a'), counter('b')];
  market.count('a', 'b');
  const first = await EventStreamClient.open(port, { query });
  await first.event('CounterUpdate', 2);
  const { lastId } = first;
  assert.equal(lastId, '1-aaaa:11');
  first.close();
  market.count('a');
  market.count('a');
  const headers = { 'last-event-id': lastId };
  const again = await EventStreamClient.open(port, { query, headers });
  await until('it continues', () => again.lastId === '1-aaaa:13');
  const updates = again.of('CounterUpdate').map(({ frame }) => [frame.requestId, frame.data.value]);
  assert.deepEqual(updates, [['a', 3]], 'b has not changed');
  const acks = again.of('Subscribed').map(({ frame }) => frame.data.recovered);
  assert.deepEqual(acks, [true, true]);
  assert.deepEqual(
    [...known([...first.events, ...again.events])],
    [
      ['a', 3],
      ['b', 1],
    ],
  );
  market.horizon = 12;
  const late = await EventStreamClient.open(port, { query, headers });
  await late.event('CounterUpdate', 2);
  assert(late.of('CounterUpdate').every(({ frame }) => frame.snapshot === true));
});

test('malformed input is 400, by its path', async (t) => {
  const { port, sockets } = await startNode(t, { routes });
  const good = counter('a');
  const bad: readonly [Parameters<typeof EventStreamClient.open>[1], string][] = [
    [{ query: [] }, 'query.sub'],
    [{ query: ['{'] }, 'query.sub.0'],
    [{ query: [good, '7'] }, 'query.sub.1'],
    [{ query: [{ topic: 'Nothing' }] }, 'query.sub.0.topic'],
    [{ query: [good, { topic: 'Counter', data: { name: 5 } }] }, 'query.sub.1.data.name'],
    [{ query: [good, { ...good, data: { name: 'b' } }] }, 'query.sub.1.requestId'],
    [{ query: [{ ...good, maxHz: 0 }] }, 'query.sub.0.maxHz'],
    [{ query: [{ ...good, since: 'x' }] }, 'query.sub.0.since'],
    [{ query: Array(21).fill(good) }, 'query.sub'],
    [{ query: [{ ...good, note: 'x'.repeat(3_072) }] }, 'query.sub'],
    [{ query: [good], headers: { 'last-event-id': '12' } }, 'headers.last-event-id'],
    [{ body: {} }, 'body'],
    [{ body: [] }, 'body'],
    [{ body: [{ data: {} }] }, 'body.0.topic'],
    [{ body: [good, { topic: 'Counter', data: {} }] }, 'body.1.data.name'],
  ];
  for (const [opening, path] of bad) {
    const stream = await EventStreamClient.open(port, opening);
    await until('the answer ends', () => stream.isEnded);
    assert.equal(stream.response.statusCode, 400, path);
    const { cause, details } = JSON.parse(stream.text);
    assert.equal(cause, 'INVALID_PARAMS');
    const paths = details.map((detail: { path: string }) => detail.path);
    assert(paths.includes(path), `${path}: ${stream.text}`);
  }
  assert.equal(sockets.open, 0);
});

test('a temporary refusal is an Error event, after which the stream ends', async (t) => {
  const reads = { perSecond: 0.05, burst: 3 };
  const options = { limitLoopback: true, maxSocketsPerAddress: 1, reads, positionWaitMs: 20 };
  const { market, port, sockets, faults } = await startNode(t, { routes, options });
  const told = async (opening: Parameters<typeof EventStreamClient.open>[1]) => {
    const stream = await EventStreamClient.open(port, opening);
    await until('the stream ends', () => stream.isEnded);
    assert.equal(stream.response.statusCode, 200);
    const { frame } = await stream.event('Error');
    return [frame.data.cause, frame.data.retry, stream.retry];
  };
  const query = [counter('a')];
  market.isSynced = false;
  assert.deepEqual(await told({ query }), ['NOT_READY', true, '1000']);
  market.isSynced = true;
  const open = await EventStreamClient.open(port, { query });
  await open.event('a');
  assert.deepEqual(await told({ body: query }), ['LIMIT_EXCEEDED', true, '1000']);
  const refused = await told({ query });
  assert.deepEqual(refused.slice(0, 2), ['RATE_LIMITED', true]);
  assert(Number(refused[2]) > 10_000, `${refused[2]} is the time until the next token`);
  market.count('a');
  await open.event('CounterUpdate', 2);
  assert.equal(sockets.open, 1);
  open.close();
  assert.deepEqual(faults, []);
});

test('a position that this node has not reached is waited for, then refused', async (t) => {
  const query = [counter('a'), counter('b')];
  const ahead = (seq: number) => ({ query, headers: { 'last-event-id': `1-aaaa:${seq}` } });
  const patient = await startNode(t, { routes, options: { positionWaitMs: 60_000 } });
  const early = await EventStreamClient.open(patient.port, ahead(12));
  patient.market.count('a');
  patient.market.count('a');
  await until('it begins', () => early.lastId === '1-aaaa:12');
  assert.deepEqual(early.of('CounterUpdate'), [], 'its client has that already');
  const { port } = await startNode(t, { routes, options: { positionWaitMs: 20 } });
  const stream = await EventStreamClient.open(port, ahead(99));
  await until('the stream ends', () => stream.isEnded);
  const { frame } = await stream.event('Error');
  assert.deepEqual([frame.data.cause, frame.data.retry], ['NOT_READY', true]);
  assert.equal(stream.lastId, '');
});

test('pings say how far a quiet stream is; a new epoch begins with Resync', async (t) => {
  const { market, port } = await startNode(t, { routes, options: { heartbeatMs: 30 } });
  const stream = await EventStreamClient.open(port, { query: [counter('a'), { topic: 'Beat' }] });
  await stream.event('a');
  market.count('other');
  const { frame } = await stream.event('Ping', 3);
  assert.deepEqual([frame.requestId, frame.messageType, frame.data.seq], [null, 'Request', 11]);
  assert.equal(stream.lastId, '1-aaaa:11');
  market.changeEpoch('2-bbbb', 3);
  await stream.event('Resync');
  await until('the new epoch', () => stream.lastId === '2-bbbb:3');
  assert.equal(stream.of('a').at(-1)?.frame.snapshot, true);
});

/** Opens two clients: the first reads, and the second stops reading. */
async function readers({ market, port }: TestNode) {
  market.padding = 'x'.repeat(65_536);
  const body = [{ requestId: 's', topic: 'Bars', data: { series: 's' } }];
  const slow = await EventStreamClient.open(port, { body });
  const fast = await EventStreamClient.open(port, { body });
  await fast.event('s');
  await slow.event('s');
  slow.response.pause();
  return { slow, fast };
}

test('a reader that stops is brought up to date', async (t) => {
  const node = await startNode(t, { routes, options: { sweepMs: 10, heartbeatMs: 20 } });
  const { market, closes } = node;
  const { slow, fast } = await readers(node);
  for (let value = 0; value < 200; value += 1) {
    const { length } = fast.events;
    market.trade('s', value, { final: value % 50 === 0 });
    await until('the fast one has it', () => fast.events.length > length);
  }
  assert(slow.of('s').length < 150, `${slow.of('s').length} events were buffered`);
  slow.response.resume();
  const newest = () => slow.of('BarsUpdate').at(-1)?.frame.data?.value;
  await until('the slow one is up to date', () => newest() === 199);
  const finals = (stream: EventStreamClient) => {
    const ended = stream.of('BarsUpdate').filter(({ frame }) => frame.data?.final === true);
    return [...new Set(ended.map(({ frame }) => frame.data.time))];
  };
  assert.deepEqual(finals(slow), finals(fast), 'every bar that ended');
  assert.deepEqual(closes, []);
});

test('a reader that stays away is let go, and no other', async (t) => {
  const options = { behindMs: 500, sweepMs: 10, heartbeatMs: 20 };
  const node = await startNode(t, { routes, options });
  const { market, sockets, closes } = node;
  await readers(node);
  for (let value = 0; closes.length === 0; value += 1) {
    market.trade('s', value);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.deepEqual(closes, [4008]);
  assert.equal(sockets.open, 1);
});

test('a node that goes away says when to come back', async (t) => {
  const { gateway, port } = await startNode(t, { routes });
  const stream = await EventStreamClient.open(port, { query: [counter('a')] });
  await stream.event('a');
  await gateway.stop();
  await until('the stream ends', () => stream.isEnded);
  const { frame } = await stream.event('Shutdown');
  assert.equal(String(frame.data.reconnectAfterMs), stream.retry);
});
