/**
 * One node among several: log, lease and shared files over NATS. A node reads from its own state;
 * the leader writes.
 */

import { hostname } from 'node:os';
import type { Route } from '../../api/gateway/port.ts';
import {
  checkLivingNodes,
  Epochs,
  type LogStartDeps,
  leadsWithNewestState,
  otherNodes,
  waitForLeader,
  waitUntilLogStarts,
  waitUntilOthersStartLog,
} from '../../cluster/epochs.ts';
import { CopyWatch } from '../../cluster/log/copies.ts';
import { ensureLog, JetstreamLog, LOG_LIMITS } from '../../cluster/log/jetstream.ts';
import { Announcements } from '../../cluster/nats/announcements.ts';
import { Bucket } from '../../cluster/nats/bucket.ts';
import { connectNats, type NatsLink } from '../../cluster/nats/connection.ts';
import { Lease } from '../../cluster/nats/lease.ts';
import {
  type SharedSettings,
  settleSettings,
  streamsOf,
} from '../../cluster/nats/streamSettings.ts';
import { Presence } from '../../cluster/presence.ts';
import {
  pauseOrInterrupt,
  rateLimited,
  retryingLog,
  retryUntilAnswered,
  retryWhileNatsForms,
} from '../../cluster/retryingLog.ts';
import {
  EpochBases,
  NatsSnapshots,
  removeTemporaryFiles,
  retryingSnapshots,
} from '../../cluster/snapshots/natsSnapshots.ts';
import { ObjectFiles } from '../../cluster/snapshots/objectStore.ts';
import { DataDisk } from '../../cluster/watch.ts';
import type { MarketRecord } from '../../engine/fold/marketRecord.ts';
import { Node } from '../../engine/node/node.ts';
import { type DataFiles, dataFiles } from '../../engine/recovery/dataFiles.ts';
import { type RecoveryOptions, recover } from '../../engine/recovery/recovery.ts';
import { checkSameMarket } from '../../engine/recovery/sameMarket.ts';
import { Fault, isFault } from '../../engine/runtime/assert.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Events } from '../../engine/runtime/events.ts';
import type { Service } from '../../engine/runtime/service.ts';
import { loadSnapshot } from '../../engine/snapshots/load.ts';
import type { SnapshotStore } from '../../engine/snapshots/port.ts';
import { peekCheckpoint } from '../../engine/store/peek.ts';
import type { Checkpoint, StateStore } from '../../engine/store/state.ts';
import type { AppDeps } from './appDeps.ts';
import { openMarketRecord } from './marketRecord.ts';
import { answerCalls } from './nodeCalls.ts';
import { foldOptions, type OpenNode, recordIdentity } from './openNode.ts';

export interface Cluster {
  readonly name: string;
  readonly market: string;
  readonly link: NatsLink;
  readonly log: JetstreamLog;
  readonly lease: Lease;
  readonly leaseMs: number;
  readonly presence: Presence;
  /** After a failed start: releases at once what other nodes would wait for. */
  leave(): Promise<void>;
  readonly announcements: Announcements;
  /** The market of the data directory. */
  readonly record: MarketRecord;
  /** Announced to the other nodes with the position. */
  readonly settings: SharedSettings;
  readonly epochs: Epochs;
  /** Files of this node. */
  readonly files: DataFiles;
  readonly disk: DataDisk;
  /** Compares the copies of the log; on nodes that may lead. */
  readonly copies: Service;
  /** For nodes that are new or far behind. */
  readonly snapshots: SnapshotStore;
  /** Entries from one snapshot to the next. */
  readonly every: number;
  /** Logos of all nodes. */
  readonly images: ObjectFiles;
  onLost(listener: () => void): void;
  /** Answers readers' calls to `routes` while this node `isAble`. */
  answerCalls(routes: readonly Route[], isAble: () => boolean): Service;
  /** Values that all nodes share, for as long as the market lives. */
  openBucket(suffix: string, answerMs: number): Bucket;
}

