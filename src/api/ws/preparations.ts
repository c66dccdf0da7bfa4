/**
 * Subscriptions whose source has much to do before it can answer, such as a list of all tokens that
 * no client asked for before. They wait, each in its turn, and the work is done in slices, so that
 * it holds nothing else up.
 */
import type { Clock } from '../../engine/runtime/clock.ts';
import { sliceOf } from '../../engine/runtime/slices.ts';
import type { Waiting } from '../gateway/positionWaiters.ts';
import type { Source } from '../topics/port.ts';

interface Preparation {
  readonly source: Source;
  readonly untilMs: number;
  readonly done: () => void;
}

/** So long a subscription may take in the turn in which it is asked for. */
const AT_ONCE_MS = 1;
/** Then it is answered at once: more changes than can be prepared for. */
const LONGEST_MS = 10_000;

export class Preparations {
  readonly #clock: Clock;
  readonly #waiting = new Set<Preparation>();
  #isDue = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether a source can answer in this turn. If not: `wait`. */
  isReady(source: Source): boolean {
    if (source.prepare === undefined) return true;
    return this.#waiting.size === 0 && isPrepared(source, sliceOf(this.#clock, AT_ONCE_MS));
  }

  /** Calls `done` in a later turn, when the source can answer, or cannot be prepared. */
  wait(source: Source, done: () => void): Waiting {
    const untilMs = this.#clock.monotonicMs() + LONGEST_MS;
    const preparation = { source, untilMs, done };
    this.#waiting.add(preparation);
    this.#continue();
    return { cancel: () => this.#waiting.delete(preparation) };
  }

  #continue(): void {
    if (this.#isDue || this.#waiting.size === 0) return;
    this.#isDue = true;
    this.#clock.soon(() => {
      this.#isDue = false;
      this.#step();
      this.#continue();
    });
  }

  #step(): void {
    const isOver = sliceOf(this.#clock);
    for (const preparation of this.#waiting) {
      const { source, untilMs, done } = preparation;
      if (!isPrepared(source, isOver) && this.#clock.monotonicMs() < untilMs) return;
      this.#waiting.delete(preparation);
      done();
      if (isOver()) return;
    }
  }
}

/** A source that fails counts as prepared: its answer is the error. */
function isPrepared(source: Source, isOver: () => boolean): boolean {
  try {
    return source.prepare?.(isOver) ?? true;
  } catch {
    return true;
  }
}
