/**
 * All requests of a crowd in one turn of the event loop are answered in slices, even when they come
 * from one caller.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PositionWaiters } from '../../../src/api/gateway/positionWaiters.ts';
import { silentObserver } from '../silentObserver.ts';
import { VirtualClock } from '../topics/world.ts';
import { CALL_MS, crowdWorld, type FakeSocket } from './crowdWorld.ts';
import { Market } from './market.ts';

/** A slice of 3 ms ends after the call that passes it. */
const SLICE_MS = 3 + CALL_MS;
const MANY = 300;
/** More time than the whole crowd takes. */
const LONG_MS = 4_000;

const RICH = { reads: { perSecond: 1_000_000, burst: 1_000_000 } };

function subscribe(count: number, topic = 'Counter') {
  const topics = Array.from({ length: count }, (_, at) => ({
    requestId: `r${at}`,
    topic,
    data: { name: `n${at % 7}` },
  }));
  return { messageType: 'subscribe', topics };
}

/** Microtasks run after each turn: event streams write in them. */
async function pass(clock: VirtualClock, ms: number): Promise<void> {
  for (const untilMs = clock.ms + ms; clock.ms < untilMs; ) {
    clock.advance(1);
    await Promise.resolve();
  }
}

test('the subscriptions of one frame are checked and started in slices, each once', () => {
  const { clock, costs, connect, send, turn } = crowdWorld(RICH);
  const socket = connect();
  costs.accept = CALL_MS;
  const atOnceMs = turn(() => send(socket, subscribe(MANY)));
  assert(atOnceMs <= SLICE_MS + 2 * CALL_MS, `the frame held the loop for ${atOnceMs} ms`);
  clock.advance(LONG_MS);
  assert(clock.longestTurnMs <= SLICE_MS + 2 * CALL_MS, `a turn took ${clock.longestTurnMs} ms`);
  const ids = Array.from({ length: MANY }, (_, at) => `r${at}`);
  assert.deepEqual(socket.ids('Subscribed'), ids);
  assert.deepEqual(socket.ids('CounterUpdate'), ids);
});

test('a subscription ended or named again before its turn is not started for that frame', () => {
  const { clock, costs, connect, send } = crowdWorld(RICH);
  const socket = connect();
  costs.accept = CALL_MS;
  send(socket, subscribe(50));
  send(socket, { messageType: 'unsubscribe', requestId: 'r40' });
  const again = { requestId: 'r41', topic: 'Nothing', data: {} };
  send(socket, { messageType: 'subscribe', topics: [again] });
  clock.advance(LONG_MS);
  const started = socket.ids('CounterUpdate');
  assert.deepEqual([started.includes('r40'), started.includes('r41')], [false, false]);
  assert.deepEqual(socket.ids('Error'), ['r41']);
  assert.equal(started.length, 48);
});

test('a socket may not ask for more than it may hold, however early', () => {
  const { clock, costs, connect, send } = crowdWorld({ ...RICH, maxSubscriptions: 10 });
  const socket = connect();
  costs.accept = CALL_MS;
  send(socket, subscribe(10));
  send(socket, { messageType: 'subscribe', requestId: 'more', topic: 'Beat', data: {} });
  assert.deepEqual(socket.ids('Error'), ['more']);
  clock.advance(LONG_MS);
  assert.equal(socket.ids('CounterUpdate').length, 10);
});

test('event streams that open together are opened, served and pinged in slices', async () => {
  const { clock, market, stream, turn } = crowdWorld(RICH);
  market.count('n');
  const opened: ReturnType<typeof stream>[] = [];
  const atOnceMs = turn(() => {
    for (let at = 0; at < MANY; at += 1) {
      opened.push(stream({ topic: 'Counter', data: { name: 'n' } }));
    }
  });
  assert(atOnceMs <= SLICE_MS, `opening held the loop for ${atOnceMs} ms`);
  await pass(clock, LONG_MS);
  assert(clock.longestTurnMs <= SLICE_MS, `a turn took ${clock.longestTurnMs} ms`);
  const texts = opened.map(({ written }) => written.join(''));
  assert(texts.every((text) => text.split('event: CounterUpdate').length === 2));
  await pass(clock, 2 * LONG_MS);
  const longestMs = clock.longestTurnMs;
  assert(longestMs <= SLICE_MS, `a turn took ${longestMs} ms`);
  assert(opened.every(({ written }) => written.join('').includes('event: Ping')));
});

