/**
 * The one way in which long work shares the event loop: it is done a few milliseconds at a time.
 * Answers, subscriptions and work in the background take turns, by owner: one who asks for much
 * waits for what he asked for, and the others do not.
 */
import type { Clock, Timer } from './clock.ts';

/** Of all that waits together, in one turn of the loop. */
const SLICE_MS = 3;
/** Of all that is done at once, in the turn in which it was asked for. */
const AT_ONCE_MS = 2;

/** Does some of a work, until `isOver`; at least a little. True: all of it is done. */
export type Step = (isOver: () => boolean) => boolean;

/** Answers true once `sliceMs` are over. */
export function sliceOf(clock: Clock, sliceMs = SLICE_MS): () => boolean {
  const endMs = clock.monotonicMs() + sliceMs;
  return () => clock.monotonicMs() >= endMs;
}

/** All of `work` at once. */
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
  /** The works of each owner; who comes first is served next. */
  readonly #works = new Map<string, Set<Work>>();
  #isArmed = false;
  /** Set in a turn in which something was done at once. */
  #isOver: (() => boolean) | null = null;

  private constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** One for all that shares an event loop, which is what has one clock. */
  static of(clock: Clock): Slices {
    const slices = ofClocks.get(clock) ?? new Slices(clock);
    ofClocks.set(clock, slices);
    return slices;
  }

  /** Those who have work waiting. */
  get owners(): number {
    return this.#works.size;
  }

  /**
   * Until when work may be done at once; null: it has to wait. What all ask for in one turn counts
   * together, so a crowd waits.
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
      // To the end, of the owners and of the works of this one.
      this.#works.delete(owner);
      if (work === undefined) continue;
      works.delete(work);
      if (works.size > 0) this.#works.set(owner, works);
      if (!this.#isDone(work, isOver) && !work.isCancelled) this.#worksOf(owner).add(work);
    } while (!isOver());
  }

  #isDone({ step, failed }: Work, isOver: () => boolean): boolean {
    try {
      return step(isOver);
    } catch (error) {
      failed(error);
      return true;
    }
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
