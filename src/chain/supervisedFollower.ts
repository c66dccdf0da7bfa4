/**
 * Keeps a follower of a real chain alive: it begins behind the doors, not before them, and whatever
 * ends it (a node of another fork, a fault), it is begun again after a pause, from the fold.
 */
import { type Clock, pause } from '../engine/runtime/clock.ts';
import type { Service } from '../engine/runtime/service.ts';
import type { SyncMeter, SyncProgress } from './syncMeter.ts';

export interface FollowingTask {
  /** Resolves or rejects when it likes. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface SupervisedFollowerDeps {
  /** `ended` is called when it cannot go on. */
  readonly make: (ended: (error: unknown) => void) => FollowingTask;
  readonly meter: SyncMeter;
  readonly clock: Clock;
}

export interface SupervisedFollowerObserver {
  followingInterrupted(error: unknown, retryInMs: number): void;
  syncProgress(progress: SyncProgress): void;
  syncFinished(progress: SyncProgress): void;
}

const FIRST_RETRY_MS = 1_000;
const MOST_RETRY_MS = 60_000;
const SAMPLE_MS = 1_000;
/** Samples from one line in the log to the next, while it catches up. */
const TOLD_EVERY = 5;

export class SupervisedFollower implements Service {
  readonly name = 'follower';
  readonly #deps: SupervisedFollowerDeps;
  readonly #observer: SupervisedFollowerObserver;
  readonly #stopping = new AbortController();
  #work: Promise<unknown> = Promise.resolve();
  #isInterrupted = false;

  constructor(deps: SupervisedFollowerDeps, observer: SupervisedFollowerObserver) {
    this.#deps = deps;
    this.#observer = observer;
  }

  /** It ended, and was not begun again yet. */
  get isInterrupted(): boolean {
    return this.#isInterrupted;
  }

  start(): void {
    this.#work = Promise.all([this.#keep(), this.#measure()]);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#work;
  }

  async #keep(): Promise<void> {
    const { make, clock } = this.#deps;
    const { signal } = this.#stopping;
    const stopped = new Promise<null>((resolve) => {
      signal.addEventListener('abort', () => resolve(null), { once: true });
    });
    for (let retryInMs = FIRST_RETRY_MS; !signal.aborted; ) {
      const ended = Promise.withResolvers<unknown>();
      const follower = make(ended.resolve);
      const startMs = clock.monotonicMs();
      follower.start().catch(ended.resolve);
      this.#isInterrupted = false;
      const error = await Promise.race([ended.promise, stopped]);
      await follower.stop();
      if (signal.aborted) return;
      this.#isInterrupted = true;
      if (clock.monotonicMs() - startMs > MOST_RETRY_MS) retryInMs = FIRST_RETRY_MS;
      this.#observer.followingInterrupted(error, retryInMs);
      await pause(clock, retryInMs, signal);
      retryInMs = Math.min(MOST_RETRY_MS, 2 * retryInMs);
    }
  }

  async #measure(): Promise<void> {
    const { meter, clock } = this.#deps;
    const { signal } = this.#stopping;
    let isTold = false;
    for (let count = 0; !signal.aborted; count += 1) {
      meter.sample();
      if (meter.isSynced && !isTold) this.#observer.syncFinished(meter.progress());
      else if (!meter.isSynced && count % TOLD_EVERY === 0) {
        this.#observer.syncProgress(meter.progress());
      }
      isTold = meter.isSynced;
      await pause(clock, SAMPLE_MS, signal);
    }
  }
}
