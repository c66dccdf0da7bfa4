/**
 * One node among several: the log, the lease and the files that all share, over NATS. What is read
 * is this node's own; what is written goes through whoever leads.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DataFiles, dataFiles } from '../actors/files.ts';
import { Node } from '../actors/node.ts';
import { Interrupted } from '../actors/rebuild.ts';
import { recover } from '../actors/recovery.ts';
import { Epochs } from '../cluster/epochs.ts';
import { Joining, removeHalfTaken } from '../cluster/joining.ts';
import { Pairs } from '../cluster/pairs.ts';
import { patientLog } from '../cluster/patientLog.ts';
import type { GenesisCopy } from '../ledger/messages.ts';
import { ensureLog, JetstreamLog } from '../log/jetstream.ts';
import { Announcements, isForemost } from '../nats/announcements.ts';
import { Bucket } from '../nats/bucket.ts';
import { connectNats, type NatsLink } from '../nats/connection.ts';
import { Lease } from '../nats/lease.ts';
import { ObjectFiles } from '../nats/objects.ts';
import { sleep } from '../runtime/clock.ts';
import { Failure } from '../runtime/errors.ts';
import type { Events } from '../runtime/events.ts';
import { foldOptions, type Market } from './market.ts';
import type { World } from './world.ts';

export interface Cluster {
  readonly name: string;
  readonly market: string;
  readonly link: NatsLink;
  readonly log: JetstreamLog;
  readonly lease: Lease;
  readonly leaseMs: number;
  readonly announcements: Announcements;
  readonly epochs: Epochs;
  /** Of this node. */
  readonly files: DataFiles;
  /** Snapshots for nodes that are new or far behind, and how this one takes them. */
  readonly pairs: Pairs;
  readonly joining: Joining;
  /** Entries from one snapshot to the next. */
  readonly every: number;
  /** Logos of all nodes. */
  readonly images: ObjectFiles;
  /** What all nodes' chains begin with; null: this node begins it. */
  genesis(): Promise<GenesisCopy | null>;
  publishGenesis(genesis: GenesisCopy): Promise<void>;
  onLost(listener: () => void): void;
}

const AGAIN_MS = 200;
const LONGEST_WAIT_MS = 60_000;
const GENESIS = 'genesis';

/** The market as the log has it, and the way to the other nodes. */
export async function joinMarket(
  world: World,
  url: string,
  events: Events,
): Promise<{ readonly market: Market; readonly cluster: Cluster }> {
  const { settings, rng } = world;
  const name = settings.NODE_NAME ?? rng.token(6);
  const credsFile = settings.NATS_CREDS_FILE;
  const link = await connectNats({ url, name, credsFile }, rng);
  if (link instanceof Failure) throw new Error(link.message);
  events.natsConnected();
  link.onStatus(({ status }) => events.natsStatus(status));
  try {
    return await joinOver(link, world, name, events);
  } catch (error) {
    await link.close();
    throw error;
  }
}

async function joinOver(
  link: NatsLink,
  world: World,
  name: string,
  events: Events,
): Promise<{ readonly market: Market; readonly cluster: Cluster }> {
  const { settings, clock, rng, signal } = world;
  const shared = await sharedParts(world, name, link, events);
  const { log, lease, objects, announcements } = shared;
  const files = dataFiles(settings.DATA_DIR);
  const fetchBase = (epoch: string) =>
    fetchUntilThere(objects, baseName(epoch), files.base(epoch), world);
  await untilBegun(log, lease, world);
  const options = foldOptions(world);
  removeHalfTaken(settings.DATA_DIR);
  const pairs = new Pairs(objects, settings.DATA_DIR);
  const joining = new Joining({ pairs, log, files, clock }, events);
  const takeSnapshot = (file: string, upTo: number) => joining.takeState(file, upTo);
  const store = await recover(log, files, {
    ...options,
    takeSnapshot,
    clock,
    rng,
    signal,
    quarantined: events.actorQuarantined,
    epochStarted: events.epochStarted,
    stateUnreadable: events.stateUnreadable,
    publishBase: (epoch) => publish(objects, baseName(epoch), files.base(epoch)),
    shared: {
      fetchBase,
      mayRestart: ({ epoch, term, seq }) =>
        isForemostLeader(lease, announcements, { node: name, epoch, term, seq }, world),
    },
  });
  const tail = await log.last();
  const joins = { fetchBase, diverged: events.logDiverged };
  const nodeOptions = { ...options, takeSnapshot, shared: joins };
  const reads = patientLog(log, clock);
  const node = new Node(store, tail.seq, reads, files, clock, nodeOptions, events);
  const places = { files, pairs, joining };
  const cluster = clusterOf(world, name, link, shared, node, places, events);
  return { market: { node, log, writer: null }, cluster };
}

interface Shared {
  readonly log: JetstreamLog;
  readonly lease: Lease;
  readonly announcements: Announcements;
  readonly objects: ObjectFiles;
  readonly images: ObjectFiles;
  onLost(listener: () => void): void;
}

