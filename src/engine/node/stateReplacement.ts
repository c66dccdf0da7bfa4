/** Replaces the state of a running node, and rebuilds a state that has an unreadable row. */
import type { EpochPayload, SealedEntry } from '../log/entry.ts';
import type { Log } from '../log/port.ts';
import { type DataFiles, markDamaged, useRebuilt } from '../recovery/dataFiles.ts';
import {
  foldRemaining,
  type RebuildOptions,
  rebuildState,
  replaceState,
} from '../recovery/rebuild.ts';
import { isFault } from '../runtime/assert.ts';
import { Task } from '../runtime/task.ts';
import type { StateStore } from '../store/state.ts';
import { type Committer, isRefusal } from './committer.ts';
import type { NodeOptions } from './nodeOptions.ts';

/**
 * Replaces the state of a running node: by the state that an epoch begins from, or by a snapshot
 * where the log continued without this node. `store` is closed just before it is replaced, so the
 * node answers from it until then.
 */
export class StateReplacement {
  readonly #log: Log;
  readonly #files: DataFiles;
  readonly #options: RebuildOptions & Pick<NodeOptions, 'shared'>;
  readonly #committer: Committer;
  /** The entries among which `useSnapshot` last found none. */
  #searched = { from: 0, end: 0 };

  constructor(
    log: Log,
    files: DataFiles,
    options: RebuildOptions & Pick<NodeOptions, 'shared'>,
    committer: Committer,
  ) {
    this.#log = log;
    this.#files = files;
    this.#options = options;
    this.#committer = committer;
  }

