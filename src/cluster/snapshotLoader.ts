/**
 * Loads a snapshot of the state from the object store, for a node that cannot continue from what it
 * has.
 *
 * It loads the newest one whose entry the log still has; one that is damaged, gone or of another
 * version is reported, and the older one is tried. While NATS gives no answer this waits, until it
 * is stopped: then it throws `Interrupted`.
 */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type DataFiles, removeDatabase } from '../engine/actors/files.ts';
import { Interrupted } from '../engine/actors/rebuild.ts';
import { isInLog } from '../engine/actors/recovery.ts';
import type { Log } from '../engine/log/port.ts';
import { type Clock, pause } from '../engine/runtime/clock.ts';
import { Failure } from '../engine/runtime/errors.ts';
import { StateStore } from '../engine/store/state.ts';
import type { Snapshot, SnapshotSet } from './snapshotSet.ts';

export interface SnapshotLoaderObserver {
  snapshotLoaded(what: string, seq: number): void;
  snapshotUnusable(name: string, reason: string): void;
}

export interface SnapshotLoaderPlace {
  readonly snapshots: SnapshotSet;
  readonly log: Log;
  readonly files: DataFiles;
  readonly clock: Clock;
  /** Gives up what waits. */
  readonly signal: AbortSignal;
}

const AGAIN_MS = 200;
/** Of one file. */
const ATTEMPTS = 8;

export class SnapshotLoader {
  readonly #place: SnapshotLoaderPlace;
  readonly #observer: SnapshotLoaderObserver;

  constructor(place: SnapshotLoaderPlace, observer: SnapshotLoaderObserver) {
    this.#place = place;
    this.#observer = observer;
  }

  /**
   * A state that the log goes on from, at entry `upTo` or before and later than `after`, into the
   * file at `path`; answers its entry, or null where there is none.
   */
  async takeState(path: string, upTo: number, after = 0): Promise<number | null> {
    const all = await this.#answered(() => this.#place.snapshots.list());
    for (const snapshot of await this.#usable(all)) {
      const { seq } = snapshot.checkpoint;
      if (seq > upTo || seq <= after) continue;
      removeDatabase(path);
      const refused = (await this.#get(snapshot, path)) ?? (await faultOf(path, snapshot));
      if (refused === null) {
        this.#observer.snapshotLoaded('state', seq);
        return seq;
      }
      this.#observer.snapshotUnusable(snapshot.state, refused);
    }
    removeDatabase(path);
    return null;
  }

  async #usable(all: readonly Snapshot[]): Promise<readonly Snapshot[]> {
    const { log } = this.#place;
    const usable: Snapshot[] = [];
    for (const snapshot of all) {
      if (await isInLog(snapshot.checkpoint, log)) usable.push(snapshot);
    }
    return usable;
  }

  /** What is wrong with it. */
  async #get(snapshot: Snapshot, path: string): Promise<string | null> {
    const { snapshots, clock, signal } = this.#place;
    for (let attempt = 1; ; attempt += 1) {
      const failed = await snapshots.get(snapshot, path);
      if (failed === null) return null;
      if (failed.cause !== 'NOT_READY' || attempt === ATTEMPTS) return failed.message;
      await pause(clock, attempt * AGAIN_MS, signal);
      if (signal.aborted) throw givenUp();
    }
  }

  async #answered<T>(ask: () => Promise<T | Failure>): Promise<T> {
    const { clock, signal } = this.#place;
    while (!signal.aborted) {
      const answer = await ask();
      if (!(answer instanceof Failure)) return answer;
      await pause(clock, AGAIN_MS, signal);
    }
    throw givenUp();
  }
}

function givenUp(): Interrupted {
  return new Interrupted('stopped while a snapshot was waited for');
}

/** What a crash left of snapshots that were on their way; before anything else is. */
export function removeHalfTaken(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (!/^(snapshot-|join-|manifest\.)|\.part-/.test(name)) continue;
    rmSync(join(directory, name), { force: true, recursive: true });
  }
}

async function faultOf(path: string, { checkpoint }: Snapshot): Promise<string | null> {
  try {
    const store = new StateStore(path, { horizonBlocks: 1, maxMb: 0, writer: 'inline' });
    const found = store.checkpoint?.stateHash;
    await store.close();
    return found === checkpoint.stateHash ? null : 'its state is not what its manifest says';
  } catch (error) {
    return String(error);
  }
}
