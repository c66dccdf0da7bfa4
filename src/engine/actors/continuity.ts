/** Whether an entry that was read goes on from what this node has. */
import type { SealedEntry } from '../log/entry.ts';
import { type Log, UnreadableEntry } from '../log/port.ts';
import type { Position } from '../runtime/position.ts';
import type { Checkpoint } from '../store/state.ts';

type Place = Pick<Checkpoint, 'seq' | 'term'> & { readonly entryHash: string | null };

function goesOn({ entry }: SealedEntry, { seq, entryHash, term }: Place): boolean {
  if (entry.payload.kind === 'epoch') return true;
  return entry.seq === seq + 1 && entry.prevEntryHash === entryHash && entry.term >= term;
}

/** From the first on, as many as go on from each other. */
function thoseThatGoOn(entries: readonly SealedEntry[], from: Place): readonly SealedEntry[] {
  let before = from;
  const end = entries.findIndex((sealed) => {
    if (!goesOn(sealed, before)) return true;
    const { seq, term } = sealed.entry;
    before = { seq, entryHash: sealed.hash, term };
    return false;
  });
  return end < 0 ? entries : entries.slice(0, end);
}

/** Its first entry, where another epoch was before. */
export function isNewEpoch({ entry }: SealedEntry, applied: Position): boolean {
  return entry.payload.kind === 'epoch' && applied.seq > 0 && entry.epoch !== applied.epoch;
}

/**
 * What follows `checkpoint`, at most `limit` entries; null: what comes next does not go on from it.
 * Where the log is one's own (`isShared` is false) that is a fault, which the fold finds.
 */
export async function readOn(
  log: Log,
  checkpoint: Checkpoint | null,
  limit: number,
  isShared: boolean,
): Promise<readonly SealedEntry[] | null> {
  try {
    const from = checkpoint ?? { seq: 0, entryHash: null, term: 0 };
    const all = await log.read(from.seq + 1, limit);
    if (!isShared || all.length === 0) return all;
    const entries = thoseThatGoOn(all, from);
    const [first] = entries;
    return first !== undefined && (await hasBase(first, log, isShared)) ? entries : null;
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
