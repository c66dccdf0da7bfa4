/** What goes wrong. Each ends when all nodes run again and nothing stands between them and NATS. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { JetstreamLog } from '../../../src/cluster/log/jetstream.ts';
import { Bucket } from '../../../src/cluster/nats/bucket.ts';
import { connectNats } from '../../../src/cluster/nats/connection.ts';
import { ObjectFiles } from '../../../src/cluster/nats/objects.ts';
import { systemClock } from '../../../src/engine/runtime/clock.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { type Rng, systemRng } from '../../../src/engine/runtime/rng.ts';
import { consumersThatLag } from '../../support/natsProxy.ts';
import { Program, temporaryDirectory } from '../../support/server.ts';
import { until, untilAsked } from '../../support/until.ts';
import { type FaultyNode, type Health, LEASE_MS, LIMIT_MS, MARKET } from './nodes.ts';
import type { Setup } from './setup.ts';

const HOUR_MS = 3_600_000;

export type Fault = (setup: Setup) => Promise<void>;

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const between = (rng: Rng, least: number, most: number) => least + rng.unit() * (most - least);

async function killLeader({ nodes }: Setup): Promise<void> {
  const old = await nodes.leader();
  await old.kill();
  await nodes.leader();
  await old.start();
}

async function killFollowers({ nodes }: Setup): Promise<void> {
  const leader = await nodes.leader();
  const followers = nodes.living.filter((node) => node !== leader);
  await Promise.all(followers.map((node) => node.kill()));
  await wait(500);
  await Promise.all(followers.map((node) => node.start()));
}

async function stopLeader({ nodes }: Setup): Promise<void> {
  const old = await nodes.leader();
  const exit = await old.server.stop();
  assert.equal(exit.code, 0);
  await nodes.leader();
  await old.start();
}

async function killNats({ nodes, rng }: Setup): Promise<void> {
  await nodes.nats.kill();
  await wait(between(rng, 100, 3 * LEASE_MS));
  await nodes.nats.start();
}

/** Longer than anybody calls fresh. */
async function natsDownForLong({ nodes }: Setup): Promise<void> {
  await nodes.nats.kill();
  const all = async () => Promise.all(nodes.all.map((node) => node.health()));
  const areStale = (found: Awaited<ReturnType<typeof all>>) =>
    found.every((health) => health?.status === 200 && health.stale);
  await untilAsked('all are ready, and say that they are stale', all, areStale, LIMIT_MS);
  await nodes.nats.start();
}

async function deleteNats({ nodes, watcher }: Setup): Promise<void> {
  const { stale } = watcher;
  const [before] = await Promise.all(nodes.living.map((node) => node.health()));
  await nodes.nats.restart('deleted');
  const ask = async () => Promise.all(nodes.living.map((node) => node.health()));
  await untilAsked(
    'a new epoch',
    ask,
    (found) => found.every((health) => health !== null && health.epoch !== before?.epoch),
    LIMIT_MS,
  );
  assert(watcher.stale > stale, 'nodes say that what they have is not in the log any more');
}

/** The stream ends where it was a while ago. */
async function shortenLog({ nodes, watcher }: Setup): Promise<void> {
  const { nats } = nodes;
  const { stale } = watcher;
  const [kept, older] = [join(nats.directory, 'jetstream'), join(nats.directory, 'older')];
  await nats.kill();
  cpSync(kept, older, { recursive: true });
  await nats.start();
  const { epoch } = await watcher.converged(LIMIT_MS);
  await wait(2 * LEASE_MS);
  await nats.kill();
  rmSync(kept, { recursive: true });
  renameSync(older, kept);
  await nats.start();
  const ask = async () => Promise.all(nodes.living.map((node) => node.health()));
  const isNew = (found: Awaited<ReturnType<typeof ask>>) =>
    found.every((health) => health !== null && health.epoch !== epoch);
  await untilAsked('a new epoch', ask, isNew, LIMIT_MS);
  assert(watcher.stale > stale, 'nodes say that what they have is not in the log any more');
}