test('a frame for many sockets goes out in slices, before another flush, and pings wait', () => {
  const { clock, market, streams, connect, send } = crowdWorld(RICH);
  const sockets: FakeSocket[] = [];
  for (let at = 0; at < MANY; at += 1) {
    const socket = connect();
    const id = `r${at}`;
    send(socket, {
      messageType: 'subscribe',
      requestId: id,
      topic: 'Counter',
      data: { name: 'n' },
    });
    clock.advance(SLICE_MS);
    sockets.push(socket);
  }
  clock.advance(LONG_MS);
  clock.longestTurnMs = 0;
  const before = market.seq;
  market.count('n');
  clock.advance(0);
  const told = () => sockets.filter(({ frames }) => frames.at(-1)?.seq === before + 1).length;
  const first = told();
  assert(first > 0 && first < MANY, `${first} were told in the turn of the flush`);
  assert.equal(streams.completeTo(), before, 'not all have it');
  market.count('n');
  clock.advance(LONG_MS);
  assert(clock.longestTurnMs <= 10 + CALL_MS, `a turn took ${clock.longestTurnMs} ms`);
  for (const { frames } of sockets) {
    const seqs = frames.filter(({ event }) => event === 'CounterUpdate').map(({ seq }) => seq);
    assert.deepEqual(seqs.slice(-2), [before + 1, before + 2]);
  }
  assert.equal(streams.completeTo(), before + 2);
});

test('frames sent meanwhile go after the frame that waits for the socket', () => {
  const { clock, market, connect, send } = crowdWorld(RICH);
  const sockets = Array.from({ length: 60 }, (_, at) => {
    const socket = connect();
    const id = `r${at}`;
    send(socket, {
      messageType: 'subscribe',
      requestId: id,
      topic: 'Counter',
      data: { name: 'n' },
    });
    clock.advance(LONG_MS);
    return socket;
  });
  market.count('n');
  clock.advance(0);
  const last = sockets.at(-1);
  assert(last !== undefined && last.frames.at(-1)?.seq !== market.seq, 'it waits');
  send(last, { messageType: 'ping', requestId: 'p' });
  const events = last.frames.slice(-2).map(({ event }) => event);
  assert.deepEqual(events, ['CounterUpdate', 'Pong']);
  clock.advance(LONG_MS);
  assert.equal(last.ids('CounterUpdate').length, 2, 'once');
});

test('sockets that read again are brought up to date in slices', () => {
  const { clock, market, endpoint, connect, send, turn, gateway } = crowdWorld({
    ...RICH,
    sweepMs: 100,
  });
  void gateway.start('here', 0);
  const sockets = Array.from({ length: 40 }, () => {
    const socket = connect();
    send(socket, subscribe(7));
    clock.advance(LONG_MS);
    return socket;
  });
  clock.advance(LONG_MS);
  for (const socket of sockets) endpoint.dropped(socket);
  clock.advance(1);
  market.count('n0', 'n1', 'n2', 'n3', 'n4', 'n5', 'n6');
  clock.longestTurnMs = 0;
  const drainMs = turn(() => {
    for (const socket of sockets) endpoint.drain(socket);
  });
  assert(drainMs <= SLICE_MS, `waking held the loop for ${drainMs} ms`);
  clock.advance(LONG_MS);
  assert(clock.longestTurnMs <= SLICE_MS, `a turn took ${clock.longestTurnMs} ms`);
  for (const { frames } of sockets) {
    const updates = frames.filter(({ event }) => event === 'CounterUpdate');
    const newest = new Map(updates.map(({ requestId, seq }) => [requestId, seq]));
    assert.deepEqual([...newest.values()], Array(7).fill(market.seq));
  }
});

