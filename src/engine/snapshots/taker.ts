/**
 * Takes a snapshot of a single node every so many entries, keeps the two newest that the log goes
 * on from, and trims the log behind the older one.
 *
 * Crash: at any moment the log holds all that follows the older of two whole snapshots; a snapshot
 * is on the disk before the log is trimmed, the log is trimmed before a third one is removed.
 * Never: two at once, or the end of anything when one fails: that is reported, and tried again.
 * Assumes: the state's writer makes the copy between two commits, off the event loop.
 */
import { join } from 'node:path';
import { type DataFiles, isDamaged, removeBasesExcept, removeDatabase } from '../actors/files.ts';
import type { Node } from '../actors/node.ts';
import { isInLog } from '../actors/recovery.ts';
import type { Log } from '../log/port.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Service } from '../runtime/service.ts';
import { Task } from '../runtime/task.ts';
import type { Snapshot, SnapshotObserver, SnapshotSet } from './port.ts';

export interface TakerDeps {
  readonly node: Node;
  readonly log: Log;
  readonly files: DataFiles;
  readonly snapshots: SnapshotSet;
  readonly clock: Clock;
}

export interface TakerOptions {
  /** Entries from one to the next. */
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
/** Doubled after each failure, so often. */
const MOST_DOUBLINGS = 5;
/** Snapshots take a tenth of the time at most: with a large state they are rarer than `every`. */
const RESTS = 9;

export class SnapshotTaker implements Service {
  readonly name = 'snapshots';
  readonly #deps: TakerDeps;
  readonly #options: TakerOptions;
  readonly #observer: Observer;
  readonly #copy: string;
  readonly #task: Task;
  #restsUntilMs = 0;
  /** Reported last; null: the last one was taken. */
  #failure: string | null = null;
  #failures = 0;

  constructor(deps: TakerDeps, options: TakerOptions, observer: Observer) {
    this.#deps = deps;
    this.#options = options;
    this.#observer = observer;
    this.#task = new Task({ clock: deps.clock });
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
    const { retryMs = RETRY_MS } = this.#options;
    let newest: Snapshot | null | undefined;
    while (!this.#task.isStopping) {
      try {
        // First what a crash may have left undone.
        if (newest === undefined) newest = await this.#tidy();
        else if (this.#isDue(newest)) newest = await this.#take();
        else await this.#task.untilWoken();
      } catch (error) {
        newest = undefined;
        const delayMs = retryMs * 2 ** Math.min(this.#failures, MOST_DOUBLINGS);
        this.#report(error);
        await this.#task.pause(delayMs);
      } finally {
        removeDatabase(this.#copy);
      }
    }
  }

  #isDue(newest: Snapshot | null): boolean {
    const { node, clock } = this.#deps;
    const { epoch, seq } = node.applied();
    if (clock.monotonicMs() < this.#restsUntilMs) return false;
    if (newest === null) return seq >= this.#options.every;
    const { checkpoint } = newest;
    return checkpoint.epoch !== epoch || seq - checkpoint.seq >= this.#options.every;
  }

  async #take(): Promise<Snapshot | null> {
    const { node, log, files, snapshots, clock } = this.#deps;
    const { rests = RESTS } = this.#options;
    const startMs = clock.monotonicMs();
    if (isDamaged(files)) throw new Error('pools are quarantined: the state lacks their entries');
    removeDatabase(this.#copy);
    await node.fold.store.copyTo(this.#copy);
    const { checkpoint } = await snapshots.add(this.#copy);
    const newest = await this.#tidy();
    const tookMs = clock.monotonicMs() - startMs;
    this.#restsUntilMs = clock.monotonicMs() + rests * tookMs;
    this.#failure = null;
    this.#failures = 0;
    this.#observer.snapshotTaken(checkpoint.seq, await log.first(), tookMs / 1000);
    return newest;
  }

  /** Answers the newest that is kept. */
  async #tidy(): Promise<Snapshot | null> {
    const { log, snapshots } = this.#deps;
    const usable: Snapshot[] = [];
    for (const snapshot of await snapshots.list()) {
      if (await isFollowed(snapshot, log)) usable.push(snapshot);
    }
    const kept = usable.slice(0, KEPT);
    const older = kept[KEPT - 1];
    if (older !== undefined && this.#options.trims) await this.#trim(older);
    await snapshots.keepOnly(kept);
    return kept[0] ?? null;
  }

  /** The entry of the snapshot stays: by it a node sees that the log is the same. */
  async #trim({ checkpoint: { seq } }: Snapshot): Promise<void> {
    const { log, files } = this.#deps;
    await log.trim(seq);
    const [first] = await log.read(await log.first(), 1);
    // A log that was restarted needs its base as long as it has its first entry.
    if (first?.entry.payload.kind !== 'epoch') removeBasesExcept(files, '');
  }

  #report(error: unknown): void {
    const message = String(error);
    this.#observer.snapshotFailed(error, message === this.#failure);
    this.#failure = message;
    this.#failures += 1;
  }
}

/** The log goes on from it, and no later epoch has taken back what is in it. */
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