  /**
   * Writes the snapshot that epoch `sealed` starts from; resolves with the pools that could not be
   * folded. null: the node stops, the epoch is no longer wanted, or several nodes share the log and
   * what makes up the snapshot is gone or damaged.
   */
  async useEpochSnapshot(
    { entry: { epoch } }: SealedEntry,
    { reason, base }: EpochPayload,
    store: StateStore,
    isWanted: () => boolean,
  ): Promise<readonly string[] | null> {
    const release = () => this.#release(store);
    const { shared } = this.#options;
    // Does not read the log here: it may have been replaced or emptied already.
    const isElsewhere = shared !== undefined && reason === 'log lost';
    const move = async () => {
      if (isElsewhere && !(await shared.fetchBase(epoch, isWanted))) return null;
      const at = isElsewhere ? { epoch } : (base?.seq ?? 0);
      return replaceState(at, this.#log, this.#files, this.#options, release);
    };
    try {
      return await this.#committer.retryWhileRefused(move, isRefusal);
    } catch (error) {
      // Another program may have written the epoch, and the state that it names.
      if (shared !== undefined && isFault(error, 'logGone', 'damagedFile')) return null;
      throw error;
    }
  }

  /**
   * False: no snapshot is further than `store`, or the node stops first. A node that waits asks at
   * every check of its log; a search costs requests for each snapshot, so it is not repeated until
   * the log has more.
   */
  async useSnapshot(store: StateStore): Promise<boolean> {
    const { rebuild } = this.#files;
    const from = store.checkpoint?.seq ?? 0;
    try {
      const { seq: end } = await this.#log.last();
      if (from === this.#searched.from && end === this.#searched.end) return false;
      const seq = (await this.#options.takeSnapshot?.(rebuild, end, from)) ?? null;
      if (seq === null) {
        this.#searched = { from, end };
        return false;
      }
    } catch (error) {
      if (isFault(error, 'interrupted')) return false;
      throw error;
    }
    await this.useRebuilt(store, new Map());
    return true;
  }

  /** Replaces `store` by the state in the file `rebuild`, which lacks entries of `broken` pools. */
  async useRebuilt(store: StateStore, broken: ReadonlyMap<string, unknown>): Promise<void> {
    await this.#release(store);
    useRebuilt(this.#files, broken);
  }

  async #release(store: StateStore): Promise<void> {
    await this.#committer.idle();
    await store.close();
  }
}

export interface RepairObserver {
  stateRebuilding(error: unknown): void;
  stateRebuilt(seconds: number): void;
  stateNotRebuilt(error: unknown): void;
}

interface RepairedState {
  readonly store: StateStore;
  /** Pools that cannot be folded from the log either, with why. */
  readonly broken: Map<string, unknown>;
  readonly startedMs: number;
}

const MAX_REPAIRS = 3;
const AGAIN_MS = 5_000;

/**
 * Rebuilds the state of a running node that has an unreadable row: from the log, in another file,
 * while the node serves and folds. The node switches to it when it is ready.
 *
 * Never: rebuilds without end. A row that stays unreadable is no damage of the disk.
 */
export class StateRepair {
  readonly #log: Log;
  readonly #files: DataFiles;
  readonly #options: RebuildOptions;
  readonly #observer: RepairObserver;
  #task: Task | null = null;
  #ready: RepairedState | null = null;
  #count = 0;

  constructor(log: Log, files: DataFiles, options: RebuildOptions, observer: RepairObserver) {
    this.#log = log;
    this.#files = files;
    this.#options = options;
    this.#observer = observer;
  }

  get isReady(): boolean {
    return this.#ready !== null;
  }

  /** Makes the state up to `toSeq`, unless that is done; resolves when it is ready, or failed. */
  async makeReplacement(error: unknown, toSeq: number): Promise<void> {
    if (this.#task !== null) return this.#task.ended;
    if (this.#ready !== null) return;
    if (this.#count >= MAX_REPAIRS) {
      this.#observer.stateNotRebuilt(
        new Error('it was made again already: stop the node, run --verify, and send us the log'),
      );
      return;
    }
    this.#count += 1;
    // Where the process ends before it is done, the next start does it.
    markDamaged(this.#files, 'state', error);
    this.#observer.stateRebuilding(error);
    const failed = (failure: unknown) => this.#observer.stateNotRebuilt(failure);
    const task = new Task({ clock: this.#options.clock, failed });
    this.#task = task;
    const make = async () => {
      try {
        await this.#make(toSeq, task);
      } finally {
        this.#task = null;
      }
    };
    task.start(make);
    await task.ended;
  }

  /** Folds it on to entry `seq` and hands it over, closed; null: there is none, or it failed. */
  async takeReplacement(seq: number): Promise<RepairedState | null> {
    const repaired = this.#ready;
    this.#ready = null;
    if (repaired === null) return null;
    try {
      await foldRemaining(repaired.store, seq, this.#log, this.#collecting(repaired.broken));
    } catch (error) {
      this.#observer.stateNotRebuilt(error);
      return null;
    } finally {
      await repaired.store.close();
    }
    return repaired;
  }

  /** True: one was being made, or was ready. */
  async cancel(): Promise<boolean> {
    const was = this.#task !== null || this.#ready !== null;
    await this.#task?.stop();
    await this.#ready?.store.close();
    this.#ready = null;
    return was;
  }

  async #make(toSeq: number, task: Task): Promise<void> {
    const { clock } = this.#options;
    const startedMs = clock.monotonicMs();
    for (;;) {
      const broken = new Map<string, unknown>();
      const options = { ...this.#collecting(broken), signal: task.signal };
      try {
        const { rebuild } = this.#files;
        const store = await rebuildState(rebuild, toSeq, this.#log, this.#files, options);
        this.#ready = { store, broken, startedMs };
        return;
      } catch (error) {
        if (!isRefusal(error) || task.isStopping) throw error;
        // A full disk, for two states need more room than one.
        await task.pause(AGAIN_MS);
      }
    }
  }

  #collecting(broken: Map<string, unknown>): RebuildOptions {
    const quarantined = (pair: string, error: unknown) => {
      broken.set(pair, error);
    };
    return { ...this.#options, quarantined };
  }
}
