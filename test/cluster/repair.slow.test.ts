/** A log that lost entries, and nodes that were away meanwhile: all reach the same state again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Devnet } from '../../src/api/devnet/routes.ts';
import { manager } from '../../src/cluster/nats/stream.ts';
import { ObjectFiles } from '../../src/cluster/snapshots/objectStore.ts';
import { TIP } from '../../src/engine/fold/chainRows.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { Failure } from '../../src/engine/runtime/errors.ts';
import { systemRng } from '../../src/engine/runtime/rng.ts';
import { type PointRecord, readRecord } from '../../src/engine/store/records.ts';
import type { TestApp } from '../support/app.ts';
import { NatsServer, openLog, PATIENT_MS } from '../support/nats.ts';
import { NatsProxy } from '../support/natsProxy.ts';
import { type Scope, temporaryDirectory } from '../support/server.ts';
import { until, untilAsked } from '../support/until.ts';
import { newMarket, same, startNode, trade } from './nodes.ts';

const LIMIT_MS = 90_000;
const STREAM = 'upcurve';

function seqOf({ app }: TestApp): number {
  return app.node.applied().seq;
}

function tipOf({ app }: TestApp): PointRecord {
  const text = app.node.fold.store.get('market', TIP);
  assert.ok(text !== null);
  return readRecord<PointRecord>(text);
}

async function newEpoch(node: TestApp, before: string): Promise<void> {
  const isNew = () => node.app.node.applied().epoch !== before;
  await until('an epoch begins', isNew, LIMIT_MS);
}

/** A leader, and a node that follows through a proxy. */
async function pair(scope: Scope, snapshotEvery: number) {
  const server = await NatsServer.start(scope);
  const market = await newMarket(scope, server, snapshotEvery);
  const leader = await startNode(scope, market, 'a');
  const proxy = await NatsProxy.start(scope, server.port);
  const directory = temporaryDirectory();
  const follower = await startNode(scope, { ...market, server: proxy }, 'b', directory);
  await trade(leader, 2);
  await same(leader, follower);
  return { server, market, leader, follower, proxy, link: await server.connect(scope) };
}

type Pair = Awaited<ReturnType<typeof pair>>;

function cutOff(proxy: NatsProxy): void {
  proxy.isClosed = true;
  proxy.cut();
}

test('a follower that was away while the log was trimmed recovers', async (scope) => {
  const { leader, follower, proxy, link } = await pair(scope, 30);
  cutOff(proxy);
  const seq = seqOf(follower);
  const log = await openLog(scope, link, STREAM);
  const traded = async () => {
    await trade(leader, 1);
    return log.first();
  };
  const isPast = (first: number) => first > seq + 1;
  await untilAsked('the log is trimmed past the follower', traded, isPast, LIMIT_MS);
  proxy.isClosed = false;
  await until('it continues', () => seqOf(follower) > seq, LIMIT_MS);
  await same(leader, follower);
  assert.ok(follower.app.node.synced());
  await trade(follower, 1);
  await same(leader, follower);
});

test('a node that opens an epoch publishes its state, and removes old ones', async (scope) => {
  const server = await NatsServer.start(scope);
  const market = await newMarket(scope, server, 1_000_000);
  const directory = temporaryDirectory();
  const link = await server.connect(scope);
  let only = await startNode(scope, market, 'a', directory);
  await trade(only, 2);
  for (let lost = 0; lost < 3; lost += 1) {
    const { epoch } = only.app.node.applied();
    await (await manager(link, PATIENT_MS)).streams.delete(STREAM);
    await newEpoch(only, epoch);
    await trade(only, 1);
  }
  const objects = new ObjectFiles(link, systemClock, systemRng, {
    bucket: `${STREAM}-files`,
    replicas: 1,
  });
  const names = await objects.list();
  assert.ok(!(names instanceof Failure));
  assert.equal(names.filter((name) => name.startsWith('base-')).length, 2);
  const { epoch } = only.app.node.applied();
  await only.stop();
  await server.restart('deleted');
  only = await startNode(scope, market, 'a', directory);
  assert.notEqual(only.app.node.applied().epoch, epoch, 'the start has opened an epoch');
  const fresh = await startNode(scope, market, 'b');
  await trade(fresh, 1);
  await same(only, fresh);
});

/**
 * The tip that a node showed when it answered. Repeated if the answer came only because its limit
 * of a second was over.
 */
async function shown(node: TestApp, ask: (devnet: Devnet) => Promise<number | Failure>) {
  const devnet = node.app.chain?.devnet ?? null;
  assert.ok(devnet !== null);
  const asked = async () => ({ height: await ask(devnet), tip: tipOf(node) });
  const fits = ({ height, tip }: Awaited<ReturnType<typeof asked>>) => height === tip.height;
  return (await untilAsked('the answer is shown', asked, fits, LIMIT_MS)).tip;
}

async function answersOfBoth({ market, leader, follower }: Pair): Promise<void> {
  for (const node of [follower, leader, follower]) {
    const before = await shown(node, (devnet) => devnet.mine(3));
    const forked = await shown(node, (devnet) => devnet.fork(2, 'all'));
    assert.ok(forked.height < before.height);
    await shown(node, (devnet) => devnet.mine(2));
    await same(leader, follower);
    const { slot, hash: id } = before;
    const place = market.chain.devnet.node.chain.placeOf({ slot, id });
    assert.equal(place, undefined, 'other blocks are there now');
  }
}

async function losesEntries(scope: Scope, nodes: Pair): Promise<void> {
  const { market, leader, follower, proxy, link } = nodes;
  const jsm = await manager(link, PATIENT_MS);
  const { epoch } = leader.app.node.applied();
  cutOff(proxy);
  const next = seqOf(follower) + 1;
  await trade(leader, 2);
  await jsm.streams.deleteMessage(STREAM, next);
  proxy.isClosed = false;
  await newEpoch(leader, epoch);
  await same(leader, follower);
  // No node needs this one now.
  const second = leader.app.node.applied();
  await trade(follower, 2);
  await jsm.streams.deleteMessage(STREAM, second.seq + 3);
  await newEpoch(leader, second.epoch);
  const fresh = await startNode(scope, market, 'c');
  await trade(fresh, 1);
  await same(leader, follower, fresh);
}

test('two nodes over one log', async (t) => {
  const nodes = await pair(t, 1_000_000);
  await t.test('mine and fork answer once the node shows the blocks', () => answersOfBoth(nodes));
  await t.test('an entry that is lost in the middle costs an epoch, and no node is stuck', () =>
    losesEntries(t, nodes),
  );
});