/** Both the log and the leader are gone: the node with the newest state continues. */
async function deleteNatsAndKillLeader(setup: Setup): Promise<void> {
  const { nodes, users } = setup;
  const old = await nodes.leader();
  users.forgiven = users.accepted.length;
  await old.kill();
  await nodes.nats.restart('deleted');
  await nodes.leader();
  users.forgiven = users.accepted.length;
  await old.start();
}

/** Past its lease; then it continues from its position. */
async function freezeLeader({ nodes, clients, note }: Setup): Promise<void> {
  const old = await nodes.leader();
  old.freeze();
  // Some clients notice, the others sit it out.
  for (const client of clients.slice(0, 1)) if (client.node === old) client.leave();
  const next = await nodes.leader(old);
  const ledBy = (await next.health())?.term ?? 0;
  await wait(2 * LEASE_MS);
  const { publishes } = old;
  old.thaw();
  await untilAsked(
    'the one that was frozen follows',
    () => old.health(),
    (health) => health?.role === 'follower' && health.term >= ledBy,
    LIMIT_MS,
  );
  note(`frozen leader tried ${old.publishes - publishes} entries`);
}

/** Takes the lease from its holder, again and again. */
async function race(setup: Setup): Promise<void> {
  const { nodes, rng } = setup;
  const link = await connectNats({ url: nodes.nats.url, name: 'lease taker' }, systemRng);
  assert(!(link instanceof Failure));
  const shape = { name: `${MARKET}-nodes`, replicas: 1, ttlMs: LEASE_MS };
  const bucket = new Bucket(link, shape, LEASE_MS);
  const { term = 0 } = (await (await nodes.leader()).health()) ?? {};
  for (let taken = 0; taken < 6; taken += 1) {
    await bucket.remove('leader');
    await wait(between(rng, 50, LEASE_MS));
  }
  await link.close();
  const now = async () => (await (await nodes.leader()).health())?.term ?? 0;
  await untilAsked('others have led', now, (found) => found > term);
}

/** NATS stored it, and the acknowledgement was lost. */
async function loseAcknowledgements({ nodes, rng }: Setup): Promise<void> {
  for (let lost = 0; lost < 4; lost += 1) {
    const leader = await nodes.leader();
    leader.proxy.deaf = true;
    await wait(between(rng, 50, 700));
    leader.proxy.cut();
    leader.proxy.deaf = false;
    await wait(between(rng, 300, 1_500));
  }
}

async function partLeader({ nodes, rng }: Setup): Promise<void> {
  const old = await nodes.leader();
  old.cutOff();
  await nodes.leader(old);
  await wait(between(rng, 500, 3_000));
  old.joinAgain();
}

/** Until it says that what it has is old. */
async function partFollower({ nodes }: Setup): Promise<void> {
  const node: FaultyNode = await nodes.follower();
  node.cutOff();
  await untilAsked(
    'a node that is cut off reports that it is stale',
    () => node.health(),
    (health) => health?.stale === true,
    LIMIT_MS,
  );
  node.joinAgain();
}

/**
 * A follower has neither the entries that follow its state nor the state that they start from,
 * which is removed for a while: it reports that until it has the state, then continues.
 */
async function leaveFollowerBehind({ nodes, watcher, note }: Setup): Promise<void> {
  const node = await nodes.follower();
  const others = nodes.all.filter((one) => one !== node);
  node.cutOff();
  const before = (await node.health()) ?? assert.fail('it answers');
  const ask = () => Promise.all(others.map((one) => one.health()));
  const isAhead = (one: Health | null) => one !== null && one.seq > before.seq + 5;
  await untilAsked('the others continue', ask, (found) => found.every(isAhead), LIMIT_MS);
  await nodes.nats.restart('deleted');
  const isAnew = (one: Health | null) => one !== null && one.epoch !== before.epoch;
  const [now] = await untilAsked('a new epoch', ask, (found) => found.every(isAnew), LIMIT_MS);
  const link = await connectNats({ url: nodes.nats.url, name: 'taker' }, systemRng);
  assert(!(link instanceof Failure));
  const shape = { bucket: `${MARKET}-files`, replicas: 1 };
  const files = new ObjectFiles(link, systemClock, systemRng, shape);
  const [name, path] = [`base-${now?.epoch}`, join(temporaryDirectory(), 'base')];
  assert(!((await files.get(name, path)) instanceof Failure), 'the new epoch has a base');
  assert.equal(await files.remove(name), null);
  node.joinAgain();
  const isUnready = (health: Health | null) => health?.status === 503;
  await untilAsked('it is not ready', () => node.health(), isUnready, LIMIT_MS);
  const { unready } = watcher;
  for (let asked = 0; asked < 20; asked += 1) {
    const health = await node.health();
    if (health !== null) assert.equal(health.status, 503, JSON.stringify(health));
    await wait(50);
  }
  assert(!((await files.put(name, path)) instanceof Failure));
  await link.close();
  const isBack = (one: Health | null) => one?.status === 200 && one.epoch !== before.epoch;
  await untilAsked('it continues with the others', () => node.health(), isBack, LIMIT_MS);
  note(`${node.name} said ${watcher.unready - unready} times that it is not ready`);
}

