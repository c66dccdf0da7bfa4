/**
 * A loop that runs in the background until it is stopped. The loop is an async function that checks
 * `pause` or `isStopping`; the task starts the loop once, wakes it, stops it and waits for its end.
 *
 * Assumes: the loop returns soon after `signal` is aborted; `stop` waits for that.
 * Never:   loses a `wake`. A `wake` that comes while the loop is busy ends its next `untilWoken`.
 * An error of the loop goes to `failed`. An error after `stop` is dropped: it is most often an
 * aborted wait.
 */
import { assert } from './assert.ts';
import { type Clock, pause } from './clock.ts';

interface TaskOptions {
  readonly clock: Pick<Clock, 'after'>;
  /**
   * The loop threw, and has ended. Absent: `ended` and `stop` reject, so where they are not awaited
   * the process ends with an unhandled rejection.
   */
  failed?(error: unknown): void;
  /** Stops the loop like `stop` does. */
  readonly signal?: AbortSignal;
}

export class Task {
  readonly #options: TaskOptions;
  readonly #stop = new AbortController();
  readonly #sleepers = new Set<() => void>();
  #isStarted = false;
  #isWoken = false;
  #ended: Promise<void> = Promise.resolve();
  readonly #abort = (): void => {
    this.#options.signal?.removeEventListener('abort', this.#abort);
    this.#stop.abort();
    for (const resume of this.#sleepers) resume();
  };

  constructor(options: TaskOptions) {
    this.#options = options;
    const { signal } = options;
    if (signal?.aborted === true) this.#abort();
    else signal?.addEventListener('abort', this.#abort, { once: true });
  }

  /** Aborted by `stop`. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get isStopping(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Resolves when the loop has ended, for whatever reason; at once where it never started. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** Once; after `stop` it does nothing. */
  start(loop: () => Promise<void>): void {
    assert(!this.#isStarted, 'a task is started once');
    this.#isStarted = true;
    if (!this.isStopping) this.#ended = this.#run(loop);
  }

  /** Ends every wait of the loop; resolves when it has ended. Not to be awaited inside the loop. */
  stop(): Promise<void> {
    this.#abort();
    return this.#ended;
  }

  /** Ends `untilWoken`: the one in force, or else the next one. */
  wake(): void {
    this.#isWoken = true;
    for (const resume of this.#sleepers) resume();
  }

  /** Waits so long, or until `stop`. False: the loop should end. */
  async pause(delayMs: number): Promise<boolean> {
    await pause(this.#options.clock, delayMs, this.signal);
    return !this.isStopping;
  }

  /** Waits for `wake` or `stop`, at most so long. False: the loop should end. */
  async untilWoken(maxMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    if (!this.#isWoken && !this.isStopping) await this.#sleep(maxMs);
    this.#isWoken = false;
    return !this.isStopping;
  }

  async #sleep(maxMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const isTimed = maxMs !== Number.POSITIVE_INFINITY;
    const timer = isTimed ? this.#options.clock.after(maxMs, resolve) : null;
    this.#sleepers.add(resolve);
    await promise;
    this.#sleepers.delete(resolve);
    timer?.cancel();
  }

  async #run(loop: () => Promise<void>): Promise<void> {
    const { failed } = this.#options;
    try {
      await loop();
    } catch (error) {
      if (this.isStopping) return;
      if (failed === undefined) throw error;
      failed(error);
    }
  }
}
