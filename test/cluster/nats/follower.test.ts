/** Readers of a stream whose connection is being closed: no unhandled rejection. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Announcements } from '../../../src/cluster/nats/announcements.ts';
import { Bucket } from '../../../src/cluster/nats/bucket.ts';
import { StreamFollower } from '../../../src/cluster/nats/follower.ts';
import { manager } from '../../../src/cluster/nats/stream.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { marketName, NatsServer, openLog, PATIENT_MS } from '../../support/nats.ts';

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
  const announcements = new Announcements(new Bucket(link, shape, PATIENT_MS));
  assert.deepEqual(await announcements.others('a'), []);
  await link.close();
  assert.equal(await announcements.others('a'), 'unreachable');
});
