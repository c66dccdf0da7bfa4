/**
 * The node's run loop. Its mailbox is the log: in order, whole entries, as many as it asks for.
 *
 * Order, always: appended and acknowledged, applied in memory, published, committed behind.
 * Readers (requests, flushes) run between batches, so all they see is at `applied()`.
 */
import type { SealedEntry } from '../log/entry.ts';
import type { Log } from '../log/port.ts';
import { type Clock, nextTurn } from '../runtime/clock.ts';
import type { Position } from '../runtime/position.ts';
import { StateStore } from '../store/state.ts';
import type { TopicHub } from '../topics/port.ts';
import { type CommitObserver, Committer, isRefusal } from './committer.ts';
import { goesOn, isNewEpoch } from './continuity.ts';
import { type DataFiles, damagedPools, markDamaged } from './files.ts';
import { Fold } from './fold.ts';
import { type RebuildOptions, replaceState, takeBase } from './rebuild.ts';

export interface NodeObserver extends CommitObserver {
  batchApplied(entries: number, seconds: number): void;
  actorQuarantined(pool: string, error: unknown): void;
  foldFailed(error: unknown): void;
  rollbackApplied(entries: number): void;
  epochStarted(epoch: string, reason: string): void;
}

export interface NodeOptions extends Pick<RebuildOptions, 'takeSnapshot'> {
  readonly horizonBlocks: number;
  readonly maxMb: number;
  readonly maxLoadedPools: number;
  readonly commitEveryMs: number;
  /**
   * Of a node among several. What it reads is another's: when that does not go on from what it has,
   * it waits for `adopt` instead of failing.
   */
  readonly shared?: {
    diverged(): void;
    /** Puts the snapshot that an epoch begins from into its file. */
    fetchBase(epoch: string): Promise<void>;
  };
}

const READ = 512;
const SLICE_MS = 2;

export class Node {
  readonly #log: Log;
  readonly #files: DataFiles;
  readonly #clock: Clock;
  readonly #options: NodeOptions;
  readonly #observer: NodeObserver;
  readonly #listeners = new Set<() => void>();
  #fold: Fold;
  #hub: TopicHub | null = null;
  #running: Promise<void> = Promise.resolve();
  #stopping = false;
  #failed = false;
  #diverged = false;
  #syncedTo: number;
  readonly #committer: Committer;
  #wake: () => void = () => {};
  #adopted: SealedEntry | null = null;

