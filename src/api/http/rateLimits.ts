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
  /** Gives all tokens back; null where they stay spent whatever the answer is. */
  readonly refund: (() => void) | null;
  /**
   * Takes so many more tokens for a request that was granted and turned out to be large. They may
   * be more than there are: then the next request waits until they are earned.
   */
  charge(more: number): Allowance;
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
    // A build counts only when it answers 200; until then its tokens are reserved.
    const isReserved = rate === 'build' && isGranted;
    const allowed = (taken: number): Allowance => ({
      ...limiter.allowance(bucket.tokens(nowMs), isGranted),
      refund: isReserved ? () => bucket.giveBack(taken) : null,
      charge(more) {
        bucket.charge(more);
        return allowed(taken + more);
      },
    });
    return allowed(1);
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
    const exempt: Allowance = {
      ...this.allowance(quota.burst, true),
      refund: null,
      charge: () => exempt,
    };
    this.exempt = exempt;
  }

  bucket(key: string, nowMs: number): TokenBucket {
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      bucket = new TokenBucket(this.#quota, nowMs);
      this.#buckets.set(key, bucket);
    }
    return bucket;
  }

  allowance(
    tokens: number,
    granted: boolean,
  ): Pick<Allowance, 'granted' | 'lines' | 'retryAfterSeconds'> {
    const { burst, perSecond } = this.#quota;
    const reset = Math.ceil((burst - tokens) / perSecond);
    const lines =
      `\r\nRateLimit-Limit: ${burst}\r\nRateLimit-Remaining: ${Math.max(0, Math.floor(tokens))}` +
      `\r\nRateLimit-Reset: ${reset}`;
    const retryAfterSeconds = Math.max(1, Math.ceil((1 - tokens) / perSecond));
    return { granted, lines, retryAfterSeconds };
  }
}
