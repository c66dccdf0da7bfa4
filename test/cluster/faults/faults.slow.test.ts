/**
 * One smoke test for each fault of nodes and of a real nats-server that no other test causes with
 * processes: two nodes of one market, whose states and log are watched all the time. The
 * simulator (test/sim) plays them in every order, with traders and clients.
 *
 * Elsewhere: a full disk, a trimmed log, another market's directory, strangers in the log, a start
 * without NATS (`*.slow.test.ts` one folder up); consumers that lag, acknowledgements that are lost
 * (../log/), changed settings (../nats/streamSettings.test.ts).
 */
import assert from 'node:assert/strict';
import { cpSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Bucket } from '../../../src/cluster/nats/bucket.ts';
import { ObjectFiles } from '../../../src/cluster/snapshots/objectStore.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { systemRng } from '../../../src/engine/runtime/rng.ts';
import { LONG_ONLY } from '../../support/long.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { untilAsked } from '../../support/until.ts';
import { type FaultyNode, type Health, LEASE_MS, LIMIT_MS, MARKET, Nodes } from './nodes.ts';
import { Watcher } from './watcher.ts';

interface Scene {
  readonly scope: TestContext;
  readonly nodes: Nodes;
  readonly watcher: Watcher;
}

/** Each ends when all nodes run again and nothing stands between them and NATS. */
type Fault = (scene: Scene) => Promise<void>;

const HOUR_MS = 3_600_000;
const LEASES_TAKEN = 5;

const isReady = (health: Health | null) => health?.status === 200;

function healths(nodes: readonly FaultyNode[]): Promise<(Health | null)[]> {
  return Promise.all(nodes.map((node) => node.health()));
}

function isIn(epoch: string | undefined) {
  return (health: Health | null) => health !== null && health.epoch === epoch;
}

/** Waits until they are in another epoch than `before`; answers which. */
async function newEpoch(nodes: readonly FaultyNode[], before: string): Promise<string> {
  const isNew = (found: readonly (Health | null)[]) =>
    found[0]?.epoch !== before && found.every(isIn(found[0]?.epoch));
  const [first] = await untilAsked('a new epoch', () => healths(nodes), isNew, LIMIT_MS);
  return first?.epoch ?? assert.fail('one was found');
}

/** Waits until the log has `entries` more. */
async function continues(node: FaultyNode, entries: number): Promise<void> {
  const seq = async () => (await node.health())?.seq ?? 0;
  const enough = (await seq()) + entries;
  await untilAsked('entries are written', seq, (now) => now >= enough, LIMIT_MS);
}

async function killLeader({ nodes }: Scene): Promise<void> {
  const old = await nodes.leader();
  await old.kill();
  await continues(await nodes.leader(), 5);
  await old.start();
}

async function killFollower({ nodes }: Scene): Promise<void> {
  const node = await nodes.follower();
  await node.kill();
  await continues(await nodes.leader(), 5);
  await node.start();
}

async function keepNatsDown({ nodes }: Scene): Promise<void> {
  await nodes.nats.kill();
  const areStale = (found: readonly (Health | null)[]) =>
    found.every((health) => isReady(health) && health?.stale === true);
  const ask = () => healths(nodes.all);
  await untilAsked('all are ready, and say that they are stale', ask, areStale, LIMIT_MS);
  await nodes.nats.start();
}

async function deleteLog({ nodes, watcher }: Scene): Promise<void> {
  const { epoch } = await watcher.converged(LIMIT_MS);
  await nodes.nats.restart('deleted');
  await newEpoch(nodes.all, epoch);
}

/** The stream ends where it was a while ago. */
async function shortenLog({ nodes, watcher }: Scene): Promise<void> {
  const { nats } = nodes;
  const [kept, older] = [join(nats.directory, 'jetstream'), join(nats.directory, 'older')];
  await nats.kill();
  cpSync(kept, older, { recursive: true });
  await nats.start();
  const { epoch } = await watcher.converged(LIMIT_MS);
  for (const node of nodes.all) await continues(node, 8);
  await nats.kill();
  rmSync(kept, { recursive: true });
  renameSync(older, kept);
  await nats.start();
  await newEpoch(nodes.all, epoch);
}

/** The node with the newest state continues. */
async function deleteLogAndKillLeader({ nodes }: Scene): Promise<void> {
  const old = await nodes.leader();
  await old.kill();
  await nodes.nats.restart('deleted');
  await continues(await nodes.leader(), 5);
  await old.start();
}

async function freezeLeader({ nodes }: Scene): Promise<void> {
  const old = await nodes.leader();
  old.freeze();
  const next = await nodes.leader(old);
  const ledBy = (await next.health())?.term ?? 0;
  await continues(next, 8);
  old.thaw();
  await untilAsked(
    'the one that was frozen follows',
    () => old.health(),
    (health) => health?.role === 'follower' && health.term >= ledBy,
    LIMIT_MS,
  );
}

async function takeLeases({ scope, nodes }: Scene): Promise<void> {
  const shape = { name: `${MARKET}-nodes`, replicas: 1, ttlMs: LEASE_MS };
  const bucket = new Bucket(await nodes.nats.connect(scope), shape, LEASE_MS);
  const term = async () => (await (await nodes.leader()).health())?.term ?? 0;
  for (let taken = 0; taken < LEASES_TAKEN; taken += 1) {
    const before = await term();
    const another = async () => {
      await bucket.remove('leader');
      return term();
    };
    await untilAsked('there is another lead', another, (now) => now > before, LIMIT_MS);
  }
}

