/**
 * A whole copy of the state file, made in a thread: on the main one it would hold the loop for as
 * long as writing all of it takes. Commits go on meanwhile; the copy is of one moment.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { PointRecord } from './records.ts';
import type { Checkpoint } from './state.ts';

export interface CopyWish {
  readonly from: string;
  /** Does not exist yet. */
  readonly to: string;
}

/** What is in the copy. */
export interface StateCopy {
  readonly checkpoint: Checkpoint | null;
  readonly newestBlock: PointRecord | null;
}

/** Of what is committed. Rejects when the disk refuses; part of the copy may be there then. */
export async function copyState(wish: CopyWish): Promise<StateCopy> {
  const script = new URL('./copyThread.ts', import.meta.url);
  const thread = new Worker(script, { workerData: wish });
  try {
    // trust: the thread's only message; what it throws rejects this
    const [copy] = (await once(thread, 'message')) as [StateCopy];
    return copy;
  } finally {
    await thread.terminate();
  }
}
