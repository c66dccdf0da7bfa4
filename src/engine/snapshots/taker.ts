/**
 * Takes a snapshot at fixed distances of entries, keeps it and the newest before it that the log
 * continues, and trims the log behind the older one. A single node runs it all the time, of several
 * nodes the leader. Any program with the right to publish may have written what others put: such
 * snapshots never push out one of this taker's own, and before it has put one nothing is removed.
 *
 * Crash: at any moment the log holds every entry after the older of two whole snapshots; a snapshot
 *        is stored before the log is trimmed, the log is trimmed before a third one is removed.
 * Never: runs two at once, or ends when one fails: the failure is reported and it tries again.
 * Assumes: the state's writer makes the copy between two commits, off the event loop.
 */
import { join } from 'node:path';
import type { Log } from '../log/port.ts';
import type { Node } from '../node/node.ts';
import {
  type DataFiles,
  isDamaged,
  removeBasesExcept,
  removeDatabase,
} from '../recovery/dataFiles.ts';
import { isInLog } from '../recovery/recovery.ts';
import { isFault } from '../runtime/assert.ts';
import { Backoff } from '../runtime/backoff.ts';
import type { Clock } from '../runtime/clock.ts';
import { epochNumber } from '../runtime/position.ts';
import type { Service } from '../runtime/service.ts';
import { Task } from '../runtime/task.ts';
import { checkPages } from '../store/pageChecksums.ts';
import { peekCheckpoint } from '../store/peek.ts';
import type { Checkpoint } from '../store/state.ts';
import type { Snapshot, SnapshotObserver, SnapshotStore } from './port.ts';

export interface TakerDeps {
  readonly node: Node;
  readonly log: Log;
  readonly files: DataFiles;
  readonly snapshots: SnapshotStore;
  readonly clock: Clock;
}

interface TakerOptions {
  /** Entries from one snapshot to the next. */
  readonly every: number;
  /** false: the log keeps everything. */
  readonly trims: boolean;
  readonly retryMs?: number;
  /** Rest after a snapshot, as a multiple of the time that it took. */
  readonly rests?: number;
}

type Observer = Pick<SnapshotObserver, 'snapshotTaken' | 'snapshotFailed'>;

const KEPT = 2;
const RETRY_MS = 10_000;
const MAX_DOUBLINGS = 5;
/** Snapshots take a tenth of the time at most: with a large state they are rarer than `every`. */
const RESTS = 9;

export class SnapshotTaker implements Service {
  readonly name = 'snapshots';
  readonly #deps: TakerDeps;
  readonly #options: TakerOptions;
  readonly #observer: Observer;
  readonly #copy: string;
  readonly #task: Task;
  readonly #retry: Backoff;
  #restsUntilMs = 0;
  /** Snapshots that this taker has put, the newest first; at most `KEPT`. */
  #own: readonly Snapshot[] = [];
  /** The failure reported last; null: the last snapshot was taken. */
  #failure: string | null = null;

  constructor(deps: TakerDeps, options: TakerOptions, observer: Observer) {
    this.#deps = deps;
    this.#options = options;
    this.#observer = observer;
    this.#task = new Task({ clock: deps.clock });
    const { retryMs = RETRY_MS } = options;
    this.#retry = new Backoff({ firstMs: retryMs, maxMs: retryMs * 2 ** MAX_DOUBLINGS });
    this.#copy = join(deps.files.directory, 'snapshot-state.sqlite');
  }

