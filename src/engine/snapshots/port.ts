/**
 * Snapshots: whole copies of the state, each at one entry of the log. The log may forget what comes
 * before them, and a node whose state is lost begins from one.
 *
 * Guarantees: a snapshot that is listed is whole. One that `add` has acknowledged survives a crash.
 * May be lost: copies that were not acknowledged.
 */
import type { Checkpoint } from '../store/state.ts';

export interface Snapshot {
  readonly name: string;
  /** Of the state in it. */
  readonly checkpoint: Checkpoint;
}

export interface SnapshotSet {
  /** The newest first. */
  list(): Promise<readonly Snapshot[]>;
  /** Takes over the closed database at `path`. Rejects when it is damaged or the disk refuses. */
  add(path: string): Promise<Snapshot>;
  /** Removes all others, and what a crash has left of them. */
  keepOnly(snapshots: readonly Snapshot[]): Promise<void>;
  /** Copies it into a new database at `path`; says what went wrong, or null. */
  fetch(snapshot: Snapshot, path: string): Promise<string | null>;
}

export interface SnapshotObserver {
  /** The log holds what follows `trimmedTo`. */
  snapshotTaken(seq: number, trimmedTo: number, seconds: number): void;
  /** It is tried again. `isRepeated`: it failed for the same reason as the last time. */
  snapshotFailed(error: unknown, isRepeated: boolean): void;
  snapshotLoaded(what: string, seq: number): void;
  snapshotUnusable(name: string, reason: string): void;
}
