/** Deliveries to a real receiver: order, signatures, failures of an hour and of a day, restarts. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { StoredWebhook } from '../../../src/api/webhooks/port.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { answerWith, isSigned, Receiver } from './receiver.ts';
import { keysOf, SECRET, WebhookWorld } from './world.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

async function start(t: TestContext) {
  const world = new WebhookWorld(t);
  const receiver = await Receiver.start(t);
  world.start();
  return { world, receiver, market: world.market };
}

const bars = (series: string) => ({ topic: 'Bars', data: { series } });
const values = (receiver: Receiver, requestId: string | number = '0') =>
  receiver
    .framesOf(requestId)
    .filter(({ event }) => event === 'BarsUpdate')
    .map(({ data }) => data?.value);

test('begins with a snapshot; then each change comes once, in order, signed', async (t) => {
  const { world, receiver, market } = await start(t);
  market.trade('a', 1, { final: true });
  const { id } = await world.add(receiver.url, [bars('a'), { ...bars('b'), requestId: 7 }]);
  const first = await receiver.received(1);
  assert.deepEqual(
    first.frames.map(({ requestId, event, data }) => [requestId, event, data?.recovered]),
    [
      ['0', 'Subscribed', false],
      ['0', 'BarsUpdate', undefined],
      [7, 'Subscribed', false],
      [7, 'BarsUpdate', undefined],
    ],
  );
  assert.deepEqual([first.id, first.position], [id, '1-aaaa:11']);
  for (let value = 2; value <= 9; value += 1) {
    market.trade(value % 2 === 0 ? 'a' : 'b', value, { final: true });
    if (value % 3 === 0) {
      await world.ticksUntil(
        'it came',
        () => receiver.accepted.at(-1)?.position === `1-aaaa:${value + 10}`,
      );
    }
  }
  await world.ticksUntil('all came', () => receiver.accepted.at(-1)?.position === '1-aaaa:19');
  assert.deepEqual(values(receiver, '0'), [1, 2, 4, 6, 8]);
  assert.deepEqual(values(receiver, 7).slice(1), [3, 5, 7, 9]);
  assert(receiver.all.every((received) => isSigned(received, SECRET)));
  assert(!isSigned(first, `${SECRET}x`));
  assert.equal(receiver.mostAtOnce, 1);
  assert.deepEqual(world.errors, []);
});

test('only one is under way, and what happens meanwhile comes with the next', async (t) => {
  const { world, receiver, market } = await start(t);
  receiver.behaviour = receiver.hold;
  await world.add(receiver.url, [bars('a')]);
  await receiver.received(1);
  for (let value = 1; value <= 50; value += 1) market.trade('a', value, { final: true });
  await world.clock.advance(SECOND_MS);
  assert.equal(receiver.all.length, 1);
  receiver.behaviour = (response) => void response.writeHead(200).end('thanks');
  receiver.held[0]?.writeHead(200).end();
  await world.ticksUntil('all came', () => values(receiver).length === 51);
  assert.equal(receiver.all.length, 2);
  assert.deepEqual(
    values(receiver).slice(1),
    Array.from({ length: 50 }, (_, i) => i + 1),
  );
  assert.equal(receiver.connections, 1, 'the connection is kept');
});

test('a receiver that fails for an hour gets everything afterwards, in order', async (t) => {
  const { world, receiver, market } = await start(t);
  await world.add(receiver.url, [bars('a')]);
  await world.delivered();
  receiver.behaviour = answerWith(503);
  const failed = () => world.errors.length;
  let value = 0;
  const pauses: number[] = [];
  const startMs = world.clock.nowMs();
  market.trade('a', ++value, { final: true });
  await world.ticksUntil('it failed', () => failed() === 1);
  while (world.clock.nowMs() - startMs < HOUR_MS) {
    const [before, atMs] = [failed(), world.clock.nowMs()];
    await world.ticksUntil('saved', () => true);
    const { nextTryMs, failingSinceMs, isStopped } = await world.progress();
    assert.deepEqual([failingSinceMs !== null, isStopped], [true, false]);
    market.trade('a', ++value, { final: true });
    await world.clock.advance(Math.max(0, (nextTryMs ?? 0) - world.clock.nowMs()));
    await world.ticksUntil('it failed again', () => failed() > before);
    pauses.push(Math.round((world.clock.nowMs() - atMs) / SECOND_MS));
  }
  assert.deepEqual(pauses.slice(0, 9), [1, 2, 4, 8, 16, 32, 64, 128, 256]);
  assert(
    pauses.slice(9).every((pause) => pause >= 299 && pause <= 301),
    pauses.join(),
  );
  receiver.behaviour = (response) => void response.writeHead(200).end();
  await world.clock.advance(300 * SECOND_MS);
  await world.ticksUntil('all came', () => values(receiver).at(-1) === value);
  assert.deepEqual(
    values(receiver).slice(1),
    Array.from({ length: value }, (_, i) => i + 1),
  );
  market.trade('a', ++value, { final: true });
  await world.ticksUntil('it continues', () => values(receiver).at(-1) === value);
  const { failures, failingSinceMs, lastError } = await world.progress();
  assert.deepEqual([failures, failingSinceMs, lastError?.message], [0, null, 'it answered 503']);
});

test('after a day of failures it stops for good', async (t) => {
  const { world, receiver, market } = await start(t);
  receiver.behaviour = answerWith(500);
  const { id } = await world.add(receiver.url, [bars('a')]);
  for (let hours = 0; hours < 24; hours += 1) {
    const before = world.errors.length;
    await world.clock.advance(HOUR_MS);
    await world.ticksUntil('a try', () => world.errors.length > before);
    assert.deepEqual(world.stopped, []);
  }
  await world.clock.advance(301 * SECOND_MS);
  await world.ticksUntil('it stops', () => world.stopped.length > 0);
  assert.deepEqual(world.stopped, [id]);
  await world.ticksUntil('saved', () => true);
  assert.equal((await world.progress()).isStopped, true);
  const tries = receiver.all.length;
  await world.restart();
  market.trade('a', 1);
  await world.clock.advance(HOUR_MS);
  assert.equal(receiver.all.length, tries);
});

test('redirects, other answers, silence and cut connections are failures', async (t) => {
  const { world, receiver } = await start(t);
  const elsewhere = await Receiver.start(t);
  receiver.behaviour = answerWith(307, { location: elsewhere.url });
  await world.add(receiver.url, [bars('a')]);
  const failing = async (count: number) => {
    await world.ticksUntil(`${count} failures`, () => world.errors.length === count);
    return world.errors[count - 1];
  };
  assert.equal(await failing(1), 'it answered 307');
  receiver.behaviour = answerWith(199 + 105);
  await world.clock.advance(SECOND_MS);
  assert.equal(await failing(2), 'it answered 304');
  receiver.behaviour = (response) => void response.destroy();
  await world.clock.advance(2 * SECOND_MS);
  assert.match(String(await failing(3)), /^no answer \((ECONNRESET|socket hang up)\)$/);
  receiver.behaviour = receiver.hold;
  await world.clock.advance(4 * SECOND_MS);
  await receiver.received(5);
  await world.clock.advance(10 * SECOND_MS);
  assert.equal(await failing(4), 'no answer within 10 s');
  receiver.behaviour = (response) => void response.writeHead(200).end('x'.repeat(1_000_000));
  await world.clock.advance(8 * SECOND_MS);
  await world.ticksUntil('it is accepted', () => receiver.accepted.length === 1);
  assert.equal(elsewhere.all.length, 0);
});

test('a kept connection that the receiver has closed costs no failure', async (t) => {
  const { world, receiver, market } = await start(t);
  await world.add(receiver.url, [bars('a')]);
  for (let value = 1; value <= 20; value += 1) {
    market.trade('a', value, { final: true });
    await world.ticksUntil('it came', () => values(receiver).at(-1) === value);
    receiver.cut();
  }
  assert.deepEqual(world.errors, []);
});

test('after a restart it continues: nothing is missing, and little comes twice', async (t) => {
  const { world, receiver, market } = await start(t);
  await world.add(receiver.url, [bars('a')]);
  await world.delivered();
  market.trade('a', 1, { final: true });
  await world.ticksUntil('it came', () => values(receiver).at(-1) === 1);
  receiver.behaviour = receiver.hold;
  market.trade('a', 2, { final: true });
  await world.ticksUntil('it is under way', () => receiver.held.length === 1);
  await world.restart();
  market.trade('a', 3, { final: true });
  receiver.behaviour = (response) => void response.writeHead(200).end();
  await world.ticksUntil('it came', () => values(receiver).at(-1) === 3);
  assert.deepEqual(values(receiver).slice(1), [1, 2, 3]);
  assert.deepEqual(world.errors, [], 'who stops has not failed');
});

test('beyond the horizon and in another epoch a snapshot says that some is lost', async (t) => {
  const { world, receiver, market } = await start(t);
  await world.add(receiver.url, [bars('a')]);
  await world.delivered();
  receiver.behaviour = answerWith(500);
  for (let value = 1; value <= 5; value += 1) market.trade('a', value, { final: true });
  await world.ticksUntil('it failed', () => world.errors.length === 1);
  market.horizon = market.seq;
  receiver.behaviour = (response) => void response.writeHead(200).end();
  await world.clock.advance(SECOND_MS);
  await world.ticksUntil('it came', () => receiver.accepted.length === 2);
  const kinds = () =>
    receiver.accepted.at(-1)?.frames.map(({ event, data, snapshot, seq }) => {
      return [event, data?.recovered, snapshot, seq];
    });
  assert.deepEqual(kinds(), [
    ['Subscribed', false, undefined, 15],
    ['BarsUpdate', undefined, true, 15],
  ]);
  market.changeEpoch('2-bbbb', 40);
  await world.ticksUntil('it came', () => receiver.accepted.length === 3);
  assert.deepEqual(kinds(), [
    ['Subscribed', false, undefined, 40],
    ['BarsUpdate', undefined, true, 40],
  ]);
  assert.equal(receiver.accepted.at(-1)?.position, '2-bbbb:40');
});

test('a quiet webhook stays within the horizon, also over a restart', async (t) => {
  const { world, receiver, market } = await start(t);
  await world.add(receiver.url, [bars('quiet')]);
  await world.delivered();
  for (let value = 1; value <= 30; value += 1) market.trade('other', value, { final: true });
  for (let minute = 0; minute < 12; minute += 1) await world.clock.advance(60 * SECOND_MS);
  await world.restart();
  market.horizon = 35;
  market.trade('quiet', 1, { final: true });
  await world.ticksUntil('it came', () => values(receiver).at(-1) === 1);
  const events = receiver.accepted.flatMap(({ frames }) => frames.map(({ event }) => event));
  assert.deepEqual(events, ['Subscribed', 'BarsUpdate', 'BarsUpdate']);
});

test('since, no snapshot, and a body that would be too large', async (t) => {
  const { world, receiver, market } = await start(t);
  for (let value = 1; value <= 3; value += 1) market.trade('a', value, { final: true });
  const since = { epoch: '1-aaaa', seq: 11 };
  await world.add(receiver.url, [
    { ...bars('a'), since },
    { ...bars('b'), snapshot: false },
    { ...bars('a'), requestId: 'old', since: { epoch: '0-zzzz', seq: 5 } },
  ]);
  const { frames } = await receiver.received(1);
  assert.deepEqual(
    frames.map(({ requestId, event, data, seq }) => [requestId, event, data?.recovered, seq]),
    [
      ['0', 'Subscribed', true, 11],
      ['0', 'BarsUpdate', undefined, 12],
      ['0', 'BarsUpdate', undefined, 13],
      ['1', 'Subscribed', false, 13],
      ['old', 'Subscribed', false, 13],
      ['old', 'BarsUpdate', undefined, 13],
    ],
  );
  market.padding = 'x'.repeat(300_000);
  receiver.behaviour = answerWith(500);
  for (let value = 4; value <= 13; value += 1) market.trade('b', value, { final: true });
  await world.ticksUntil('it failed', () => world.errors.length === 1);
  market.page = 3;
  receiver.behaviour = (response) => void response.writeHead(200).end();
  await world.clock.advance(SECOND_MS);
  await world.ticksUntil('all came', () => values(receiver, '1').at(-1) === 13);
  assert.deepEqual(values(receiver, '1'), [4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
  const sizes = receiver.accepted.map(({ body }) => body.length);
  assert(Math.max(...sizes) < 1_400_000, sizes.join());
  assert(receiver.accepted.length >= 4, `${receiver.accepted.length}`);
});

test('a node that cannot tell waits, and a topic that fails holds up no other', async (t) => {
  const { world, receiver, market } = await start(t);
  market.isSynced = false;
  await world.add(receiver.url, [bars('a'), { topic: 'Counter', data: { name: 'n' } }]);
  await world.clock.advance(5 * SECOND_MS);
  assert.equal(receiver.all.length, 0);
  market.isSynced = true;
  await world.clock.advance(2 * SECOND_MS);
  await world.delivered();
  market.failure = new Failure('NOT_READY', 'bars are away');
  market.count('n');
  market.trade('a', 1, { final: true });
  const counts = () => receiver.framesOf('1').length;
  await world.ticksUntil('the other came', () => counts() === 3);
  assert.equal(values(receiver).length, 1);
  market.failure = null;
  await world.clock.advance(2 * SECOND_MS);
  await world.ticksUntil('it came', () => values(receiver).at(-1) === 1);
  assert.match(String((await world.progress()).lastError?.message), /bars are away/);
});

test('without its key nothing is sent; removed, nothing more', async (t) => {
  const { world, receiver, market } = await start(t);
  const webhook = await world.add(receiver.url, [bars('a')]);
  await world.delivered();
  const named = keysOf('bot').named('bot');
  assert(named !== null);
  world.apiKeys.replace([]);
  market.trade('a', 1, { final: true });
  await world.clock.advance(100 * SECOND_MS);
  assert.equal(receiver.all.length, 1);
  world.apiKeys.replace([named]);
  await world.clock.advance(300 * SECOND_MS);
  await world.ticksUntil('it came', () => values(receiver).at(-1) === 1);
  assert.equal(await world.store.remove(webhook), null);
  await world.clock.advance(100);
  market.trade('a', 2, { final: true });
  await world.clock.advance(SECOND_MS);
  assert.equal(receiver.all.length, 2);
});

test('many receivers are served, and slow ones hold up no other', async (t) => {
  const { world, receiver, market } = await start(t);
  const slow = await Receiver.start(t);
  slow.behaviour = slow.hold;
  for (let i = 0; i < 10; i += 1) await world.add(slow.url, [bars('a')]);
  for (let i = 0; i < 90; i += 1) await world.add(receiver.url, [bars('a')]);
  await world.ticksUntil('all began', () => receiver.accepted.length >= 90);
  market.trade('a', 1, { final: true });
  const told = () =>
    receiver.accepted.filter(({ frames }) => frames.some(({ prev }) => prev !== null));
  await world.ticksUntil('all were told', () => told().length === 90);
  assert.equal(new Set(told().map(({ id }) => id)).size, 90);
  assert.equal(slow.mostAtOnce, 10);
});

test('marks that are gone from the log: a snapshot, once the log says so', async (t) => {
  const { world, receiver, market } = await start(t);
  await world.add(receiver.url, [bars('a')]);
  await world.delivered();
  const marks = (epoch: string, seq: number) => ({ epoch, marks: [{ seq, prev: seq }] });
  const stored = (await world.store.all()) as readonly StoredWebhook[];
  const [found] = stored;
  assert(found !== undefined);
  await world.stop();
  const progress = { ...found.progress, ...marks('3-later', 4) };
  assert.equal(typeof (await world.store.save({ ...found, progress })), 'number');
  market.end = 'away';
  world.start();
  for (let look = 0; look < 20; look += 1) await world.clock.advance(SECOND_MS);
  assert.equal(receiver.accepted.length, 1, 'the log gave no answer');
  market.end = market.applied();
  await world.ticksUntil('it came', () => receiver.accepted.length === 2);
  const [ack, state] = receiver.accepted.at(-1)?.frames ?? [];
  assert.deepEqual([ack?.data?.recovered, state?.snapshot], [false, true]);
});
