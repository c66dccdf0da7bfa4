/** Nodes that are new or far behind load a snapshot, because the log was trimmed. */
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { NatsSnapshots } from '../../src/cluster/snapshots/natsSnapshots.ts';
import { ObjectFiles } from '../../src/cluster/snapshots/objectStore.ts';
import type { Log } from '../../src/engine/log/port.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { systemRng } from '../../src/engine/runtime/rng.ts';
import type { SnapshotStore } from '../../src/engine/snapshots/port.ts';
import type { TestApp } from '../support/app.ts';
import { NatsServer, openLog } from '../support/nats.ts';
import { type Scope, temporaryDirectory } from '../support/server.ts';
import { untilAsked } from '../support/until.ts';
import { newMarket, same, startNode, type TestMarket, trade } from './nodes.ts';

interface Shared {
  readonly log: Log;
  readonly objects: ObjectFiles;
  readonly snapshots: SnapshotStore;
}

async function sharedOf(scope: Scope, server: NatsServer): Promise<Shared> {
  const link = await server.connect(scope);
  const shape = { bucket: 'upcurve-files', replicas: 1 };
  const objects = new ObjectFiles(link, systemClock, systemRng, shape);
  const log = await openLog(scope, link, 'upcurve');
  return { log, objects, snapshots: new NatsSnapshots(objects, temporaryDirectory(scope)) };
}

/** The log begins after `seq`; two snapshots are there. Snapshots are taken while entries come. */
async function trimmedPast(shared: Shared, seq: number, node: TestApp): Promise<void> {
  const ask = async () => {
    await trade(node, 1);
    return { first: await shared.log.first(), snapshots: (await shared.snapshots.list()).length };
  };
  const isPast = ({ first, snapshots }: { first: number; snapshots: number }) =>
    first > seq && snapshots === 2;
  await untilAsked(`the log is trimmed past ${seq}`, ask, isPast, 120_000);
}

interface Joined {
  readonly first: TestApp;
  /** Stopped, then started with its old state. */
  readonly again: TestApp;
  readonly late: string;
}

async function joinTrimmed(scope: Scope, server: NatsServer, market: TestMarket): Promise<Joined> {
  const [first, late] = [await startNode(scope, market, 'a'), temporaryDirectory()];
  const behind = await startNode(scope, market, 'b', late);
  const shared = await sharedOf(scope, server);
  await trade(first, 3);
  await same(first, behind);
  const { seq } = behind.app.node.applied();
  await behind.stop();
  await trade(first, 20);
  await trimmedPast(shared, seq, first);
  const again = await startNode(scope, market, 'b', late);
  await same(first, again);
  await again.app.chain?.devnet?.fork(10, 'all');
  await trade(again, 2);
  await same(first, again);
  const [newest] = await shared.snapshots.list();
  const bad = join(temporaryDirectory(), 'bad');
  writeFileSync(bad, 'no database');
  assert.ok(newest !== undefined);
  await shared.objects.put(newest.name, bad);
  const fresh = await startNode(scope, market, 'c');
  await trade(fresh, 1);
  await same(first, again, fresh);
  const leftOver = readdirSync(late).filter((name) => /snapshot-|join-|pair|part/.test(name));
  assert.deepEqual(leftOver, []);
  return { first, again, late };
}

async function joinNextEpoch(
  scope: Scope,
  server: NatsServer,
  market: TestMarket,
  { first, again: behind, late }: Joined,
): Promise<void> {
  await behind.stop();
  await trade(first, 12);
  const { epoch } = first.app.node.applied();
  await server.restart('deleted');
  await untilAsked(
    'an epoch begins',
    async () => first.app.node.applied().epoch,
    (now) => now !== epoch,
    90_000,
  );
  const again = await startNode(scope, market, 'b', late);
  const fresh = await startNode(scope, market, 'd');
  await trade(again, 1);
  await same(first, again, fresh);
}

test('nodes that are new or were away load snapshots', async (t) => {
  const server = await NatsServer.start(t);
  const market = await newMarket(t, server, 40);
  let joined: Joined | null = null;
  await t.test('join a trimmed log, also with a damaged snapshot', async () => {
    joined = await joinTrimmed(t, server, market);
  });
  await t.test('join an epoch that they missed, after all of NATS was lost', async () => {
    assert.ok(joined !== null);
    await joinNextEpoch(t, server, market, joined);
  });
});
