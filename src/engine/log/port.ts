/**
 * The log: the one order of everything that happened. Contract suite: test/contracts/log.ts.
 *
 * Guarantees:
 * - `append` is acknowledged only when the entry survives a crash. It succeeds only at the tail:
 *   `expectedSeq` is the last seq the writer knows. Appending the same entry again (an
 *   acknowledgement was lost) is Appended, not a conflict.
 * - Entries are dense and chained: seq + 1, prevEntryHash = hash of the one before.
 * - `read` gives entries in order. It may give fewer than asked, and the same ones twice on another
 *   call; never an entry that `append` has not acknowledged.
 *
 * Exception: a `LocalLog` with `acksFromMemory` acknowledges before the disk has the entry. A crash
 * may then lose acknowledged entries, and the next start begins an epoch (`directoryCopy.ts`).
 *
 * May be lost: appends that were not acknowledged. A tail that was acknowledged is lost only with
 * the disk; readers find out by `last()` being behind their checkpoint.
 *
 * Errors: `append` rejects when the disk refuses; nothing was appended then, the same call may be
 * tried again. `read` rejects with `unreadableEntry` if the first stored text is no entry.
 */
import type { MarketIdentity } from '../runtime/marketIdentity.ts';
import type { SealedEntry } from './entry.ts';

export type AppendOutcome =
  | { readonly outcome: 'appended'; readonly seq: number }
  /** The log has entries that the writer has not read. Read on; never retry with a newer seq. */
  | { readonly outcome: 'conflict'; readonly lastSeq: number };

/** The remedy for a damaged log. */
export const LOG_REMEDY =
  'restore DATA_DIR from a backup; without one, move log.sqlite* out of DATA_DIR and start ' +
  'again: the market continues from state.sqlite in a new epoch, and clients load it again';

export interface Tail {
  /** 0 for an empty log. */
  readonly seq: number;
  readonly hash: string;
  readonly epoch: string | null;
}

export interface Log {
  /** Epoch of the last entry; null for an empty log. */
  epoch(): Promise<string | null>;
  /** Oldest seq still there; 0 for an empty log. */
  first(): Promise<number>;
  last(): Promise<Tail>;
  append(entry: SealedEntry, expectedSeq: number): Promise<AppendOutcome>;
  /** Entries from `fromSeq` on, at most `limit`; empty at the tail that `reached` knows. */
  read(fromSeq: number, limit: number): Promise<readonly SealedEntry[]>;
  /** Resolves once the tail is at or past `seq`, or the log is closed. */
  reached(seq: number): Promise<void>;
  /** Seqs of all epoch entries still there, ascending. */
  epochs(): Promise<readonly number[]>;
  /** Forgets entries below `seq`. */
  trim(seq: number): Promise<void>;
  /** Replaces everything by one epoch entry, in one step. */
  restart(entry: SealedEntry): Promise<void>;
  /** The market that the log is labelled with beside its entries; null: no label. */
  label?(): Promise<MarketIdentity | null>;
  /** The least seq from `seq` on at which `restart` may begin. Absent: `seq` itself. */
  beginsAt?(seq: number): Promise<number>;
  close(): Promise<void>;
}
