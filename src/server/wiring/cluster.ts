/**
 * One node among several: the log, the lease and the files that all share, over NATS. What is read
 * is this node's own; what is written goes through whoever leads.
 */

import { hostname } from 'node:os';
import { DataDisk } from '../../cluster/dataDisk.ts';
import { Epochs } from '../../cluster/epochs.ts';
import { Joining, removeHalfTaken } from '../../cluster/joining.ts';
import { ensureLog, JetstreamLog } from '../../cluster/log/jetstream.ts';
import { RestartRefused } from '../../cluster/log/jetstreamBegin.ts';
import { Announcements, isForemost } from '../../cluster/nats/announcements.ts';
import { Bucket } from '../../cluster/nats/bucket.ts';
import { connectNats, type NatsLink } from '../../cluster/nats/connection.ts';
import { Lease } from '../../cluster/nats/lease.ts';
import { ObjectFiles } from '../../cluster/nats/objects.ts';
import { Pairs } from '../../cluster/pairs.ts';
import { nowAndThen, patientLog, pauseOrGiveUp, untilAnswered } from '../../cluster/patientLog.ts';
import { Presence } from '../../cluster/presence.ts';
import { SharedFiles } from '../../cluster/sharedFiles.ts';
import type { GenesisCopy } from '../../devnet/messages.ts';
import { type DataFiles, dataFiles } from '../../engine/actors/files.ts';
import { Node } from '../../engine/actors/node.ts';
import { type RecoveryOptions, recover } from '../../engine/actors/recovery.ts';
import type { Log } from '../../engine/log/port.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Events } from '../../engine/runtime/events.ts';
import type { Checkpoint, StateStore } from '../../engine/store/state.ts';
import { foldOptions, type Market } from './market.ts';
import type { World } from './world.ts';

