/** Readers of a stream whose connection is lost or closed: none waits for its time limit. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Announcements } from '../../../src/cluster/nats/announcements.ts';
import { Bucket } from '../../../src/cluster/nats/bucket.ts';
import { StreamFollower } from '../../../src/cluster/nats/follower.ts';
import { RangeFetcher } from '../../../src/cluster/nats/range.ts';
import { manager } from '../../../src/cluster/nats/stream.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { appendAll } from '../../contracts/log.ts';
import { chainAfter, EMPTY_TAIL } from '../../support/chain.ts';
import { HandClock } from '../../support/handClock.ts';
import { marketName, NatsServer, openLog, PATIENT_MS } from '../../support/nats.ts';
import { NatsProxy } from '../../support/natsProxy.ts';
import { until } from '../../support/until.ts';

/** Longer than the runner waits: a request that is not told of the loss fails the test. */
const HOUR_MS = 3_600_000;

/** A market's stream with five entries, and a connection that is cut at the first such request. */
async function cutAt(scope: TestContext, request: string) {
  const server = await NatsServer.start(scope);
  const name = marketName();
  const log = await openLog(scope, await server.connect(scope), name);
  await appendAll(log, chainAfter(EMPTY_TAIL, 5));
  const proxy = await NatsProxy.start(scope, server.port);
  const link = await server.connect(scope, proxy.url);
  let cuts = 0;
  proxy.heard = (text) => {
    if (cuts > 0 || !text.includes(request)) return;
    cuts += 1;
    proxy.cut();
  };
  return { link, name, jsm: await manager(link, HOUR_MS), cuts: () => cuts };
}

for (const request of ['$JS.API.CONSUMER.CREATE.', '$JS.API.CONSUMER.MSG.NEXT.']) {
  test(`a read rejects when the connection is lost at ${request}`, async (scope) => {
    const { link, name, jsm, cuts } = await cutAt(scope, request);
    const reader = new RangeFetcher(link, jsm, name, new HandClock());
    await assert.rejects(reader.read(1, 5), /NATS/);
    assert.equal(cuts(), 1);
    await until('it is connected again', () => link.connected);
    assert.equal((await reader.read(1, 5)).length, 5);
  });
}

test('a follower whose connection is lost at its first request follows', async (scope) => {
  const { link, name, jsm, cuts } = await cutAt(scope, '$JS.API.CONSUMER.CREATE.');
  const heard: number[] = [];
  const follower = new StreamFollower(link, jsm, name, systemClock, ({ seq }) => heard.push(seq));
  scope.after(() => follower.stop());
  await follower.follow(1);
  await until('it has all entries', () => heard.length === 5);
  assert.deepEqual([heard, cuts()], [[1, 2, 3, 4, 5], 1]);
});

test('a follower waits while the connection is closed, and stops', async (scope) => {
  const server = await NatsServer.start(scope);
  const link = await server.connect(scope);
  const name = marketName();
  await openLog(scope, link, name);
  const follower = new StreamFollower(
    link,
    await manager(link, PATIENT_MS),
    name,
    systemClock,
    () => {},
  );
  await follower.follow(1);
  const closing = link.close();
  const following = follower.follow(1);
  follower.stop();
  await following;
  await closing;
});

test('without a connection every method of a bucket is unreachable', async (scope) => {
  const server = await NatsServer.start(scope);
  const link = await server.connect(scope);
  const shape = { name: marketName(), replicas: 1, ttlMs: 1_000 };
  const announcements = new Announcements(new Bucket(link, shape, PATIENT_MS), systemClock);
  assert.deepEqual(await announcements.others('a'), []);
  await link.close();
  assert.equal(await announcements.others('a'), 'unreachable');
});