test('sockets are looked at, and the subscriptions of closed ones ended, in slices', async () => {
  const { clock, costs, endpoint, connect, send, turn, gateway } = crowdWorld(RICH);
  const sockets = Array.from({ length: MANY }, () => connect());
  for (const socket of sockets) socket.costs = ['look'];
  await gateway.start('here', 0);
  clock.advance(LONG_MS);
  assert(clock.longestTurnMs <= SLICE_MS, `a sweep held the loop for ${clock.longestTurnMs} ms`);
  for (const [at, socket] of sockets.slice(0, 40).entries()) {
    socket.costs = [];
    const topics = [{ requestId: 1, topic: 'Counter', data: { name: `x${at}` } }];
    send(socket, { messageType: 'subscribe', topics });
    clock.advance(50);
  }
  costs.release = CALL_MS;
  const closeMs = turn(() => {
    for (const socket of sockets) endpoint.close(socket, 1006);
  });
  assert(closeMs > 0 && closeMs <= SLICE_MS, `closing held the loop for ${closeMs} ms`);
  clock.advance(LONG_MS);
  assert(clock.longestTurnMs <= SLICE_MS, `a turn took ${clock.longestTurnMs} ms`);
});

test('requests that waited for one position are answered in slices; one that left is not', () => {
  const clock = new VirtualClock();
  const market = new Market();
  const limits = {
    positionWaitMs: 2_000,
    maxWaiting: 1_000,
    maxWaitingEach: 1,
    maxWaitingCaller: 9,
  };
  const isExempt = () => false;
  const deps = { nodeView: market, clock, limits, isExempt, observer: silentObserver };
  const waiters = new PositionWaiters(deps);
  const done: string[] = [];
  const wait = (name: string, seq: number) => {
    const caller = { key: name, address: name, loopback: false, apiKey: null };
    return waiters.wait({ of: {}, caller }, { epoch: market.epoch, seq }, (outcome) => {
      clock.ms += CALL_MS;
      done.push(outcome);
    });
  };
  const all = Array.from({ length: MANY }, (_, at) => wait(`c${at}`, market.seq + 1));
  const startMs = clock.ms;
  market.count('n');
  assert(clock.ms - startMs <= SLICE_MS, 'in the turn of the position');
  all.at(-1)?.cancel();
  clock.advance(1_000);
  assert(clock.longestTurnMs <= SLICE_MS, `a turn took ${clock.longestTurnMs} ms`);
  assert.deepEqual([done.length, new Set(done)], [MANY - 1, new Set(['arrived'])]);
  for (let at = 0; at < MANY; at += 1) wait(`d${at}`, market.seq + 1);
  clock.advance(10_000);
  assert(clock.longestTurnMs <= SLICE_MS, `those that are late took ${clock.longestTurnMs} ms`);
  assert.deepEqual([done.slice(MANY - 1).length, waiters.owners], [MANY, 0]);
});

test('frames cost their bytes: who owes more than a full bucket is warned, then closed', () => {
  const { clock, connect, send } = crowdWorld({ reads: { perSecond: 10, burst: 10 } });
  const [socket, other] = [connect('a'), connect('b')];
  const frame = { messageType: 'ping', requestId: 1, padding: 'x'.repeat(60_000) };
  let answered = 0;
  for (; socket.ids('Error').length === 0 && answered < 100; answered += 1) send(socket, frame);
  // 20 reads of 32 KiB: its bucket, and as much again.
  assert.equal(answered, Math.ceil((20 * 32_768) / JSON.stringify(frame).length));
  send(other, frame);
  assert.deepEqual(other.ids('Pong'), [1], 'another caller is served');
  for (let at = 0; at < 120; at += 1) send(socket, { messageType: 'ping', requestId: 2 });
  assert.equal(socket.closed, 4429);
  clock.advance(LONG_MS);
});

test('a refused subscription costs a read, as any other', () => {
  const { connect, send, clock } = crowdWorld({ reads: { perSecond: 1, burst: 3 } });
  const socket = connect();
  send(socket, subscribe(3, 'Nothing'));
  send(socket, { messageType: 'subscribe', requestId: 'next', topic: 'Beat', data: {} });
  clock.advance(10);
  assert.deepEqual([socket.ids('Error').length, socket.ids('BeatUpdate').length], [3, 0]);
  clock.advance(1_500);
  assert(socket.ids('BeatUpdate').length > 0);
});
