/** Checks that the entries read from the log continue this node's state. */
import type { SealedEntry } from '../log/entry.ts';
import type { Log } from '../log/port.ts';
import { isFault } from '../runtime/assert.ts';
import { isOtherMarket } from '../runtime/marketIdentity.ts';
import { epochNumber, type Position } from '../runtime/position.ts';
import type { Checkpoint } from '../store/state.ts';

type LogEnd = Pick<Checkpoint, 'seq' | 'term' | 'market'> & {
  readonly entryHash: string | null;
  readonly epoch: string | null;
};

/**
 * A client with the right to publish can write an entry that fits by its number and its hash. Only
 * an epoch's first entry names another epoch, which is a later one, and only a new leader's first
 * entry raises the term, by one: an entry with numbers near their limits would leave none for the
 * epochs and leaders after it.
 */
function continues({ entry }: SealedEntry, before: LogEnd): boolean {
  const { epoch, seq, term, prevEntryHash, payload } = entry;
  if (payload.kind === 'epoch') {
    return mayBegin(epoch, before.epoch) && !isOtherMarket(payload.market, before.market);
  }
  if (seq !== before.seq + 1 || prevEntryHash !== before.entryHash) return false;
  return epoch === before.epoch && term === before.term + (payload.kind === 'leader' ? 1 : 0);
}

/**
 * An epoch begins once, and none that nodes have left comes back. Two nodes may have given two
 * epochs one number; the nodes continue the one that the log has.
 */
function mayBegin(epoch: string, before: string | null): boolean {
  if (before === null) return true;
  return epoch !== before && epochNumber(epoch) >= epochNumber(before);
}

/** From the first on, as many as go on from each other. */
function continuousPrefix(entries: readonly SealedEntry[], from: LogEnd): readonly SealedEntry[] {
  let before = from;
  const end = entries.findIndex((sealed) => {
    if (!continues(sealed, before)) return true;
    const { epoch, seq, term } = sealed.entry;
    before = { ...before, epoch, seq, entryHash: sealed.hash, term };
    return false;
  });
  return end < 0 ? entries : entries.slice(0, end);
}

/** Its first entry, where another epoch was before. */
export function isNewEpoch({ entry }: SealedEntry, applied: Position): boolean {
  return entry.payload.kind === 'epoch' && applied.seq > 0 && entry.epoch !== applied.epoch;
}

/** The next entries, or why this node cannot apply them. */
type Continuation =
  | { readonly entries: readonly SealedEntry[] }
  | { readonly entries: null; readonly reason: string };

/**
 * Entries that follow `checkpoint`, at most `limit`. In the log of a single node (`isShared` is
 * false) an entry that does not follow is a fault, and the fold throws.
 */
export async function readContinuation(
  log: Log,
  checkpoint: Checkpoint | null,
  limit: number,
  isShared: boolean,
): Promise<Continuation> {
  try {
    const from = checkpoint ?? { epoch: null, seq: 0, entryHash: null, term: 0 };
    const all = await log.read(from.seq + 1, limit);
    const [next] = all;
    if (!isShared || next === undefined) return { entries: all };
    const entries = continuousPrefix(all, from);
    const [first] = entries;
    if (first === undefined) {
      return { entries: null, reason: `entry ${next.entry.seq} does not follow entry ${from.seq}` };
    }
    if (await hasBase(first, log, isShared)) return { entries };
    const reason = `the log no longer has what epoch ${first.entry.epoch} starts from`;
    return { entries: null, reason };
  } catch (error) {
    if (isShared && isFault(error, 'unreadableEntry')) {
      return { entries: null, reason: error.message };
    }
    throw error;
  }
}

/**
 * False: the epoch began with a rollback to a position that the log of several nodes has forgotten.
 */
export async function hasBase(
  { entry: { payload } }: SealedEntry,
  log: Log,
  isShared: boolean,
): Promise<boolean> {
  if (!isShared || payload.kind !== 'epoch' || payload.reason !== 'rollback') return true;
  return (payload.base?.seq ?? 0) >= (await log.first());
}