/** As with three NATS servers of which one is behind for good: it asks the others' leader. */
async function lagConsumers({ nodes, note }: Setup): Promise<void> {
  const node = await nodes.follower();
  node.proxy.rewrite = consumersThatLag(MARKET);
  node.proxy.cut();
  const seqOf = async (one: FaultyNode) => (await one.health())?.seq ?? 0;
  const [from, { requests }] = [await seqOf(node), node];
  const isFurther = (seq: number) => seq > from + 50;
  await untilAsked('it follows all the same', () => seqOf(node), isFurther, LIMIT_MS);
  const [entries, asked] = [(await seqOf(node)) - from, node.requests - requests];
  note(`${node.name} made ${asked} requests for ${entries} entries`);
  assert(asked < 1_000 + 10 * entries, `${asked} requests for ${entries} entries`);
  node.proxy.rewrite = (text) => text;
  node.proxy.cut();
}

/** Messages that are no entries of this market, one after the other. */
async function writeAsStranger({ nodes, note }: Setup): Promise<void> {
  const link = await connectNats({ url: nodes.nats.url, name: 'stranger' }, systemRng);
  assert(!(link instanceof Failure));
  const ask = async () => Promise.all(nodes.living.map((node) => node.health()));
  const log = await JetstreamLog.open(link, systemClock, { name: MARKET });
  for (const what of ['no entry', 'the last entry', 'the first entry']) {
    const [before] = await ask();
    const at = what === 'the last entry' ? (await log.last()).seq : await log.first();
    const [copied] = what === 'no entry' ? [] : await log.read(at, 1);
    const kind = copied?.entry.payload.kind ?? 'time';
    await link.connection.request(`${MARKET}.entry.${kind}`, copied?.text ?? what);
    const startMs = performance.now();
    const isNew = (found: Awaited<ReturnType<typeof ask>>) =>
      found.every((one) => one?.status === 200 && one.epoch !== before?.epoch);
    await untilAsked('all continue in a new epoch', ask, isNew, LIMIT_MS);
    note(`${what}: repaired after ${Math.round(performance.now() - startMs)} ms`);
  }
  await log.close();
  await link.close();
}

/** All nodes start together with one whose directory is another market's, of the same keys. */
async function startWithOtherMarket({ nodes, note }: Setup): Promise<void> {
  const directory = temporaryDirectory();
  const env = { ...nodes.env, NODE_NAME: 'other', DATA_DIR: directory };
  const alone = new Program([], env);
  const record = join(directory, 'market.json');
  const isThere = () => existsSync(record) || alone.exit !== null;
  await until(() => `it has a market of its own: ${alone.text}`, isThere, LIMIT_MS);
  alone.signal('SIGTERM');
  assert.equal((await alone.ended()).code, 0, alone.text);
  const [before] = await Promise.all(nodes.all.map((node) => node.health()));
  await Promise.all(nodes.all.map((node) => node.server.stop()));
  const other = new Program([], { ...env, NATS_URL: nodes.nats.url });
  await Promise.all(nodes.all.map((node) => node.start()));
  const { code } = await other.ended(LIMIT_MS);
  assert.equal(code, 2, other.text);
  assert.match(other.text, /DATA_DIR .* holds market \w+.* belongs to market \w+/);
  const after = await Promise.all(nodes.all.map((node) => node.health()));
  for (const health of after) assert.equal(health?.epoch, before?.epoch);
  note(other.text.trim());
}

