/**
 * Whether a log and a data directory belong to the same market: asked before either is replaced.
 *
 * If one side was written by an older version and has no identity, the same epoch shows that both
 * belong together: an epoch's name is random, and only one market has it.
 */

import type { MarketRecord } from '../fold/marketRecord.ts';
import type { SealedEntry } from '../log/entry.ts';
import type { Log } from '../log/port.ts';
import { Fault, isFault } from '../runtime/assert.ts';
import type { MarketIdentity } from '../runtime/marketIdentity.ts';
import type { Checkpoint } from '../store/state.ts';

/**
 * As the log's label says, or else its newest epoch entry; null: neither does. A program that may
 * only publish entries cannot change the label.
 */
export async function marketOfLog(log: Log): Promise<MarketIdentity | null> {
  const label = (await log.label?.()) ?? null;
  if (label !== null) return label;
  const newest = (await log.epochs()).at(-1);
  return newest === undefined ? null : await marketOfEpoch(newest, log);
}

/**
 * A damaged entry may still be readable, and name a market that does not exist: it is believed only
 * where the entry behind it follows it.
 */
async function marketOfEpoch(seq: number, log: Log): Promise<MarketIdentity | null> {
  const sealed = await readableEntry(seq, log);
  if (sealed?.entry.payload.kind !== 'epoch') return null;
  const next = await readableEntry(seq + 1, log);
  const isLast = next === undefined && (await log.last()).seq === seq;
  const isFollowed = isLast || next?.entry.prevEntryHash === sealed.hash;
  return isFollowed ? (sealed.entry.payload.market ?? null) : null;
}

/** The first entry from `seq` on; undefined: there is none, or it cannot be read. */
async function readableEntry(seq: number, log: Log): Promise<SealedEntry | undefined> {
  try {
    const [sealed] = await log.read(seq, 1);
    return sealed;
  } catch (error) {
    if (isFault(error, 'unreadableEntry')) return undefined;
    throw error;
  }
}

/**
 * Throws `otherMarket` where the log is another market's than the directory, or where neither says
 * so and they have no epoch in common. `checkpoint` belongs to the directory's state.
 */
export async function checkSameMarket(
  checkpoint: Checkpoint | null,
  log: Log,
  record: MarketRecord,
  logName: string,
): Promise<void> {
  const there = await marketOfLog(log);
  if (there !== null) record.compare(there, logName, checkpoint?.market);
  const own = record.known ?? checkpoint?.market ?? null;
  if (own !== null && there !== null) return;
  const { seq, epoch } = await log.last();
  if (seq > 0 && checkpoint !== null && !(await hasEpoch(checkpoint, log))) {
    throw new Fault(
      'otherMarket',
      `DATA_DIR ${record.directory} was written in epoch ${checkpoint.epoch}, which ${logName} ` +
        `does not have (it is in epoch ${epoch}): they may be two markets. Nothing was changed. ` +
        'If they are one, move state.sqlite out of DATA_DIR and start again: the state is then ' +
        'taken from the log. Otherwise set another DATA_DIR or MARKET_NAME',
    );
  }
}

async function hasEpoch(checkpoint: Checkpoint, log: Log): Promise<boolean> {
  if ((await log.last()).epoch === checkpoint.epoch) return true;
  const same = await readableEntry(checkpoint.seq, log);
  if (same?.entry.seq === checkpoint.seq && same.hash === checkpoint.entryHash) return true;
  for (const seq of await log.epochs()) {
    const [sealed] = await log.read(seq, 1);
    const { epoch, payload } = sealed?.entry ?? {};
    const isBase = payload?.kind === 'epoch' && payload.base?.stateHash === checkpoint.stateHash;
    if (epoch === checkpoint.epoch || isBase) return true;
  }
  return false;
}
