/** Whether an entry that was read goes on from what this node has. */
import type { SealedEntry } from '../log/entry.ts';
import { type Log, UnreadableEntry } from '../log/port.ts';
import type { Position } from '../runtime/position.ts';
import type { Checkpoint } from '../store/state.ts';

function goesOn(
  sealed: SealedEntry | undefined,
  { seq = 0, entryHash, term = 0 }: Partial<Checkpoint>,
): boolean {
  if (sealed === undefined || sealed.entry.payload.kind === 'epoch') return true;
  const { entry } = sealed;
  return entry.seq === seq + 1 && entry.prevEntryHash === entryHash && entry.term >= term;
}

/** Its first entry, where another epoch was before. */
export function isNewEpoch({ entry }: SealedEntry, applied: Position): boolean {
  return entry.payload.kind === 'epoch' && applied.seq > 0 && entry.epoch !== applied.epoch;
}

/**
 * What follows `checkpoint`, at most `limit` entries; null: what is there does not go on from it.
 * Where the log is one's own (`isShared` is false) that is a fault, which the fold finds.
 */
export async function readOn(
  log: Log,
  checkpoint: Checkpoint | null,
  limit: number,
  isShared: boolean,
): Promise<readonly SealedEntry[] | null> {
  try {
    const entries = await log.read((checkpoint?.seq ?? 0) + 1, limit);
    const [first] = entries;
    if (!isShared || first === undefined) return entries;
    const doesGoOn = goesOn(first, checkpoint ?? {}) && (await hasBase(first, log, isShared));
    return doesGoOn ? entries : null;
  } catch (error) {
    if (isShared && error instanceof UnreadableEntry) return null;
    throw error;
  }
}

/** False: an epoch that began with a rollback, to what the log of several nodes has forgotten. */
export async function hasBase(
  { entry: { payload } }: SealedEntry,
  log: Log,
  isShared: boolean,
): Promise<boolean> {
  if (!isShared || payload.kind !== 'epoch' || payload.reason !== 'rollback') return true;
  return (payload.base?.seq ?? 0) >= (await log.first());
}
