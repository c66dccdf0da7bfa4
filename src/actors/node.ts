/**
 * The node's run loop. Its mailbox is the log: in order, whole entries, as many as it asks for.
 *
 * Order, always: appended and acknowledged, applied in memory, published, committed behind.
 * Readers (requests, flushes) run between batches, so all they see is at `applied()`.
 */
import type { SealedEntry } from '../log/entry.ts';
import type { Log } from '../log/port.ts';
import { type Clock, nextTurn, sleep, type Timer } from '../runtime/clock.ts';
import type { Position } from '../runtime/position.ts';
import { StateStore } from '../store/state.ts';
import type { TopicHub } from '../topics/port.ts';
import { type DataFiles, damagedPools, markDamaged } from './files.ts';
import { Fold } from './fold.ts';
import { type RebuildOptions, replaceState } from './rebuild.ts';

export interface NodeObserver {
  batchApplied(entries: number, seconds: number): void;
  committed(rows: number, seconds: number): void;
  commitFailed(error: unknown, attempt: number, retryInMs: number): void;
  actorQuarantined(pool: string, error: unknown): void;
  foldFailed(error: unknown): void;
  rollbackApplied(entries: number): void;
  epochStarted(epoch: string, reason: string): void;
}

export interface NodeOptions {
  readonly horizonBlocks: number;
  readonly maxMb: number;
  readonly maxLoadedPools: number;
  readonly commitEveryMs: number;
}

const READ = 512;
const SLICE_MS = 2;
/** Staged rows that begin a commit, and those at which folding waits for it. */
const COMMIT_ROWS = 4_000;
const MAX_STAGED_ROWS = 16_000;
const MAX_RETRY_MS = 5_000;

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
  #syncedTo: number;
  #commitTimer: Timer | null = null;
  #lastCommit: Promise<void> = Promise.resolve();
  #diskRefuses = false;

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
    return !this.#failed && this.applied().seq >= this.#syncedTo;
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
      this.#failed = true;
      this.#observer.foldFailed(error);
      this.#tell();
    });
  }

  /** Stops after the batch in hand, writes what is staged, closes log and state. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#tell();
    await this.#log.close();
    await this.#running;
    this.#commitTimer?.cancel();
    // A disk that refuses even now loses nothing: the next start folds on from the log.
    await this.#fold.store.commit().catch((error: unknown) => {
      this.#observer.commitFailed(error, 1, 0);
    });
    await this.#fold.store.close();
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      const next = this.applied().seq + 1;
      const entries = await this.#log.read(next, READ);
      if (entries.length > 0) await this.#applyAll(entries);
      else await this.#log.reached(next);
    }
  }

  /** Applies in slices of at most 2 ms, each published whole. */
  async #applyAll(entries: readonly SealedEntry[]): Promise<void> {
    let index = 0;
    while (index < entries.length && !this.#stopping) {
      const sealed = entries[index];
      if (sealed !== undefined && needsOtherBase(sealed, this.applied().seq)) {
        return this.#changeEpoch(sealed);
      }
      // A rollback reads what is committed, so the rows before it are committed first.
      if (sealed?.entry.payload.kind === 'rollback') await this.#commit();
      if (!this.#stopping) index = this.#applySlice(entries, index);
      await this.#commitWhenDue();
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

  /** A rollback beyond the horizon: the state at its base is folded anew and takes over. */
  async #changeEpoch(sealed: SealedEntry): Promise<void> {
    const { payload } = sealed.entry;
    if (payload.kind !== 'epoch' || payload.base === undefined) return;
    const options: RebuildOptions = {
      ...this.#options,
      ...this.#foldOptions(),
      clock: this.#clock,
    };
    const { seq } = payload.base;
    const release = async () => {
      this.#commitTimer?.cancel();
      this.#commitTimer = null;
      await this.#lastCommit;
      await this.#fold.store.close();
    };
    const broken = await this.#untilDiskTakes(
      () => replaceState(seq, this.#log, this.#files, options, release),
      isRefusal,
    );
    if (broken === null) return;
    this.#fold = new Fold(
      new StateStore(this.#files.state, { ...this.#options, writer: 'thread' }),
      this.#foldOptions(),
    );
    this.#fold.keepQuarantined(broken);
    this.#fold.apply(sealed, new Set());
    this.#observer.epochStarted(sealed.entry.epoch, payload.reason);
    this.#hub?.epochChanged();
    this.#tell();
  }

  /** Commits run beside the fold; it waits only when they cannot keep up. */
  async #commitWhenDue(): Promise<void> {
    const { stagedRows, committing } = this.#fold.store;
    if (this.#diskRefuses || stagedRows >= MAX_STAGED_ROWS) await this.#lastCommit;
    else if (stagedRows >= COMMIT_ROWS && !committing) this.#lastCommit = this.#commit();
    else if (stagedRows > 0) {
      this.#commitTimer ??= this.#clock.after(this.#options.commitEveryMs, () => {
        this.#commitTimer = null;
        const idle = !this.#stopping && !this.#fold.store.committing && !this.#diskRefuses;
        if (idle) this.#lastCommit = this.#commit();
      });
    }
  }

  /** While the disk refuses, folding waits and what is staged stays staged. */
  async #commit(): Promise<void> {
    await this.#untilDiskTakes(
      async () => {
        const startMs = this.#clock.monotonicMs();
        const rows = await this.#fold.store.commit();
        this.#observer.committed(rows, (this.#clock.monotonicMs() - startMs) / 1000);
      },
      () => true,
    );
  }

  /** Tries `work` while what it throws is worth a retry; null when we stop before it is done. */
  async #untilDiskTakes<T>(
    work: () => Promise<T>,
    retries: (error: unknown) => boolean,
  ): Promise<T | null> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const result = await work();
        this.#diskRefuses = false;
        return result;
      } catch (error) {
        if (!retries(error)) throw error;
        this.#diskRefuses = true;
        const retryInMs = Math.min(MAX_RETRY_MS, 50 * 2 ** Math.min(attempt, 10));
        this.#observer.commitFailed(error, attempt, retryInMs);
        if (this.#stopping) return null;
        await sleep(this.#clock, retryInMs);
        if (this.#stopping) return null;
      }
    }
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

function needsOtherBase(sealed: SealedEntry, appliedSeq: number): boolean {
  const { payload } = sealed.entry;
  return payload.kind === 'epoch' && payload.base !== undefined && payload.base.seq !== appliedSeq;
}

/** SQLite or the file system said no (full, failing, gone): a matter of the disk, not of ours. */
function isRefusal(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^(SQLITE_|WRITER_|E[A-Z]+$)/.test(code);
}
