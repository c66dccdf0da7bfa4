/**
 * Token buckets per address and rate class. Their number is bounded: beyond it the least recently
 * seen address is forgotten and gets a full bucket, which favours the client.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../engine/runtime/clock.ts';
import { type Quota, TokenBucket } from '../../engine/runtime/tokenBucket.ts';
import type { Caller } from '../gateway/address.ts';
import type { GatewayOptions } from '../gateway/options.ts';
import type { RateClass } from '../gateway/port.ts';

export interface Allowance {
  readonly granted: boolean;
  /** RateLimit-* header lines, each starting with CRLF. */
  readonly lines: string;
  readonly retryAfterSeconds: number;
  /** Gives the token back; null where it stays spent whatever the answer is. */
  readonly refund: (() => void) | null;
}

export class RateLimits {
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

  takeToken(rate: RateClass, caller: Caller): Allowance {
    const limiter = this.#classes[rate];
    if (caller.loopback && !this.#limitLoopback) return limiter.exempt;
    const nowMs = this.#clock.monotonicMs();
    const bucket = limiter.bucket(caller.key, nowMs);
    const isGranted = rate === 'free' || bucket.take(nowMs);
    // A build counts only when it answers 200; until then its token is reserved.
    const refund = rate === 'build' && isGranted ? () => bucket.giveBack() : null;
    return limiter.allowance(bucket.tokens(nowMs), isGranted, refund);
  }
}

class RateLimiter {
  /** For exempt callers: the full quota. */
  readonly exempt: Allowance;
  readonly #quota: Quota;
  readonly #buckets: LRUCache<string, TokenBucket>;

  constructor(quota: Quota, maxAddresses: number) {
    this.#quota = quota;
    this.#buckets = new LRUCache({ max: maxAddresses });
    this.exempt = this.allowance(quota.burst, true, null);
  }

  bucket(key: string, nowMs: number): TokenBucket {
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      bucket = new TokenBucket(this.#quota, nowMs);
      this.#buckets.set(key, bucket);
    }
    return bucket;
  }

  allowance(tokens: number, granted: boolean, refund: (() => void) | null): Allowance {
    const { burst, perSecond } = this.#quota;
    const reset = Math.ceil((burst - tokens) / perSecond);
    const lines =
      `\r\nRateLimit-Limit: ${burst}\r\nRateLimit-Remaining: ${Math.floor(tokens)}` +
      `\r\nRateLimit-Reset: ${reset}`;
    const retryAfterSeconds = Math.max(1, Math.ceil((1 - tokens) / perSecond));
    return { granted, lines, retryAfterSeconds, refund };
  }
}
