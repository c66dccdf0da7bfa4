/**
 * Runs a follower and restarts it with back-off, from the last applied block, whenever it ends (a
 * node of another fork, a fault). Does not delay start-up.
 */

import { unlessAborted } from '../engine/runtime/abort.ts';
import { Backoff } from '../engine/runtime/backoff.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import { messageOf } from '../engine/runtime/errors.ts';
import type { Service } from '../engine/runtime/service.ts';
import { Task } from '../engine/runtime/task.ts';
import type { SyncMeter, SyncProgress } from './syncMeter.ts';

export interface FollowingTask {
  /** May stay pending for as long as the follower runs. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface SupervisedFollowerDeps {
  /** Makes the next follower, which calls `ended` when it cannot continue. */
  readonly make: (ended: (error: unknown) => void) => FollowingTask;
  readonly meter: SyncMeter;
  readonly clock: Clock;
}

interface SupervisedFollowerObserver {
  followingInterrupted(error: unknown, retryInMs: number): void;
  syncProgress(progress: SyncProgress): void;
  syncFinished(progress: SyncProgress): void;
}

const RETRY = { firstMs: 1_000, maxMs: 60_000 };
const SAMPLE_MS = 1_000;
/** Once it has caught up, only the speed is of interest. */
const SYNCED_SAMPLE_MS = 10_000;
/** Samples between two progress reports, while it catches up. */
const REPORT_EVERY = 5;

export class SupervisedFollower implements Service {
  readonly name = 'follower';
  readonly #deps: SupervisedFollowerDeps;
  readonly #observer: SupervisedFollowerObserver;
  readonly #supervising: Task;
  readonly #measuring: Task;
  #interruption: string | null = null;

  constructor(deps: SupervisedFollowerDeps, observer: SupervisedFollowerObserver) {
    this.#deps = deps;
    this.#observer = observer;
    this.#supervising = new Task(deps);
    this.#measuring = new Task(deps);
  }

  /** Why the follower ended, until it is restarted; null: it runs. */
  get interruption(): string | null {
    return this.#interruption;
  }

  start(): void {
    this.#supervising.start(() => this.#supervise());
    this.#measuring.start(() => this.#measure());
  }

  async stop(): Promise<void> {
    await Promise.all([this.#supervising.stop(), this.#measuring.stop()]);
  }

  async #supervise(): Promise<void> {
    const { make, clock } = this.#deps;
    const task = this.#supervising;
    const backoff = new Backoff(RETRY);
    while (!task.isStopping) {
      const ended = Promise.withResolvers<unknown>();
      const follower = make(ended.resolve);
      const startMs = clock.monotonicMs();
      follower.start().catch(ended.resolve);
      this.#interruption = null;
      const error = await unlessAborted(ended.promise, task.signal);
      await follower.stop();
      if (task.isStopping) return;
      this.#interruption = messageOf(error);
      if (clock.monotonicMs() - startMs > RETRY.maxMs) backoff.reset();
      const retryInMs = backoff.nextMs();
      this.#observer.followingInterrupted(error, retryInMs);
      await task.pause(retryInMs);
    }
  }

  async #measure(): Promise<void> {
    const { meter } = this.#deps;
    let isReported = false;
    let count = 0;
    do {
      meter.sample();
      if (meter.isSynced && !isReported) this.#observer.syncFinished(meter.progress());
      else if (!meter.isSynced && count % REPORT_EVERY === 0) {
        this.#observer.syncProgress(meter.progress());
      }
      isReported = meter.isSynced;
      count += 1;
    } while (await this.#measuring.pause(isReported ? SYNCED_SAMPLE_MS : SAMPLE_MS));
  }
}
