/** Loads the state of a snapshot that the log continues. */

import type { Log } from '../log/port.ts';
import { removeDatabase } from '../recovery/dataFiles.ts';
import { isInLog } from '../recovery/recovery.ts';
import { type Checkpoint, StateStore } from '../store/state.ts';
import { inlineWriter } from '../store/stateWriter.ts';
import type { SnapshotObserver, SnapshotStore } from './port.ts';

type Observer = Pick<SnapshotObserver, 'snapshotLoaded' | 'snapshotUnusable'>;

/**
 * Puts the newest usable snapshot of an entry in (`after`, `upTo`] into the file at `path`; answers
 * its entry, or null where there is none. A damaged snapshot, or one of another version, is
 * reported and an older one is tried.
 */
export async function loadSnapshot(
  path: string,
  { upTo, after }: { readonly upTo: number; readonly after: number },
  snapshots: Pick<SnapshotStore, 'list' | 'get'>,
  log: Log,
  observer: Observer,
): Promise<number | null> {
  // A node that waits asks again and again, and a list costs requests for each snapshot.
  if (after >= upTo) return null;
  for (const snapshot of await snapshots.list()) {
    const { name, checkpoint } = snapshot;
    const { seq } = checkpoint;
    if (seq > upTo || seq <= after || !(await isInLog(checkpoint, log))) continue;
    removeDatabase(path);
    const fault = (await snapshots.get(snapshot, path)) ?? (await stateFault(path, checkpoint));
    if (fault === null) {
      observer.snapshotLoaded('state', seq);
      return seq;
    }
    observer.snapshotUnusable(name, fault);
  }
  removeDatabase(path);
  return null;
}

/** null: the file can be opened, and its state fits the checkpoint. */
async function stateFault(path: string, { stateHash }: Checkpoint): Promise<string | null> {
  try {
    const store = new StateStore(path, { horizonBlocks: 1, maxMb: 0, writer: inlineWriter });
    const found = store.checkpoint?.stateHash;
    await store.close();
    return found === stateHash ? null : 'its state is not what its checkpoint says';
  } catch (error) {
    return String(error);
  }
}
