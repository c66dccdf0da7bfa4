/**
 * Commits staged rows after the fold: after a delay, or when there are many, and not more than half
 * of the time, because what changes often is written once a commit. While the disk refuses writes,
 * the fold waits and the rows stay staged.
 */

import { isFault } from '../runtime/assert.ts';
import { backoffMs } from '../runtime/backoff.ts';
import { type Clock, pause, type Timer } from '../runtime/clock.ts';
import { messageOf, systemCode } from '../runtime/errors.ts';
import type { StateStore } from '../store/state.ts';

export interface CommitObserver {
  committed(rows: number, seconds: number): void;
  commitFailed(error: unknown, attempt: number, retryInMs: number): void;
}

/** Staged rows that begin a commit, and those at which folding waits for the one before it. */
const COMMIT_ROWS = 4_000;
const MAX_STAGED_ROWS = 64_000;
/** So that a disk that was slow once does not leave rows in memory for long. */
const MAX_REST_MS = 1_000;
const RETRY = { firstMs: 100, maxMs: 5_000 };
/** One refusal may be a lock that is gone a moment later. */
const REFUSALS_BEFORE_REPORT = 2;

export class Committer {
  readonly #clock: Clock;
  readonly #observer: CommitObserver;
  readonly #everyMs: number;
  /** The one in force. */
  readonly #store: () => StateStore;
  #timer: Timer | null = null;
  #last: Promise<void> = Promise.resolve();
  /** No commit begins before this, unless the fold waits for it. */
  #restUntilMs = 0;
  #diskRefuses = false;
  #refusal: string | null = null;
  readonly #stop = new AbortController();

  constructor(clock: Clock, observer: CommitObserver, everyMs: number, store: () => StateStore) {
    this.#clock = clock;
    this.#observer = observer;
    this.#everyMs = everyMs;
    this.#store = store;
  }

  /** The last error of the disk while commits fail; null: commits succeed. */
  get refusal(): string | null {
    return this.#refusal;
  }

  /** Commits run beside the fold; it waits only when they cannot keep up. */
  async commitWhenDue(): Promise<void> {
    const { pendingRows, committing } = this.#store();
    if (this.#diskRefuses || pendingRows >= MAX_STAGED_ROWS) {
      if (committing || this.#diskRefuses) await this.#last;
      else this.#last = this.commitNow();
    } else if (pendingRows >= COMMIT_ROWS && this.#isIdle) this.#last = this.commitNow();
    else if (pendingRows > 0) this.#commitLater();
  }

  #commitLater(): void {
    const restMs = this.#restUntilMs - this.#clock.monotonicMs();
    this.#timer ??= this.#clock.after(Math.max(this.#everyMs, restMs), () => {
      this.#timer = null;
      if (this.#stop.signal.aborted || this.#diskRefuses) return;
      if (this.#isIdle) this.#last = this.commitNow();
      else this.#commitLater();
    });
  }

  get #isIdle(): boolean {
    return !this.#store().committing && this.#clock.monotonicMs() >= this.#restUntilMs;
  }

  async commitNow(): Promise<void> {
    await this.retryWhileRefused(
      async () => {
        const startMs = this.#clock.monotonicMs();
        const rows = await this.#store().commit();
        const endMs = this.#clock.monotonicMs();
        this.#restUntilMs = endMs + Math.min(endMs - startMs, MAX_REST_MS);
        this.#observer.committed(rows, (endMs - startMs) / 1000);
      },
      () => true,
    );
  }

  /** Resolves when no commit is under way and none comes by itself. */
  async idle(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    await this.#last;
  }

  /** Retries end. */
  stop(): void {
    this.#stop.abort();
  }

  /** Tries `work` while its errors are worth a retry; null when we stop before it is done. */
  async retryWhileRefused<T>(
    work: () => Promise<T>,
    retries: (error: unknown) => boolean,
  ): Promise<T | null> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const result = await work();
        this.#diskRefuses = false;
        this.#refusal = null;
        return result;
      } catch (error) {
        if (!retries(error)) throw error;
        this.#diskRefuses = true;
        if (attempt >= REFUSALS_BEFORE_REPORT) this.#refusal = messageOf(error);
        const retryInMs = backoffMs(attempt - 1, RETRY);
        this.#observer.commitFailed(error, attempt, retryInMs);
        await pause(this.#clock, retryInMs, this.#stop.signal);
        if (this.#stop.signal.aborted) return null;
      }
    }
  }
}

/** SQLite or the file system failed (full, failing, gone): a fault of the disk, not of the code. */
export function isRefusal(error: unknown): boolean {
  const code = systemCode(error) ?? '';
  return isFault(error, 'threadEnded') || /^(SQLITE_|E[A-Z]+$)/.test(code);
}
