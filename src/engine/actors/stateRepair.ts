/**
 * Another state for a running node, where a row of its own cannot be read: made from the log in a
 * file beside it while the node serves and folds on. The node takes it over when it is ready.
 *
 * Never: makes one again and again. What is unreadable after a few times is no damage of the disk.
 */
import type { Log } from '../log/port.ts';
import { Task } from '../runtime/task.ts';
import type { StateStore } from '../store/state.ts';
import { isRefusal } from './committer.ts';
import { type DataFiles, markDamaged } from './dataFiles.ts';
import { foldRemaining, type RebuildOptions, rebuildState } from './rebuild.ts';

export interface RepairObserver {
  stateRebuilding(error: unknown): void;
  stateRebuilt(seconds: number): void;
  stateNotRebuilt(error: unknown): void;
}

export interface RepairedState {
  readonly store: StateStore;
  /** Pools that cannot be folded from the log either, with why. */
  readonly broken: Map<string, unknown>;
  readonly startedMs: number;
}

const MOST = 3;
const AGAIN_MS = 5_000;

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
  async begin(error: unknown, toSeq: number): Promise<void> {
    if (this.#task !== null) return this.#task.ended;
    if (this.#ready !== null) return;
    if (this.#count >= MOST) {
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
  async take(seq: number): Promise<RepairedState | null> {
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
    const quarantined = (pool: string, error: unknown) => {
      broken.set(pool, error);
    };
    return { ...this.#options, quarantined };
  }
}
