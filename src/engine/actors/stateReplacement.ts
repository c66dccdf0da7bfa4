/**
 * Another state in the place of the one that a running node has: what an epoch begins from, or a
 * snapshot of a log that went on without this node. `store` is given up just before it is replaced,
 * so until then the node answers from it.
 */
import type { EpochPayload, SealedEntry } from '../log/entry.ts';
import type { Log } from '../log/port.ts';
import type { StateStore } from '../store/state.ts';
import { type Committer, isRefusal } from './committer.ts';
import { clearDamaged, type DataFiles, replaceDatabase } from './dataFiles.ts';
import type { NodeOptions } from './node.ts';
import {
  Interrupted,
  LogGone,
  type RebuildOptions,
  replaceState,
  useEpochSnapshot,
} from './rebuild.ts';

export class StateReplacement {
  readonly #log: Log;
  readonly #files: DataFiles;
  readonly #options: RebuildOptions & Pick<NodeOptions, 'shared'>;
  readonly #committer: Committer;

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
   * What epoch `sealed` begins from; answers the pools that could not be folded. null: we stop, or
   * nobody wants that epoch any more, or of several nodes' log what it was made from is gone.
   */
  async useEpochSnapshot(
    { entry: { epoch } }: SealedEntry,
    { reason, base }: EpochPayload,
    store: StateStore,
    isWanted: () => boolean,
  ): Promise<readonly string[] | null> {
    const release = () => this.#release(store);
    const { shared } = this.#options;
    // Not by what the log holds now: it may be another one already, or empty.
    const isElsewhere = shared !== undefined && reason === 'log lost';
    const take = async () => {
      if (!isElsewhere) {
        return replaceState(base?.seq ?? 0, this.#log, this.#files, this.#options, release);
      }
      if (!(await shared.fetchBase(epoch, isWanted))) return null;
      await useEpochSnapshot(epoch, this.#files, release);
      return [];
    };
    try {
      return await this.#committer.retryWhileRefused(take, isRefusal);
    } catch (error) {
      if (shared !== undefined && error instanceof LogGone) return null;
      throw error;
    }
  }

  /** False: there is none that is further than `store`, or we stop before it is there. */
  async useSnapshot(store: StateStore): Promise<boolean> {
    const { rebuild } = this.#files;
    const from = store.checkpoint?.seq ?? 0;
    try {
      const { seq: end } = await this.#log.last();
      const seq = (await this.#options.takeSnapshot?.(rebuild, end, from)) ?? null;
      if (seq === null) return false;
    } catch (error) {
      if (error instanceof Interrupted) return false;
      throw error;
    }
    await this.useRebuilt(store);
    return true;
  }

  /** Puts what is in the file `rebuild` in the place of `store`. */
  async useRebuilt(store: StateStore): Promise<void> {
    await this.#release(store);
    replaceDatabase(this.#files.rebuild, this.#files.state);
    clearDamaged(this.#files);
  }

  async #release(store: StateStore): Promise<void> {
    await this.#committer.settle();
    await store.close();
  }
}
