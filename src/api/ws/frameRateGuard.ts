/** Counts the frames and bad frames of one socket and says when to warn or close it. */
import type { Clock } from '../../engine/runtime/clock.ts';
import { TokenBucket } from '../../engine/runtime/tokenBucket.ts';
import type { GatewayOptions } from '../gateway/options.ts';

type Verdict = 'fine' | 'warn' | 'ignore' | 'close';

export class FrameRateGuard {
  readonly #clock: Clock;
  readonly #options: GatewayOptions;
  readonly #frames: TokenBucket;
  #refused = 0;
  readonly #badAtMs: number[] = [];

  constructor(clock: Clock, options: GatewayOptions) {
    this.#clock = clock;
    this.#options = options;
    const { framesPerSecond } = options;
    const quota = { perSecond: framesPerSecond, burst: framesPerSecond };
    this.#frames = new TokenBucket(quota, clock.monotonicMs());
  }

  /**
   * Counts a frame. Too many, or its caller is overdrawn: one warning, then close after as many
   * frames as are allowed in a second.
   */
  frame(isOverdrawn = false): Verdict {
    const { framesPerSecond } = this.#options;
    const nowMs = this.#clock.monotonicMs();
    if (this.#frames.tokens(nowMs) >= framesPerSecond / 2) this.#refused = 0;
    if (this.#frames.take(nowMs) && !isOverdrawn) return 'fine';
    this.#refused += 1;
    if (this.#refused > framesPerSecond) return 'close';
    return this.#refused === 1 ? 'warn' : 'ignore';
  }

  /** Counts a bad frame; closes at the last one allowed within the window. */
  badFrame(): Verdict {
    const { badFrameLimit, badFrameWindowMs } = this.#options;
    const nowMs = this.#clock.monotonicMs();
    this.#badAtMs.push(nowMs);
    if (this.#badAtMs.length > badFrameLimit) this.#badAtMs.shift();
    const first = this.#badAtMs[0] ?? nowMs;
    const full = this.#badAtMs.length === badFrameLimit;
    return full && nowMs - first <= badFrameWindowMs ? 'close' : 'warn';
  }
}
