/** A token bucket: an action takes one token; tokens come back at a steady rate, up to a burst. */

export interface Quota {
  readonly perSecond: number;
  /** Tokens of a full bucket. */
  readonly burst: number;
}

/** Full at first. Times are of a monotonic clock. */
export class TokenBucket {
  readonly #quota: Quota;
  #tokens: number;
  #atMs: number;

  constructor(quota: Quota, nowMs: number) {
    this.#quota = quota;
    this.#tokens = quota.burst;
    this.#atMs = nowMs;
  }

  /** How many there are, with a fraction; below 0 while `charge` is being paid back. */
  tokens(nowMs: number): number {
    const { perSecond, burst } = this.#quota;
    const earned = ((nowMs - this.#atMs) / 1000) * perSecond;
    this.#tokens = Math.min(burst, this.#tokens + earned);
    this.#atMs = nowMs;
    return this.#tokens;
  }

  /** False: there is none. */
  take(nowMs: number): boolean {
    if (this.tokens(nowMs) < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /**
   * Takes this many more tokens for an action that was granted: later ones wait until they are
   * earned.
   */
  charge(tokens: number): void {
    this.#tokens -= tokens;
  }

  /** The action did not happen: its tokens come back. */
  giveBack(tokens = 1): void {
    this.#tokens = Math.min(this.#quota.burst, this.#tokens + tokens);
  }
}