async function cutLeader({ nodes }: Scene): Promise<void> {
  const old = await nodes.leader();
  old.cutOff();
  await continues(await nodes.leader(old), 5);
  const isStale = (health: Health | null) => isReady(health) && health?.stale === true;
  await untilAsked('it says that it is stale', () => old.health(), isStale, LIMIT_MS);
  old.joinAgain();
}

/**
 * A follower has neither the entries that follow its state nor the state that they start from,
 * which is removed for a while: it reports that until it has the state, then continues.
 */
async function leaveFollowerBehind({ scope, nodes }: Scene): Promise<void> {
  const node = await nodes.follower();
  const others = nodes.all.filter((one) => one !== node);
  node.cutOff();
  const { epoch } = (await node.health()) ?? assert.fail('it answers');
  for (const other of others) await continues(other, 5);
  await nodes.nats.restart('deleted');
  const next = await newEpoch(others, epoch);
  const shape = { bucket: `${MARKET}-files`, replicas: 1 };
  const link = await nodes.nats.connect(scope);
  const files = new ObjectFiles(link, systemClock, systemRng, shape);
  const [name, path] = [`base-${next}`, join(temporaryDirectory(), 'base')];
  const done = (ask: () => Promise<unknown>) =>
    untilAsked(`${name} is there`, ask, (failure) => failure === null, LIMIT_MS);
  await done(() => files.get(name, path));
  await done(() => files.remove(name));
  node.joinAgain();
  const isUnready = (health: Health | null) => health?.status === 503;
  await untilAsked('it is not ready', () => node.health(), isUnready, LIMIT_MS);
  for (const other of others) await continues(other, 5);
  const health = await node.health();
  assert.equal(health?.status ?? 503, 503, JSON.stringify(health));
  await done(() => files.put(name, path));
}

/** An hour ahead: the market must not get there. */
async function setClockOfLeader({ nodes }: Scene): Promise<void> {
  const old = await nodes.leader();
  old.setClock(HOUR_MS);
  const isDown = (health: Health | null) =>
    health?.role === 'follower' && /clock/.test(health.mayNotLead ?? '');
  await untilAsked('it steps down', () => old.health(), isDown, LIMIT_MS);
  const { tip } = (await (await nodes.leader(old)).health()) ?? assert.fail('it answers');
  assert(tip.lagMs !== null && tip.lagMs < HOUR_MS / 2, `${tip.lagMs}`);
  old.setClock(0);
  const mayLead = (health: Health | null) => health?.mayNotLead === null;
  await untilAsked('it may lead again', () => old.health(), mayLead, LIMIT_MS);
}

/** It is refused, and the first process continues. */
async function startTwinOfLeader({ nodes }: Scene): Promise<void> {
  const leader = await nodes.leader();
  const twin = leader.startTwin();
  assert.equal((await twin.ended(LIMIT_MS)).code, 1);
  assert.match(twin.text, new RegExp(`NODE_NAME ${leader.name} is in use: a process on .* since`));
  await continues(leader, 5);
}

const FAULTS: Readonly<Record<string, Fault>> = {
  'kill -9 of the leader': killLeader,
  'kill -9 of a follower': killFollower,
  'NATS down until all are stale': keepNatsDown,
  'NATS killed, its state deleted': deleteLog,
  'NATS restored from an older copy': shortenLog,
  'NATS and leader killed, the state deleted': deleteLogAndKillLeader,
  'the leader frozen past its lease': freezeLeader,
  'the lease taken away again and again': takeLeases,
  'the leader cut off from NATS': cutLeader,
  'a follower cut off while the log is lost': leaveFollowerBehind,
  'the clock of the leader an hour ahead': setClockOfLeader,
  'another process with the name of the leader': startTwinOfLeader,
};

/** The others have siblings in the slow tier: `../*.slow.test.ts` and the simulator. */
const IN_CI: ReadonlySet<string> = new Set([
  'NATS restored from an older copy',
  'NATS and leader killed, the state deleted',
  'the leader frozen past its lease',
]);

test('two nodes continue with one state after each fault', async (t) => {
  const nodes = await Nodes.start(t, 2);
  const watcher = new Watcher(t, nodes);
  const link = await nodes.nats.connect(t);
  for (const [name, fault] of Object.entries(FAULTS)) {
    await t.test(name, IN_CI.has(name) ? {} : LONG_ONLY, async (scope) => {
      await watcher.archive(link);
      await fault({ scope, nodes, watcher });
      assert.equal(nodes.living.length, nodes.all.length);
      for (const node of nodes.all) await continues(node, 5);
      await watcher.converged(LIMIT_MS);
      await watcher.archive(link);
    });
  }
  const exits = await Promise.all(nodes.all.map((node) => node.server.stop()));
  for (const exit of exits) assert.deepEqual(exit, { code: 0, signal: null });
  watcher.assertSound();
  assert(watcher.shared > 0 && watcher.entries > 0);
});