/** One node after the other starts with a longer lease; the lead is handed over, and stays. */
async function raiseLease({ nodes, note }: Setup): Promise<void> {
  const change = { LEASE_MS: `${4 * LEASE_MS}` };
  for (const node of nodes.all) {
    await node.server.stop();
    await node.start(change);
  }
  const leader = await nodes.leader();
  const before = (await leader.health()) ?? assert.fail('it answers');
  // Far more than what the lease of before lasted.
  const isFurther = (health: Health | null) => (health?.seq ?? 0) > before.seq + 80;
  const after = await untilAsked('the log continues', () => leader.health(), isFurther, LIMIT_MS);
  assert.equal(after?.term, before.term, 'the lead has not changed');
  note(`term ${after?.term} for ${(after?.seq ?? 0) - before.seq} entries`);
}

/** An hour ahead: the market must not get there. */
async function setClockOfLeader({ nodes, note }: Setup): Promise<void> {
  const old = await nodes.leader();
  old.setClock(HOUR_MS);
  const said = await untilSteppedDown(old, /clock/);
  const { tip } = (await (await nodes.leader(old)).health()) ?? assert.fail('it answers');
  assert(tip.lagMs !== null && tip.lagMs < HOUR_MS / 2, `${tip.lagMs}`);
  old.setClock(0);
  await untilMayLead(old);
  note(`${old.name}: ${said}`);
}

async function fillDiskOfLeader({ nodes, note }: Setup): Promise<void> {
  const old = await nodes.leader();
  const makeRoom = old.fillDisk();
  const said = await untilSteppedDown(old, /disk/);
  await nodes.leader(old);
  makeRoom();
  await untilMayLead(old);
  note(`${old.name}: ${said}`);
}

async function untilSteppedDown(node: FaultyNode, why: RegExp): Promise<string> {
  const isDown = (health: Health | null) =>
    health?.role === 'follower' && why.test(health.mayNotLead ?? '');
  const said = await untilAsked('it steps down', () => node.health(), isDown, LIMIT_MS);
  return said?.mayNotLead ?? '';
}

async function untilMayLead(node: FaultyNode): Promise<void> {
  const mayLead = (health: Health | null) => health?.mayNotLead === null;
  await untilAsked('it may lead again', () => node.health(), mayLead, LIMIT_MS);
}

/** It is refused, and the first process continues. */
async function startTwinOfLeader({ nodes }: Setup): Promise<void> {
  const leader = await nodes.leader();
  const before = await leader.health();
  const twin = leader.startTwin();
  assert.equal((await twin.ended(LIMIT_MS)).code, 1);
  assert.match(twin.text, new RegExp(`NODE_NAME ${leader.name} is in use: a process on .* since`));
  const now = await leader.health();
  assert.deepEqual([now?.status, now?.term, now?.role], [200, before?.term, 'leader']);
}

export const FAULTS = {
  'kill -9 of the leader': killLeader,
  'kill -9 of all followers': killFollowers,
  'SIGTERM of the leader': stopLeader,
  'NATS killed, its state kept': killNats,
  'NATS down until all are stale': natsDownForLong,
  'NATS killed, its state deleted': deleteNats,
  'NATS restored from an older copy': shortenLog,
  'NATS and leader killed, the state deleted': deleteNatsAndKillLeader,
  'the leader frozen past its lease': freezeLeader,
  'the lease taken away again and again': race,
  'acknowledgements lost': loseAcknowledgements,
  'the leader cut off from NATS': partLeader,
  'a follower cut off from NATS': partFollower,
  'a follower cut off while the log is lost': leaveFollowerBehind,
  'the clock of the leader an hour ahead': setClockOfLeader,
  'the disk of the leader full': fillDiskOfLeader,
  'another process with the name of the leader': startTwinOfLeader,
  "a follower's consumers lag for good": lagConsumers,
  'a stranger writes into the log': writeAsStranger,
  'a directory of another market starts with the others': startWithOtherMarket,
  'a longer lease than the market began with': raiseLease,
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof FAULTS;
