/** Log and state brought together, the fold over them, and the pen of the log. */
import { dataFiles } from '../../engine/actors/files.ts';
import type { MarketRecord } from '../../engine/actors/marketRecord.ts';
import { Node } from '../../engine/actors/node.ts';
import { FIRST_TERM, recover } from '../../engine/actors/recovery.ts';
import { openLocalLog } from '../../engine/log/localOpen.ts';
import type { Log } from '../../engine/log/port.ts';
import { LogWriter } from '../../engine/log/writer.ts';
import type { Events } from '../../engine/runtime/events.ts';
import type { Checkpoint } from '../../engine/store/state.ts';
import { openMarketRecord } from './marketRecord.ts';
import type { World } from './world.ts';

export interface Market {
  readonly node: Node;
  readonly log: Log;
  /** null among several nodes: whoever leads has one. */
  readonly writer: LogWriter | null;
}

/** What the fold and its recovery are told by the settings, on one node as on several. */
export function foldOptions({ settings }: World) {
  return {
    horizonBlocks: settings.HORIZON_BLOCKS,
    maxMb: settings.DATA_MAX_MB,
    maxLoadedPools: settings.MAX_LOADED_POOLS,
    commitEveryMs: settings.COMMIT_EVERY_MS,
  };
}

export async function openMarket(world: World, events: Events): Promise<Market> {
  const { settings, clock, rng, signal } = world;
  const files = dataFiles(settings.DATA_DIR);
  const options = foldOptions(world);
  const record = openMarketRecord(world);
  const { maxMb } = options;
  const { logSumsOutdated: sumsOutdated } = events;
  const log = await openLocalLog(files.log, clock, { maxMb, signal, sumsOutdated });
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
  const tail = await log.last();
  const node = new Node(store, tail.seq, log, files, clock, options, events);
  adopt(store.checkpoint, record);
  recordMarket(node, record);
  return { node, log, writer: new LogWriter(log, tail, FIRST_TERM, clock, events) };
}

/** Writes the directory's record as soon as an entry has said which market this is. */
export function recordMarket(node: Node, record: MarketRecord): void {
  const look = () => {
    const market = node.fold.store.checkpoint?.market;
    if (market !== undefined) record.learn(market);
  };
  look();
  if (record.known !== null) return;
  const stop = node.onApplied(() => {
    look();
    if (record.known !== null) stop();
  });
}

/** A directory of an older version, on a single node: nobody else could have named its market. */
function adopt(checkpoint: Checkpoint | null, record: MarketRecord): void {
  if (checkpoint === null || checkpoint.market !== undefined) return;
  const market = record.identity(checkpoint.epoch);
  if (market !== null) record.learn(market);
}