const LONGEST_WAIT_MS = 60_000;

/** Opens the market from the shared log, and the connection to the other nodes. */
export async function joinCluster(
  appDeps: AppDeps,
  url: string,
  events: Events,
): Promise<{ readonly market: OpenNode; readonly cluster: Cluster }> {
  const { settings, clock, rng } = appDeps;
  const name = settings.NODE_NAME ?? rng.token(6);
  const link = await connectNats({ url, name, ...credentialsIn(settings) }, rng, appDeps.dialNats);
  if (link instanceof Failure) throw new Error(link.message);
  events.natsConnected();
  link.onStatus(({ status }) => events.natsStatus(status));
  link.onRefusal(rateLimited(clock, events.natsRefused));
  link.messages.onDropped(events.messageDropped);
  try {
    return await joinOver(link, appDeps, name, events);
  } catch (error) {
    await link.close();
    throw error;
  }
}

async function joinOver(
  link: NatsLink,
  appDeps: AppDeps,
  name: string,
  events: Events,
): Promise<{ readonly market: OpenNode; readonly cluster: Cluster }> {
  const { settings, clock } = appDeps;
  const signal = endOf(link, appDeps);
  const pauseBeforeRetry = () => pauseOrInterrupt(clock, signal);
  dataFiles(settings.DATA_DIR);
  const record = openMarketRecord(appDeps);
  const shared = await openShared(appDeps, name, record, link, events, pauseBeforeRetry, signal);
  try {
    return await joinWith(shared, record, signal, link, appDeps, name, events);
  } catch (error) {
    await shared.log.close();
    await shared.turns.leave();
    throw error;
  }
}

async function joinWith(
  shared: Shared,
  record: MarketRecord,
  signal: AbortSignal,
  link: NatsLink,
  appDeps: AppDeps,
  name: string,
  events: Events,
): Promise<{ readonly market: OpenNode; readonly cluster: Cluster }> {
  const { settings, clock } = appDeps;
  const { log, objects, turns } = shared;
  turns.announcements.listen();
  turns.lease.listen();
  const files = dataFiles(settings.DATA_DIR);
  const pauseBeforeRetry = () => pauseOrInterrupt(clock, signal);
  const noAnswer = rateLimited(clock, events.natsWaits);
  const retry = { signal, noAnswer };
  const answered = <T>(ask: () => Promise<T>) =>
    retryUntilAnswered(ask, (error) => isFault(error, 'startRefused', 'otherMarket'), clock, retry);
  const read = retryingLog(log, clock, retry);
  const starting = { name, log: read, ...shared.turns, record, clock, signal, pauseBeforeRetry };
  await checkMarket(starting, files, settings.MARKET_NAME);
  // Readers change no settings of NATS: nodes that may lead do.
  if (settings.ROLE !== 'reader') await answered(() => settle(starting, link, appDeps, events));
  removeTemporaryFiles(settings.DATA_DIR);
  const snapshots = new NatsSnapshots(objects, settings.DATA_DIR);
  const bases = new EpochBases(objects, files, pauseBeforeRetry);
  const readable = retryingSnapshots(snapshots, clock, signal);
  const takeSnapshot: RecoveryOptions['takeSnapshot'] = (path, upTo, after = 0) =>
    loadSnapshot(path, { upTo, after }, readable, read, events);
  const common = { ...foldOptions(appDeps), takeSnapshot };
  const publishBase = (epoch: string) => answered(() => bases.publish(epoch));
  const { actorQuarantined: quarantined, epochStarted, stateUnreadable } = events;
  const told = { quarantined, epochStarted, stateUnreadable, natsWaits: noAnswer };
  const fetchBase = bases.fetch.bind(bases);
  const options = { ...common, ...told, publishBase, fetchBase };
  const store = await recovered(starting, appDeps, files, options);
  const tail = await read.last();
  const joins = { fetchBase, diverged: events.logDiverged };
  const reads = retryingLog(log, clock, { signal });
  const nodeOptions = { ...common, shared: joins };
  const node = new Node(store, tail.seq, reads, files, clock, nodeOptions, events);
  recordIdentity(node, record);
  const places = { files, snapshots, record };
  const cluster = clusterOf(appDeps, name, link, shared, node, places, bases, events);
  return { market: { node, log, writer: null }, cluster };
}