  /** `store` is recovered; `syncedTo` is the tail to be reached before reads are served. */
  constructor(
    store: StateStore,
    syncedTo: number,
    log: Log,
    files: DataFiles,
    clock: Clock,
    options: NodeOptions,
    observer: NodeObserver,
  ) {
    this.#log = log;
    this.#files = files;
    this.#clock = clock;
    this.#options = options;
    this.#observer = observer;
    this.#syncedTo = syncedTo;
    this.#fold = new Fold(store, this.#foldOptions());
    this.#fold.keepQuarantined(damagedPools(files));
    this.#committer = new Committer(clock, observer, options.commitEveryMs, () => {
      return this.#fold.store;
    });
  }

  /** The fold in force; ask again after every await, a new epoch replaces it. */
  get fold(): Fold {
    return this.#fold;
  }

  applied(): Position {
    const checkpoint = this.#fold.store.checkpoint;
    return { epoch: checkpoint?.epoch ?? '0-none', seq: checkpoint?.seq ?? 0 };
  }

  stateHash(): string {
    return this.#fold.store.checkpoint?.stateHash ?? '';
  }

  synced(): boolean {
    return !this.#failed && !this.#diverged && this.applied().seq >= this.#syncedTo;
  }

  onApplied(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves once `seq` is applied; rejects when the fold has stopped before it. */
  reached(seq: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = () => {
        const done = this.applied().seq >= seq;
        if (!done && !this.#failed && !this.#stopping) return;
        stop();
        if (done) resolve();
        else reject(new Error(`the fold stopped before entry ${seq}`));
      };
      const stop = this.onApplied(check);
      check();
    });
  }

  start(hub: TopicHub): void {
    this.#hub = hub;
    this.#running = this.#run().catch((error: unknown) => {
      if (this.#stopping) return;
      this.#failed = true;
      this.#observer.foldFailed(error);
      this.#tell();
    });
  }

  get hasDiverged(): boolean {
    return this.#diverged;
  }

  /** Goes on from an epoch that begins elsewhere; `sealed` is its first entry. */
  adopt(sealed: SealedEntry): void {
    this.#adopted = sealed;
    this.#wake();
  }

  /** Stops after the batch in hand, writes what is staged, closes log and state. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#committer.stop();
    this.#wake();
    this.#tell();
    await this.#log.close();
    await this.#running;
    await this.#committer.rest();
    // A disk that refuses even now loses nothing: the next start folds on from the log.
    await this.#fold.store.commit().catch((error: unknown) => {
      this.#observer.commitFailed(error, 1, 0);
    });
    await this.#fold.store.close();
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      const adopted = this.#adopted;
      if (adopted !== null) {
        this.#adopted = null;
        await this.#changeEpoch(adopted);
        continue;
      }
      const next = this.applied().seq + 1;
      const entries = await this.#log.read(next, READ);
      if (entries.length === 0) {
        await this.#woken((wake) => void this.#log.reached(next).then(wake));
      } else if (
        this.#options.shared !== undefined &&
        !goesOn(entries[0], this.#fold.store.checkpoint ?? {})
      ) {
        this.#diverge();
        await this.#woken(() => {});
      } else await this.#applyAll(entries);
    }
  }

  /** By `adopt`, `stop`, or what `listen` is told to call. */
  #woken(listen: (wake: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (this.#adopted !== null || this.#stopping) resolve();
      else listen(resolve);
    });
  }

  #diverge(): void {
    if (this.#diverged) return;
    this.#diverged = true;
    this.#options.shared?.diverged();
    this.#tell();
  }

  /** Applies in slices of at most 2 ms, each published whole. */
  async #applyAll(entries: readonly SealedEntry[]): Promise<void> {
    let index = 0;
    while (index < entries.length && !this.#stopping) {
      const sealed = entries[index];
      if (sealed !== undefined && isNewEpoch(sealed, this.applied())) {
        return this.#changeEpoch(sealed);
      }
      // A rollback reads what is committed, so the rows before it are committed first.
      if (sealed?.entry.payload.kind === 'rollback') await this.#committer.now();
      if (!this.#stopping) index = this.#applySlice(entries, index);
      await this.#committer.whenDue();
      await nextTurn(this.#clock);
    }
  }

  /** From `index` on, until the slice is over or an entry needs preparation; the next index. */
  #applySlice(entries: readonly SealedEntry[], index: number): number {
    const tags = new Set<string>();
    const startMs = this.#clock.monotonicMs();
    let nowMs = startMs;
    let next = index;
    do {
      const sealed = entries[next];
      if (sealed === undefined) break;
      const { kind } = sealed.entry.payload;
      if (next > index && (kind === 'rollback' || kind === 'epoch')) break;
      if (sealed.entry.seq > this.applied().seq) this.#apply(sealed, tags);
      next += 1;
      nowMs = this.#clock.monotonicMs();
    } while (nowMs - startMs < SLICE_MS);
    this.#observer.batchApplied(next - index, (nowMs - startMs) / 1000);
    this.#hub?.applied(tags);
    this.#tell();
    return next;
  }

  #apply(sealed: SealedEntry, tags: Set<string>): void {
    const { seq, payload } = sealed.entry;
    this.#fold.apply(sealed, tags);
    if (payload.kind === 'rollback') this.#observer.rollbackApplied(seq - 1 - payload.toSeq);
  }

  /** The state at the epoch's base is taken over, unless it is what there is. */
  async #changeEpoch(sealed: SealedEntry): Promise<void> {
    const { payload, epoch } = sealed.entry;
    if (payload.kind !== 'epoch') return;
    if (payload.base !== undefined && !this.#isAt(payload.base)) {
      const broken = await this.#takeBase(payload.base.seq, epoch);
      if (broken === null) return;
      this.#fold = new Fold(
        new StateStore(this.#files.state, { ...this.#options, writer: 'thread' }),
        this.#foldOptions(),
      );
      this.#fold.keepQuarantined(broken);
    }
    this.#fold.apply(sealed, new Set());
    this.#syncedTo = Math.min(this.#syncedTo, sealed.entry.seq);
    this.#diverged = false;
    this.#observer.epochStarted(epoch, payload.reason);
    this.#hub?.epochChanged();
    this.#tell();
  }

  #isAt(base: { readonly seq: number; readonly stateHash?: string }): boolean {
    const { checkpoint } = this.#fold.store;
    if (checkpoint?.seq !== base.seq) return false;
    return (base.stateHash ?? checkpoint.stateHash) === checkpoint.stateHash;
  }

  /** Pools that could not be folded; null when we stop before it is done. */
  async #takeBase(seq: number, epoch: string): Promise<readonly string[] | null> {
    const clock = this.#clock;
    const options: RebuildOptions = { ...this.#options, ...this.#foldOptions(), clock };
    const release = async () => {
      await this.#committer.rest();
      await this.#fold.store.close();
    };
    const { shared } = this.#options;
    const isElsewhere = shared !== undefined && seq < (await this.#log.first());
    return this.#committer.untilDiskTakes(async () => {
      if (!isElsewhere) return replaceState(seq, this.#log, this.#files, options, release);
      await shared.fetchBase(epoch);
      await takeBase(epoch, this.#files, release);
      return [];
    }, isRefusal);
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  #foldOptions() {
    return {
      maxLoadedPools: this.#options.maxLoadedPools,
      quarantined: (pool: string, error: unknown) => {
        markDamaged(this.#files, pool, error);
        this.#observer.actorQuarantined(pool, error);
      },
    };
  }
}