export interface Cluster {
  readonly name: string;
  readonly market: string;
  readonly link: NatsLink;
  readonly log: JetstreamLog;
  readonly lease: Lease;
  readonly leaseMs: number;
  readonly presence: Presence;
  /** Ends a start that failed: what others would wait for is given up at once. */
  leave(): Promise<void>;
  readonly announcements: Announcements;
  readonly epochs: Epochs;
  /** Of this node. */
  readonly files: DataFiles;
  readonly disk: DataDisk;
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

const LONGEST_WAIT_MS = 60_000;

/** The market as the log has it, and the way to the other nodes. */
export async function joinMarket(
  world: World,
  url: string,
  events: Events,
): Promise<{ readonly market: Market; readonly cluster: Cluster }> {
  const { settings, clock, rng } = world;
  const name = settings.NODE_NAME ?? rng.token(6);
  const credsFile = settings.NATS_CREDS_FILE;
  const link = await connectNats({ url, name, credsFile }, rng);
  if (link instanceof Failure) throw new Error(link.message);
  events.natsConnected();
  link.onStatus(({ status }) => events.natsStatus(status));
  link.onRefusal(nowAndThen(clock, events.natsRefused));
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
  const { settings, clock } = world;
  const signal = endOf(link, world);
  const again = () => pauseOrGiveUp(clock, signal);
  const shared = await sharedParts(world, name, link, events, again, signal);
  const { log, objects, announcements } = shared;
  announcements.listen(clock);
  const files = dataFiles(settings.DATA_DIR);
  removeHalfTaken(settings.DATA_DIR);
  const pairs = new Pairs(objects, settings.DATA_DIR);
  const begins = new SharedFiles(objects, files, again);
  const patience = { signal, waits: nowAndThen(clock, events.natsWaits) };
  const starting = patientLog(log, clock, patience);
  const joining = new Joining({ pairs, log: starting, files, clock, signal }, events);
  const takeSnapshot = joining.takeState.bind(joining);
  const common = { ...foldOptions(world), takeSnapshot };
  const publishBase = (epoch: string) =>
    untilAnswered(
      () => begins.publishBase(epoch),
      () => false,
      clock,
      patience,
    );
  const { actorQuarantined: quarantined, epochStarted, stateUnreadable } = events;
  const told = { quarantined, epochStarted, stateUnreadable, natsWaits: patience.waits };
  const fetchBase = begins.fetchBase.bind(begins);
  const options = { ...common, ...told, publishBase, fetchBase };
  const store = await recovered(starting, shared, name, world, files, options, again);
  const tail = await starting.last();
  const joins = { fetchBase, diverged: events.logDiverged };
  const reads = patientLog(log, clock, { signal });
  const nodeOptions = { ...common, shared: joins };
  const node = new Node(store, tail.seq, reads, files, clock, nodeOptions, events);
  const places = { files, pairs, joining };
  const cluster = clusterOf(world, name, link, shared, node, places, begins, events);
  return { market: { node, log, writer: null }, cluster };
}

/** What waits for NATS is given up when we are told to stop, and when the connection is closed. */
function endOf(link: NatsLink, { signal }: World): AbortSignal {
  const closed = new AbortController();
  link.onStatus(({ status }) => {
    if (status === 'closed') closed.abort();
  });
  return signal === undefined ? closed.signal : AbortSignal.any([signal, closed.signal]);
}

/** Where another one begins the log while we would, it is read from the beginning. */
async function recovered(
  log: Log,
  { lease, announcements, leave }: Shared,
  node: string,
  { settings, clock, rng, signal }: World,
  files: DataFiles,
  options: Omit<RecoveryOptions, 'clock' | 'rng' | 'shared'> & {
    fetchBase: SharedFiles['fetchBase'];
    natsWaits(error: unknown): void;
  },
  again: () => Promise<void>,
): Promise<StateStore> {
  const { fetchBase } = options;
  const isReader = settings.ROLE === 'reader';
  const mayRestart = ({ epoch, term, seq }: Checkpoint) =>
    isReader
      ? untilAnotherLeads(lease, again)
      : isForemostLeader(lease, announcements, { node, epoch, term, seq }, again);
  for (;;) {
    await untilBegun(log, isReader ? null : lease, options.natsWaits, again);
    try {
      const shared = { fetchBase, mayRestart };
      return await recover(log, files, { ...options, clock, rng, signal, shared });
    } catch (error) {
      const isFinal = !(error instanceof RestartRefused);
      if (isFinal) await leave();
      if (isFinal) throw error;
      options.natsWaits(error);
      await again();
    }
  }
}

interface Shared {
  readonly log: JetstreamLog;
  readonly lease: Lease;
  readonly presence: Presence;
  leave(): Promise<void>;
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
  again: () => Promise<void>,
  signal: AbortSignal,
): Promise<Shared> {
  const { settings, clock, rng } = world;
  const { MARKET_NAME: market, NATS_REPLICAS: replicas, LEASE_MS: leaseMs } = settings;
  const isReader = settings.ROLE === 'reader';
  const shape = { name: `${market}-nodes`, replicas, ttlMs: leaseMs };
  const bucket = new Bucket(link, shape, Math.max(200, leaseMs / 5));
  const clockBoundMs = settings.CLOCK_BOUND_MS;
  const own = { node: name, host: hostname(), leaseMs, clockBoundMs, clock, rng };
  const presence = new Presence({ ...own, bucket, signal }, events);
  const refused = await presence.claim(again);
  if (refused !== null) throw new Error(refused.message);
  let lost = () => {};
  const lease = new Lease(bucket, {
    ...own,
    subject: leaderSubject(market),
    mayTake: () => presence.obstacle() === null,
    lost: () => lost(),
  });
  const mostMs = isReader ? Number.POSITIVE_INFINITY : LONGEST_WAIT_MS;
  const log = await patiently(world, mostMs, events, again, async () => {
    // A reader waits until one of the others has made it.
    if (!isReader) await ensureLog(link, { name: market, replicas });
    return JetstreamLog.open(link, clock, { name: market, mayRestart: () => lease.held });
  });
  const objects = new ObjectFiles(link, clock, rng, { bucket: `${market}-files`, replicas });
  const images = new ObjectFiles(link, clock, rng, { bucket: `${market}-images`, replicas });
  return {
    log,
    lease,
    presence,
    async leave() {
      await lease.release();
      await presence.stop();
      await link.close();
    },
    objects,
    images,
    announcements: new Announcements(bucket),
    onLost: (listener) => {
      lost = listener;
    },
  };
}

/** Servers that form a cluster just now, or several nodes that make the stream at once. */
async function patiently<T>(
  { clock }: World,
  mostMs: number,
  events: Events,
  again: () => Promise<void>,
  work: () => Promise<T>,
): Promise<T> {
  const endMs = clock.monotonicMs() + mostMs;
  const waits = nowAndThen(clock, events.natsWaits);
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (clock.monotonicMs() > endMs) {
        throw new Error('NATS does not make the stream of this market', { cause: error });
      }
      waits(error);
      await again();
    }
  }
}