/** Throws `otherMarket` before it changes the directory or the log. */
async function checkMarket(
  starting: LogStartDeps,
  files: DataFiles,
  market: string,
): Promise<void> {
  await checkLivingNodes(starting);
  const { log, record } = starting;
  await checkSameMarket(peekCheckpoint(files.state), log, record, logName(market));
}

function logName(market: string): string {
  return `the log in NATS (MARKET_NAME=${market})`;
}

/** Runs after the check that this node belongs to the market. */
async function settle(
  starting: LogStartDeps,
  link: NatsLink,
  { settings }: AppDeps,
  events: Events,
): Promise<void> {
  const own = sharedSettingsOf(settings);
  const others = await otherNodes(starting);
  const streams = streamsOf(settings.MARKET_NAME);
  await settleSettings(link, streams, LOG_LIMITS, own, others, events);
}

function sharedSettingsOf({ LEASE_MS, NATS_REPLICAS }: AppDeps['settings']): SharedSettings {
  return { leaseMs: LEASE_MS, replicas: NATS_REPLICAS };
}

function credentialsIn(settings: AppDeps['settings']) {
  return {
    credsFile: settings.NATS_CREDS_FILE,
    nkeyFile: settings.NATS_NKEY_FILE,
    caFile: settings.NATS_CA_FILE,
    certFile: settings.NATS_CERT_FILE,
    keyFile: settings.NATS_KEY_FILE,
  };
}

/** Aborts waiting for NATS when this process stops or the connection is closed. */
function endOf(link: NatsLink, { signal }: AppDeps): AbortSignal {
  const closed = new AbortController();
  link.onStatus(({ status }) => {
    if (status === 'closed') closed.abort();
  });
  return signal === undefined ? closed.signal : AbortSignal.any([signal, closed.signal]);
}

/** Where another one bases the log while we would, it is read from the beginning. */
async function recovered(
  starting: LogStartDeps,
  { clock, rng, signal, settings }: AppDeps,
  files: DataFiles,
  options: Omit<RecoveryOptions, 'clock' | 'rng' | 'shared' | 'market'> & {
    fetchBase: EpochBases['fetch'];
    natsWaits(error: unknown): void;
  },
): Promise<StateStore> {
  const { fetchBase } = options;
  const isReader = settings.ROLE === 'reader';
  const { name: node, log, record: market } = starting;
  const named = { market, logName: logName(settings.MARKET_NAME) };
  const mayRestart = ({ epoch, term, seq }: Checkpoint) =>
    isReader ? waitForLeader(starting) : leadsWithNewestState(starting, { node, epoch, term, seq });
  for (;;) {
    if (isReader) await waitUntilOthersStartLog(starting, options.natsWaits);
    else await waitUntilLogStarts(starting, peekCheckpoint(files.state));
    try {
      const shared = { fetchBase, mayRestart };
      return await recover(log, files, { ...options, ...named, clock, rng, signal, shared });
    } catch (error) {
      if (!isFault(error, 'logRestartRefused')) throw error;
      options.natsWaits(error);
      await starting.pauseBeforeRetry();
    }
  }
}

interface Shared {
  readonly log: JetstreamLog;
  readonly turns: Pick<Cluster, 'lease' | 'leaseMs' | 'announcements' | 'presence' | 'leave'>;
  readonly objects: ObjectFiles;
  readonly images: ObjectFiles;
  onLost(listener: () => void): void;
}