async function sharedParts(
  world: World,
  name: string,
  link: NatsLink,
  events: Events,
): Promise<Shared> {
  const { settings, clock, rng } = world;
  const { MARKET_NAME: market, NATS_REPLICAS: replicas, LEASE_MS: leaseMs } = settings;
  const log = await patiently(world, events, async () => {
    await ensureLog(link, { name: market, replicas });
    return JetstreamLog.open(link, clock, { name: market });
  });
  const shape = { name: `${market}-nodes`, replicas, ttlMs: leaseMs };
  const bucket = new Bucket(link, shape, Math.max(200, leaseMs / 5));
  let lost = () => {};
  const subject = leaderSubject(market);
  const lease = new Lease(bucket, { node: name, subject, leaseMs, clock, rng, lost: () => lost() });
  const objects = new ObjectFiles(link, clock, rng, { bucket: `${market}-files`, replicas });
  const images = new ObjectFiles(link, clock, rng, { bucket: `${market}-images`, replicas });
  return {
    log,
    lease,
    objects,
    images,
    announcements: new Announcements(bucket),
    onLost: (listener) => {
      lost = listener;
    },
  };
}

/** Servers that form a cluster just now, or several nodes that make the stream at once. */
async function patiently<T>(world: World, events: Events, work: () => Promise<T>): Promise<T> {
  const endMs = world.clock.monotonicMs() + LONGEST_WAIT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (world.clock.monotonicMs() > endMs) {
        throw new Error('NATS does not make the stream of this market', { cause: error });
      }
      events.natsWaits(error);
      await again(world);
    }
  }
}

/** Before the next look; throws when the start was given up meanwhile. */
async function again({ clock, signal }: World): Promise<void> {
  await sleep(clock, AGAIN_MS);
  if (signal?.aborted === true) throw new Interrupted('stopped while it waited for the others');
}

export function leaderSubject(market: string): string {
  return `${market}-leader`;
}

function clusterOf(
  world: World,
  name: string,
  link: NatsLink,
  { log, lease, announcements, objects, images, onLost }: Shared,
  node: Node,
  places: Pick<Cluster, 'files' | 'pairs' | 'joining'>,
  { epochStarted }: Events,
): Cluster {
  const { settings, rng } = world;
  const { files } = places;
  const own = join(settings.DATA_DIR, 'genesis.json');
  return {
    name,
    market: settings.MARKET_NAME,
    link,
    log,
    lease,
    leaseMs: settings.LEASE_MS,
    announcements,
    ...places,
    every: settings.SNAPSHOT_EVERY,
    images,
    onLost,
    epochs: new Epochs({
      name,
      log,
      node,
      files,
      rng,
      others: async () => {
        const others = await announcements.others(name);
        if (others === 'unreachable') throw new Error('NATS gives no answer');
        return others;
      },
      ensureLog: () =>
        ensureLog(link, { name: settings.MARKET_NAME, replicas: settings.NATS_REPLICAS }),
      async publishBase(epoch) {
        await publish(objects, baseName(epoch), files.base(epoch));
        // Whatever lost the log may have lost that, too.
        if (existsSync(own)) await publish(objects, GENESIS, own);
      },
      epochStarted,
    }),
    async genesis() {
      for (; !existsSync(own); await again(world)) {
        const found = await objects.get(GENESIS, own);
        if (!(found instanceof Failure)) continue;
        if (found.cause === 'NOT_FOUND' && (await lease.tryTake()) === 'taken') return null;
      }
      // trust: written by `publishGenesis` of a node of this market
      return JSON.parse(readFileSync(own, 'utf8')) as GenesisCopy;
    },
    publishGenesis: (genesis) => publishGenesis(objects, own, genesis),
  };
}

/** The log has a first entry, or this node may write it. */
async function untilBegun(log: JetstreamLog, lease: Lease, world: World): Promise<void> {
  while ((await log.last()).seq === 0) {
    if ((await lease.tryTake()) === 'taken') return;
    await again(world);
  }
}

/** This node holds the lease, and nobody who is alive has more; false: another one leads. */
async function isForemostLeader(
  lease: Lease,
  announcements: Announcements,
  own: Parameters<typeof isForemost>[0],
  world: World,
): Promise<boolean> {
  for (;;) {
    if ((await lease.tryTake()) === 'taken') {
      const others = await announcements.others(own.node);
      if (others !== 'unreachable' && isForemost(own, others)) return true;
      await lease.release();
    }
    const holder = await lease.holder();
    if (holder !== null && holder !== 'unreachable' && holder.node !== own.node) return false;
    await again(world);
  }
}

/** Under its own name once all have it: a start that dies before begins with it again. */
async function publishGenesis(objects: ObjectFiles, own: string, genesis: GenesisCopy) {
  const part = `${own}.part-own`;
  writeFileSync(part, JSON.stringify(genesis));
  await publish(objects, GENESIS, part);
  renameSync(part, own);
}

function baseName(epoch: string): string {
  return `base-${epoch}`;
}

async function publish(objects: ObjectFiles, name: string, path: string): Promise<void> {
  const stored = await objects.put(name, path);
  if (stored instanceof Failure) throw new Error(stored.message);
}

/** A leader publishes it before the epoch's first entry, so it is there, or comes back. */
async function fetchUntilThere(
  objects: ObjectFiles,
  name: string,
  path: string,
  world: World,
): Promise<void> {
  while ((await objects.get(name, path)) instanceof Failure) await again(world);
}
