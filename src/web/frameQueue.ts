/**
 * Jobs for the next frames, in the order in which they were asked for. A job that was requested
 * several times runs once. Jobs that do not fit into a frame run in the next ones: a busy market
 * delays the page by some milliseconds, and never blocks it.
 */
import type { Clock } from '../engine/runtime/clock.ts';

/** Time for jobs in a frame; its styles, layout and painting come on top. */
const BUDGET_MS = 6;

export class FrameQueue {
  readonly #request: (run: () => void) => void;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #queued = new Set<() => void>();
  #isRequested = false;
  #isRunning = false;
  /** Renders components that the running job has changed. */
  #render: (() => void) | null = null;

  /** `request` runs its argument in the next frame. */
  constructor(request: (run: () => void) => void, clock: Pick<Clock, 'monotonicMs'>) {
    this.#request = request;
    this.#clock = clock;
  }

  add(job: () => void): void {
    this.#queued.add(job);
    this.#next();
  }

  cancel(job: () => void): void {
    this.#queued.delete(job);
  }

  /**
   * A change made by a job is rendered right after the job, in the job's time; other changes are
   * rendered at once.
   */
  renderSoon(all: () => void): void {
    if (this.#isRunning) this.#render = all;
    else queueMicrotask(all);
  }

  #next(): void {
    if (this.#isRequested) return;
    this.#isRequested = true;
    this.#request(() => this.#run());
  }

  /**
   * At least one job a frame; if a job is queued again while it runs, it runs again in the next
   * frame.
   */
  #run(): void {
    this.#isRequested = false;
    this.#isRunning = true;
    const endMs = this.#clock.monotonicMs() + BUDGET_MS;
    try {
      for (const job of Array.from(this.#queued)) {
        // A job before it may have cancelled it.
        if (this.#queued.delete(job)) this.#perform(job);
        if (this.#clock.monotonicMs() >= endMs) break;
      }
    } finally {
      this.#isRunning = false;
      if (this.#queued.size > 0) this.#next();
    }
  }

  #perform(job: () => void): void {
    try {
      job();
    } finally {
      const render = this.#render;
      this.#render = null;
      render?.();
    }
  }
}
