/**
 * Token buckets per address and rate class. What is kept is bounded: when more addresses come than
 * fit, the one not seen for longest starts afresh, which errs on the side of the client.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { Caller } from '../gateway/address.ts';
import type { GatewayOptions, Quota } from '../gateway/options.ts';
import type { RateClass } from '../gateway/port.ts';

export interface Allowance {
  readonly granted: boolean;
  /** RateLimit-* header lines, each starting with CRLF. */
  readonly lines: string;
  readonly retryAfterSeconds: number;
  /** Gives the token back; null where it stays spent whatever the answer is. */
  readonly refund: (() => void) | null;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

export class Limits {
  readonly #clock: Clock;
  readonly #limitLoopback: boolean;
  readonly #classes: Readonly<Record<RateClass, RateLimiter>>;

  constructor(clock: Clock, options: GatewayOptions) {
    this.#clock = clock;
    this.#limitLoopback = options.limitLoopback;
    const reads = new RateLimiter(options.reads, options.maxAddresses);
    this.#classes = {
      read: reads,
      build: new RateLimiter(options.builds, options.maxAddresses),
      launch: new RateLimiter(options.launches, options.maxAddresses),
      free: reads,
    };
  }

  take(rate: RateClass, caller: Caller): Allowance {
    const limiter = this.#classes[rate];
    if (caller.loopback && !this.#limitLoopback) return limiter.untouched;
    const bucket = limiter.bucket(caller.key, this.#clock.monotonicMs());
    if (rate === 'free') return limiter.allowance(bucket, true, null);
    if (bucket.tokens < 1) return limiter.allowance(bucket, false, null);
    bucket.tokens -= 1;
    // A build counts only when it answers 200; until then its token is reserved.
    const refund = rate === 'build' ? () => limiter.giveBack(bucket) : null;
    return limiter.allowance(bucket, true, refund);
  }
}

class RateLimiter {
  /** For those who are exempt: the quota, as if nothing had been taken. */
  readonly untouched: Allowance;
  readonly #quota: Quota;
  readonly #buckets: LRUCache<string, Bucket>;

  constructor(quota: Quota, maxAddresses: number) {
    this.#quota = quota;
    this.#buckets = new LRUCache({ max: maxAddresses });
    this.untouched = this.allowance({ tokens: quota.burst, atMs: 0 }, true, null);
  }

  bucket(key: string, nowMs: number): Bucket {
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      bucket = { tokens: this.#quota.burst, atMs: nowMs };
      this.#buckets.set(key, bucket);
    }
    const earned = ((nowMs - bucket.atMs) / 1000) * this.#quota.perSecond;
    bucket.tokens = Math.min(this.#quota.burst, bucket.tokens + earned);
    bucket.atMs = nowMs;
    return bucket;
  }

  giveBack(bucket: Bucket): void {
    bucket.tokens = Math.min(this.#quota.burst, bucket.tokens + 1);
  }

  allowance(bucket: Bucket, granted: boolean, refund: (() => void) | null): Allowance {
    const { burst, perSecond } = this.#quota;
    const reset = Math.ceil((burst - bucket.tokens) / perSecond);
    const lines =
      `\r\nRateLimit-Limit: ${burst}\r\nRateLimit-Remaining: ${Math.floor(bucket.tokens)}` +
      `\r\nRateLimit-Reset: ${reset}`;
    const retryAfterSeconds = Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond));
    return { granted, lines, retryAfterSeconds, refund };
  }
}