async function openShared(
  appDeps: AppDeps,
  name: string,
  record: MarketRecord,
  link: NatsLink,
  events: Events,
  again: () => Promise<void>,
  signal: AbortSignal,
): Promise<Shared> {
  const { settings, clock, rng } = appDeps;
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
    subject: `${market}-leader`,
    market: () => record.known,
    mayTake: () => presence.obstacle() === null,
    lost: () => lost(),
  });
  const maxMs = isReader ? Number.POSITIVE_INFINITY : LONGEST_WAIT_MS;
  const log = await retryWhileNatsForms(clock, maxMs, events.natsWaits, again, async () => {
    // A reader waits until another node has created it.
    if (!isReader) await ensureLog(link, { name: market, replicas });
    const own = { name: market, mayRestart: () => lease.held };
    // A devnet may be far ahead of the clocks of its nodes; the follower takes a strange time back.
    const latestMs = settings.NETWORK === 'devnet' ? undefined : () => presence.latestMs();
    return JetstreamLog.open(link, clock, { ...own, latestMs });
  });
  const objects = new ObjectFiles(link, clock, rng, { bucket: `${market}-files`, replicas });
  const images = new ObjectFiles(link, clock, rng, { bucket: `${market}-images`, replicas });
  return {
    log,
    turns: {
      lease,
      leaseMs,
      announcements: new Announcements(bucket, clock),
      presence,
      async leave() {
        await lease.release();
        await presence.stop();
        await link.close();
      },
    },
    objects,
    images,
    onLost: (listener) => {
      lost = listener;
    },
  };
}

function copiesOf(link: NatsLink, log: JetstreamLog, stream: string, clock: Clock, events: Events) {
  const { handlerFailed, copiesCompared } = events;
  const failed = (error: unknown) => handlerFailed('copies of the log', error);
  const read = (fromSeq: number, limit: number) => log.read(fromSeq, limit);
  return new CopyWatch({ link, stream, clock, read, failed, copiesCompared });
}

function clusterOf(
  appDeps: AppDeps,
  name: string,
  link: NatsLink,
  { log, turns, images, onLost }: Shared,
  node: Node,
  places: Pick<Cluster, 'files' | 'snapshots' | 'record'>,
  bases: EpochBases,
  events: Events,
): Cluster {
  const { settings, rng, clock } = appDeps;
  const { epochStarted, otherMarket } = events;
  const { record } = places;
  const { announcements } = turns;
  return {
    name,
    market: settings.MARKET_NAME,
    link,
    log,
    ...turns,
    settings: sharedSettingsOf(settings),
    ...places,
    disk: new DataDisk(settings.DATA_DIR, clock),
    copies: copiesOf(link, log, settings.MARKET_NAME, clock, events),
    every: settings.SNAPSHOT_EVERY,
    images,
    onLost,
    answerCalls: (routes, isAble) =>
      answerCalls(routes, { link, market: settings.MARKET_NAME }, node, appDeps, isAble, events),
    openBucket(suffix, answerMs) {
      const shape = { replicas: settings.NATS_REPLICAS, ttlMs: 0 };
      return new Bucket(link, { name: `${settings.MARKET_NAME}-${suffix}`, ...shape }, answerMs);
    },
    epochs: new Epochs({
      name,
      log,
      node,
      files: places.files,
      rng,
      market: record,
      otherMarket,
      others: async () => {
        const others = await announcements.others(name);
        if (others === 'unreachable') throw new Fault('natsSilent', 'NATS gives no answer');
        return others;
      },
      heard: () => announcements.receivedSince(name, clock.monotonicMs() - settings.LEASE_MS),
      ensureStream: () =>
        ensureLog(link, { name: settings.MARKET_NAME, replicas: settings.NATS_REPLICAS }),
      publishBase: (epoch) => bases.publish(epoch),
      epochStarted,
    }),
  };
}