  start(): void {
    const unlisten = this.#deps.node.onApplied(() => this.#task.wake());
    this.#task.start(() => this.#run().finally(unlisten));
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  async #run(): Promise<void> {
    let newest: Snapshot | null | undefined;
    while (!this.#task.isStopping) {
      if (newest !== undefined && !this.#isDue(newest)) {
        await this.#task.untilWoken();
        continue;
      }
      try {
        // First finishes the work that a crash, or an earlier leader, may have left undone.
        newest = newest === undefined ? await this.#tidy() : await this.#makeSnapshot();
      } catch (error) {
        newest = undefined;
        this.#report(error);
        await this.#task.pause(this.#retry.nextMs());
      } finally {
        removeDatabase(this.#copy);
      }
    }
  }

  #isDue(newest: Snapshot | null): boolean {
    const { node, clock } = this.#deps;
    const { epoch, seq } = node.applied();
    if (clock.monotonicMs() < this.#restsUntilMs) return false;
    // The log of a later epoch starts with a state: without a snapshot that state is its only one.
    if (newest === null) return seq >= this.#options.every || epochNumber(epoch) > 1;
    const { checkpoint } = newest;
    return checkpoint.epoch !== epoch || seq - checkpoint.seq >= this.#options.every;
  }

  async #makeSnapshot(): Promise<Snapshot | null> {
    const { node, log, files, snapshots, clock } = this.#deps;
    const { rests = RESTS } = this.#options;
    const startMs = clock.monotonicMs();
    if (isDamaged(files)) throw new Error('pools are quarantined: the state lacks their entries');
    removeDatabase(this.#copy);
    await node.fold.store.copyTo(this.#copy);
    const own = await snapshots.put(this.#copy, await checkedState(this.#copy));
    this.#own = [own, ...this.#own].slice(0, KEPT);
    const { checkpoint } = own;
    const newest = await this.#tidy();
    const tookMs = clock.monotonicMs() - startMs;
    this.#restsUntilMs = clock.monotonicMs() + rests * tookMs;
    this.#failure = null;
    this.#retry.reset();
    this.#observer.snapshotTaken(checkpoint.seq, await log.first(), tookMs / 1000);
    return newest;
  }

  /** Answers the newest snapshot that is kept. */
  async #tidy(): Promise<Snapshot | null> {
    const { log, snapshots } = this.#deps;
    const usable: Snapshot[] = [];
    for (const snapshot of await snapshots.list()) {
      if (await isFollowed(snapshot, log)) usable.push(snapshot);
    }
    const own = usable.filter((snapshot) => this.#isOwn(snapshot));
    const [newest] = own;
    if (newest === undefined) return usable[0] ?? null;
    const others = usable.slice(usable.indexOf(newest)).filter((other) => !own.includes(other));
    const kept = [...own, ...others].slice(0, KEPT);
    const older = kept[KEPT - 1];
    if (older !== undefined && this.#options.trims) await this.#trim(older);
    await snapshots.removeExcept(kept);
    return newest;
  }

  #isOwn({ name, checkpoint }: Snapshot): boolean {
    return this.#own.some(
      (own) => own.name === name && own.checkpoint.stateHash === checkpoint.stateHash,
    );
  }

  /** Keeps the entry of the snapshot: it shows a node that the log is the same. */
  async #trim({ checkpoint: { seq } }: Snapshot): Promise<void> {
    const { log, files } = this.#deps;
    await log.trim(seq);
    const [first] = await log.read(await log.first(), 1);
    // A restarted log needs its base state while it still has its first entry.
    if (first?.entry.payload.kind !== 'epoch') removeBasesExcept(files, '');
  }

  #report(error: unknown): void {
    const message = String(error);
    this.#observer.snapshotFailed(error, message === this.#failure);
    this.#failure = message;
  }
}

/** Checks the pages of a copy. Throws when one is damaged, or there is no state in it. */
async function checkedState(path: string): Promise<Checkpoint> {
  const pages = await checkPages(path);
  if (isFault(pages, 'damagedFile')) throw pages;
  const checkpoint = peekCheckpoint(path);
  if (checkpoint === null) throw new Error('nothing was committed yet');
  return checkpoint;
}

/** The log continues it, and no later epoch took back entries that are in it. */
async function isFollowed({ checkpoint }: Snapshot, log: Log): Promise<boolean> {
  if (!(await isInLog(checkpoint, log))) return false;
  for (const seq of await log.epochs()) {
    if (seq <= checkpoint.seq) continue;
    const [sealed] = await log.read(seq, 1);
    const payload = sealed?.entry.payload;
    if (payload?.kind === 'epoch' && (payload.base?.seq ?? 0) < checkpoint.seq) return false;
  }
  return true;
}
