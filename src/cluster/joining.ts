/**
 * What a node takes from the object store that cannot go on from what it has: a state, a ledger.
 *
 * The newest whose place in the log is still there; one that is damaged, gone or of another version
 * is told and passed over for the older. While NATS gives no answer this waits, until it is given
 * up: with `Interrupted`.
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
import type { Pair, Pairs } from './pairs.ts';

export interface JoiningObserver {
  /** `what` is `state` or `ledger`. */
  snapshotLoaded(what: string, seq: number): void;
  snapshotUnusable(name: string, reason: string): void;
}

export interface JoiningPlace {
  readonly pairs: Pairs;
  readonly log: Log;
  readonly files: DataFiles;
  readonly clock: Clock;
  /** Gives up what waits. */
  readonly signal: AbortSignal;
}

const AGAIN_MS = 200;
/** Of one file. */
const ATTEMPTS = 8;

export class Joining {
  readonly #place: JoiningPlace;
  readonly #observer: JoiningObserver;
  /** The ledger that was taken last: a second time it would not help either. */
  #tried: string | null = null;

  constructor(place: JoiningPlace, observer: JoiningObserver) {
    this.#place = place;
    this.#observer = observer;
  }

  /**
   * A state that the log goes on from, at entry `upTo` or before and later than `after`, into the
   * file at `path`; answers its entry, or null where there is none.
   */
  async takeState(path: string, upTo: number, after = 0): Promise<number | null> {
    const all = await this.#answered(() => this.#place.pairs.list());
    for (const pair of await this.#usable(all)) {
      const { seq } = pair.checkpoint;
      if (seq > upTo || seq <= after) continue;
      removeDatabase(path);
      const refused = (await this.#get(pair.state, path)) ?? (await faultOf(path, pair));
      if (refused === null) {
        this.#observer.snapshotLoaded('state', seq);
        return seq;
      }
      this.#observer.snapshotUnusable(pair.state, refused);
    }
    removeDatabase(path);
    return null;
  }

  /** A ledger that the log goes on from, other than that of the last call; null: there is none. */
  async takeLedger(): Promise<string | null> {
    const { files, pairs, log } = this.#place;
    const path = join(files.directory, 'join-ledger.sqlite');
    const all = await pairs.list();
    if (all instanceof Failure) return null;
    const { epoch } = await log.last();
    for (const { ledger, checkpoint } of await this.#usable(all)) {
      if (ledger === null) continue;
      const name = `${ledger} in ${epoch}`;
      if (name === this.#tried) return null;
      rmSync(path, { force: true });
      const refused = await this.#get(ledger, path);
      if (refused === null) {
        this.#tried = name;
        this.#observer.snapshotLoaded('ledger', checkpoint.seq);
        return path;
      }
      this.#observer.snapshotUnusable(ledger, refused);
    }
    return null;
  }

  async #usable(all: readonly Pair[]): Promise<readonly Pair[]> {
    const { log } = this.#place;
    const usable: Pair[] = [];
    for (const pair of all) {
      if (await isInLog(pair.checkpoint, log)) usable.push(pair);
    }
    return usable;
  }

  /** What is wrong with it. */
  async #get(name: string, path: string): Promise<string | null> {
    const { pairs, clock, signal } = this.#place;
    for (let attempt = 1; ; attempt += 1) {
      const failed = await pairs.get(name, path);
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
    if (!/^(snapshot-|join-|pair\.)|\.part-/.test(name)) continue;
    rmSync(join(directory, name), { force: true, recursive: true });
  }
}

async function faultOf(path: string, { checkpoint }: Pair): Promise<string | null> {
  try {
    const store = new StateStore(path, { horizonBlocks: 1, maxMb: 0, writer: 'inline' });
    const found = store.checkpoint?.stateHash;
    await store.close();
    return found === checkpoint.stateHash ? null : 'its state is not what its manifest says';
  } catch (error) {
    return String(error);
  }
}
