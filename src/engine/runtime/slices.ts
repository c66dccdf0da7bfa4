/**
 * The one way in which long work shares the event loop: it is done a few milliseconds at a time.
 * Answers, subscriptions and background work have owners. The owners take turns, so the work of one
 * owner does not delay the work of another.
 */
import type { Clock, Timer } from './clock.ts';

/** Time for all waiting work together in one turn of the event loop. */
const SLICE_MS = 3;
/** Time for all work that is done in the same turn as its request, without waiting. */
const AT_ONCE_MS = 2;

/** Does part of the work and returns when `isOver` answers true. True: the work is complete. */
export type Step = (isOver: () => boolean) => boolean;

/** Answers true once `sliceMs` are over. */
function sliceOf(clock: Clock, sliceMs = SLICE_MS): () => boolean {
  const endMs = clock.monotonicMs() + sliceMs;
  return () => clock.monotonicMs() >= endMs;
}

/** Runs a generator to its end in this turn. */
export function finish<T>(work: Generator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

interface Work {
  readonly step: Step;
  readonly failed: (error: unknown) => void;
  isCancelled: boolean;
}

const ofClocks = new WeakMap<Clock, Slices>();

export class Slices {
  readonly #clock: Clock;
  /** Waiting work by owner. The first owner of the map is served next. */
  readonly #works = new Map<string, Set<Work>>();
  #isArmed = false;
  /** The deadline of `atOnce` in this turn; null: `atOnce` was not called in it. */
  #isOver: (() => boolean) | null = null;

  private constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A process has one clock and one event loop, so it has one instance. */
  static of(clock: Clock): Slices {
    const slices = ofClocks.get(clock) ?? new Slices(clock);
    ofClocks.set(clock, slices);
    return slices;
  }

  /** Number of owners with waiting work. */
  get owners(): number {
    return this.#works.size;
  }

  /**
   * The deadline for work in the turn of its request; null: the work must wait. All requests of a
   * turn share 2 ms, so the later requests of a crowd wait.
   */
  atOnce(owner: string): (() => boolean) | null {
    if (this.#works.has(owner)) return null;
    if (this.#isOver === null) {
      this.#isOver = sliceOf(this.#clock, AT_ONCE_MS);
      this.#clock.soon(() => {
        this.#isOver = null;
      });
      return this.#isOver;
    }
    return this.#isOver() ? null : this.#isOver;
  }

  /** Begins in this turn if it has time left; does the rest in later turns. null: complete. */
  begin(owner: string, step: Step, failed: (error: unknown) => void): Timer | null {
    const isOver = this.atOnce(owner);
    if (isOver !== null && isComplete({ step, failed }, isOver)) return null;
    return this.add(owner, step, failed);
  }

  /** Calls `step` in later turns until it answers true or throws. */
  add(owner: string, step: Step, failed: (error: unknown) => void): Timer {
    const work: Work = { step, failed, isCancelled: false };
    this.#worksOf(owner).add(work);
    this.#arm();
    return { cancel: () => this.#remove(owner, work) };
  }

  /** The same, until `isStopping` at the latest; rejects with what `step` throws. */
  run(owner: string, step: Step, isStopping = () => false): Promise<void> {
    return new Promise((resolve, reject) => {
      const each: Step = (isOver) => {
        const isDone = isStopping() || step(isOver);
        if (isDone) resolve();
        return isDone;
      };
      this.add(owner, each, reject);
    });
  }

  #arm(): void {
    if (this.#isArmed || this.#works.size === 0) return;
    this.#isArmed = true;
    this.#clock.soon(() => {
      this.#isArmed = false;
      this.#turn();
      this.#arm();
    });
  }

  #turn(): void {
    const isOver = sliceOf(this.#clock);
    do {
      const [next] = this.#works;
      if (next === undefined) return;
      const [owner, works] = next;
      const [work] = works;
      // The owner and its work move to the end of their queues.
      this.#works.delete(owner);
      if (work === undefined) continue;
      works.delete(work);
      if (works.size > 0) this.#works.set(owner, works);
      if (!isComplete(work, isOver) && !work.isCancelled) this.#worksOf(owner).add(work);
    } while (!isOver());
  }

  #worksOf(owner: string): Set<Work> {
    const works = this.#works.get(owner) ?? new Set();
    this.#works.set(owner, works);
    return works;
  }

  #remove(owner: string, work: Work): void {
    work.isCancelled = true;
    const works = this.#works.get(owner);
    works?.delete(work);
    if (works?.size === 0) this.#works.delete(owner);
  }
}

/** Work that fails is over, too. */
function isComplete({ step, failed }: Pick<Work, 'step' | 'failed'>, isOver: () => boolean) {
  try {
    return step(isOver);
  } catch (error) {
    failed(error);
    return true;
  }
}
