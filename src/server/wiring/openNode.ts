/** Opens log and state, and makes the node over them, the log writer and the snapshots. */

import {
  isCopiedDirectory,
  markDirectory,
  markOpenDirectory,
} from '../../engine/directory/directoryCopy.ts';
import type { MarketRecord } from '../../engine/fold/marketRecord.ts';
import { openLocalLog } from '../../engine/log/localOpen.ts';
import type { Log } from '../../engine/log/port.ts';
import { LogWriter } from '../../engine/log/writer.ts';
import { Node } from '../../engine/node/node.ts';
import { dataFiles } from '../../engine/recovery/dataFiles.ts';
import type { RebuildOptions } from '../../engine/recovery/rebuild.ts';
import { continueInNewEpoch, FIRST_TERM, recover } from '../../engine/recovery/recovery.ts';
import type { Events } from '../../engine/runtime/events.ts';
import type { Service } from '../../engine/runtime/service.ts';
import { DirectorySnapshots } from '../../engine/snapshots/directory.ts';
import { loadSnapshot } from '../../engine/snapshots/load.ts';
import { SnapshotTaker } from '../../engine/snapshots/taker.ts';
import type { Checkpoint } from '../../engine/store/state.ts';
import { type AppDeps, followsChain } from './appDeps.ts';
import { openMarketRecord } from './marketRecord.ts';

export interface OpenNode {
  readonly node: Node;
  readonly log: Log;
  /** null among several nodes: the leader has one. */
  readonly writer: LogWriter | null;
  /** Absent among several nodes: the leader has one. */
  readonly snapshots?: Service;
}

/** Settings of the fold and of recovery, on a single node and among several. */
export function foldOptions({ settings, host }: AppDeps) {
  return {
    horizonBlocks: settings.HORIZON_BLOCKS,
    maxMb: settings.DATA_MAX_MB,
    maxLoadedPairs: settings.MAX_LOADED_POOLS,
    commitEveryMs: settings.COMMIT_EVERY_MS,
    stateWriter: host?.stateWriter,
  };
}

export async function openNode(appDeps: AppDeps, events: Events): Promise<OpenNode> {
  const { settings, clock, rng, signal } = appDeps;
  const files = dataFiles(settings.DATA_DIR);
  const record = openMarketRecord(appDeps);
  // A state that is made again takes long; before that it must be clear that its chain continues.
  if (followsChain(appDeps)) (await import('./network.ts')).checkNetwork(appDeps);
  const maxMb = settings.DATA_MAX_MB;
  const { logSumsOutdated: sumsOutdated } = events;
  const openFile = appDeps.host?.logFile;
  const acksFromMemory = settings.ACK === 'memory';
  const mark = () => {
    try {
      markDirectory(settings.DATA_DIR);
    } catch (error) {
      events.directoryNotMarked(error);
    }
  };
  // A start that ends before it sets the open mark leaves the mark of a crash as it is.
  let isMarkedOpen = false;
  const closedWhole = () => {
    if (isMarkedOpen) mark();
  };
  const logOptions = { maxMb, signal, sumsOutdated, openFile, acksFromMemory, closedWhole };
  const log = await openLocalLog(files.log, clock, logOptions);
  const snapshots = new DirectorySnapshots(settings.DATA_DIR, events);
  const takeSnapshot: RebuildOptions['takeSnapshot'] = (path, upTo, after = 0) =>
    loadSnapshot(path, { upTo, after }, snapshots, log, events);
  const options = { ...foldOptions(appDeps), takeSnapshot };
  const isCopy = isCopiedDirectory(settings.DATA_DIR);
  const epochBefore = await log.epoch();
  const store = await recover(log, files, {
    ...options,
    market: record,
    clock,
    rng,
    signal,
    quarantined: events.actorQuarantined,
    epochStarted: events.epochStarted,
    stateUnreadable: events.stateUnreadable,
  });
  // Where the log was lost as well, a new epoch started already.
  if (isCopy && epochBefore !== null && epochBefore === (await log.epoch())) {
    await continueInNewEpoch(log, { rng, market: record });
  }
  // Without the mark a crash would go unnoticed, so there is no start without it.
  if (acksFromMemory) {
    markOpenDirectory(settings.DATA_DIR);
    isMarkedOpen = true;
  } else mark();
  const tail = await log.last();
  const node = new Node(store, tail.seq, log, files, clock, options, events);
  adopt(store.checkpoint, record);
  recordIdentity(node, record);
  const writer = new LogWriter(log, tail, FIRST_TERM, clock, events);
  const limits = { every: settings.SNAPSHOT_EVERY, trims: settings.LOG_KEEP === 'snapshots' };
  const taker = new SnapshotTaker({ node, log, files, snapshots, clock }, limits, events);
  return { node, log, writer, snapshots: taker };
}

/** Writes market.json when the first entry with a market's identity is applied. */
export function recordIdentity(node: Node, record: MarketRecord): void {
  const look = () => {
    const market = node.fold.store.checkpoint?.market;
    if (market !== undefined) record.write(market);
  };
  look();
  if (record.known !== null) return;
  const stop = node.onApplied(() => {
    look();
    if (record.known !== null) stop();
  });
}

/** Gives a directory of an older version its identity; only for a single node. */
function adopt(checkpoint: Checkpoint | null, record: MarketRecord): void {
  if (checkpoint === null || checkpoint.market !== undefined) return;
  const market = record.identity(checkpoint.epoch);
  if (market !== null) record.write(market);
}
