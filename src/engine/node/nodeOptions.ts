/** Settings of a node, and its reports. */
import type { RebuildOptions } from '../recovery/rebuild.ts';
import type { PathObserver } from '../runtime/entryPath.ts';
import type { OpenWriter } from '../store/stateWriter.ts';
import type { CommitObserver } from './committer.ts';
import type { RepairObserver } from './stateReplacement.ts';

export interface NodeObserver extends CommitObserver, RepairObserver {
  batchApplied(entries: number, seconds: number): void;
  readonly entryAt?: PathObserver;
  actorQuarantined(pair: string, error: unknown): void;
  foldFailed(error: unknown): void;
  rollbackApplied(entries: number): void;
  epochStarted(epoch: string, reason: string): void;
}

export interface NodeOptions extends Pick<RebuildOptions, 'takeSnapshot'> {
  readonly horizonBlocks: number;
  readonly maxMb: number;
  readonly maxLoadedPairs: number;
  readonly commitEveryMs: number;
  /** Absent: a thread. */
  readonly stateWriter?: OpenWriter | undefined;
  /**
   * For a node among several, which reads entries that another node wrote. If an entry does not
   * continue its state, the node waits for `adopt` or `rejoin` instead of failing.
   */
  readonly shared?: {
    diverged(reason: string): void;
    /** Puts the snapshot that an epoch begins from into its file; false: not `isWanted` before. */
    fetchBase(epoch: string, isWanted: () => boolean): Promise<boolean>;
  };
}