export function leaderSubject(market: string): string {
  return `${market}-leader`;
}

function clusterOf(
  world: World,
  name: string,
  link: NatsLink,
  { log, lease, presence, leave, announcements, images, onLost }: Shared,
  node: Node,
  places: Pick<Cluster, 'files' | 'pairs' | 'joining'>,
  begins: SharedFiles,
  { epochStarted }: Events,
): Cluster {
  const { settings, rng, clock } = world;
  return {
    name,
    market: settings.MARKET_NAME,
    link,
    log,
    lease,
    presence,
    leave,
    leaseMs: settings.LEASE_MS,
    announcements,
    ...places,
    disk: new DataDisk(settings.DATA_DIR, clock),
    every: settings.SNAPSHOT_EVERY,
    images,
    onLost,
    epochs: new Epochs({
      name,
      log,
      node,
      files: places.files,
      rng,
      others: async () => {
        const others = await announcements.others(name);
        if (others === 'unreachable') throw new Error('NATS gives no answer');
        return others;
      },
      heard: () => announcements.heard(name, clock.monotonicMs() - settings.LEASE_MS),
      ensureLog: () =>
        ensureLog(link, { name: settings.MARKET_NAME, replicas: settings.NATS_REPLICAS }),
      publishBase: (epoch) => begins.publishBase(epoch),
      epochStarted,
    }),
    async genesis() {
      const text = await begins.genesis(async () => (await lease.tryTake()) === 'taken');
      // trust: written by `publishGenesis` of a node of this market
      return text === null ? null : (JSON.parse(text) as GenesisCopy);
    },
    publishGenesis: (genesis) => begins.publishGenesis(JSON.stringify(genesis)),
  };
}

/** The log has a first entry, or this node may write it; `lease` null: it never does. */
async function untilBegun(
  log: Log,
  lease: Lease | null,
  waits: (error: unknown) => void,
  again: () => Promise<void>,
): Promise<void> {
  while ((await log.last()).seq === 0) {
    if ((await lease?.tryTake()) === 'taken') return;
    if (lease === null) waits(new Error('no node that may lead has begun this market yet'));
    await again();
  }
}

/** For a reader, which opens no epoch: it takes what the node that leads has. */
async function untilAnotherLeads(lease: Lease, again: () => Promise<void>): Promise<false> {
  for (;;) {
    const holder = await lease.holder();
    if (holder !== null && holder !== 'unreachable') return false;
    await again();
  }
}

/** This node holds the lease, and nobody who is alive has more; false: another one leads. */
async function isForemostLeader(
  lease: Lease,
  announcements: Announcements,
  own: Parameters<typeof isForemost>[0],
  again: () => Promise<void>,
): Promise<boolean> {
  for (;;) {
    if ((await lease.tryTake()) === 'taken') {
      const others = await announcements.others(own.node);
      if (others !== 'unreachable' && isForemost(own, others)) return true;
      await lease.release();
    }
    const holder = await lease.holder();
    if (holder !== null && holder !== 'unreachable' && holder.node !== own.node) return false;
    await again();
  }
}
