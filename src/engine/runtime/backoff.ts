/** Exponential back-off: how long to wait before the next try. Browsers load this too. */

export interface BackoffLimits {
  /** Before the first retry. */
  readonly firstMs: number;
  readonly maxMs: number;
}

/** As much of an `Rng` as jitter needs. */
interface Jitter {
  /** A float in [0, 1). */
  unit(): number;
}

const MAX_DOUBLINGS = 30;

/**
 * `firstMs`, doubled for each of `failures` retries that failed before, at most `maxMs`. With
 * `jitter`, a random value between half and the whole of that, so that clients of one server do not
 * retry together.
 */
export function backoffMs(failures: number, limits: BackoffLimits, jitter?: Jitter): number {
  const { firstMs, maxMs } = limits;
  const wholeMs = Math.min(maxMs, firstMs * 2 ** Math.min(failures, MAX_DOUBLINGS));
  return jitter === undefined ? wholeMs : wholeMs * (0.5 + jitter.unit() / 2);
}

/** Counts the failures of one thing that is retried. */
export class Backoff {
  readonly #limits: BackoffLimits;
  readonly #jitter: Jitter | undefined;
  #failures = 0;

  constructor(limits: BackoffLimits, jitter?: Jitter) {
    this.#limits = limits;
    this.#jitter = jitter;
  }

  /** After one more failure: how long to wait. */
  nextMs(): number {
    const waitMs = backoffMs(this.#failures, this.#limits, this.#jitter);
    this.#failures += 1;
    return waitMs;
  }

  /** It succeeded. */
  reset(): void {
    this.#failures = 0;
  }
}
