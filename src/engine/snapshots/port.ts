/**
 * Snapshots: whole copies of the state, each at one entry of the log. The log may forget the
 * entries before them, and a node whose state is lost or too old starts from one.
 *
 * Guarantees: a snapshot that is listed is whole. A snapshot that `put` acknowledged survives a
 * crash. May be lost: copies that were not acknowledged. Errors: every method rejects when the
 * store gives no answer or takes nothing; ask again. Adapters: `directory.ts` (a single node) and
 * `cluster/snapshots/natsSnapshots.ts` (several).
 */
import { epochNumber } from '../runtime/position.ts';
import type { Checkpoint } from '../store/state.ts';

export interface Snapshot {
  readonly name: string;
  /** Checkpoint of the state in it. */
  readonly checkpoint: Checkpoint;
}

export interface SnapshotStore {
  /** The newest first. */
  list(): Promise<readonly Snapshot[]>;
  /** Stores the closed database at `path`, whose pages match their checksums; may move the file. */
  put(path: string, checkpoint: Checkpoint): Promise<Snapshot>;
  /** Copies it into a new database at `path`. Returns the fault of the snapshot, or null. */
  get(snapshot: Snapshot, path: string): Promise<string | null>;
  /** Removes all others, and the remains of a crash. */
  removeExcept(kept: readonly Snapshot[]): Promise<void>;
}

export interface SnapshotObserver {
  /** The log holds what follows `trimmedTo`. */
  snapshotTaken(seq: number, trimmedTo: number, seconds: number): void;
  /** It is tried again. `isRepeated`: it failed for the same reason as the last time. */
  snapshotFailed(error: unknown, isRepeated: boolean): void;
  snapshotLoaded(what: string, seq: number): void;
  snapshotUnusable(name: string, reason: string): void;
}

export function newestFirst(snapshots: readonly Snapshot[]): Snapshot[] {
  return snapshots.toSorted(({ checkpoint: a }, { checkpoint: b }) => {
    return epochNumber(b.epoch) - epochNumber(a.epoch) || b.seq - a.seq;
  });
}
