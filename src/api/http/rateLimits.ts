/**
 * Token buckets per address and rate class. Their number is bounded: beyond it the least recently
 * seen address is forgotten and gets a full bucket, which favours the client. An API key has its
 * own buckets, for as long as its limits stay the same.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { type Quota, TokenBucket } from '../../engine/runtime/tokenBucket.ts';
import type { Caller } from '../gateway/address.ts';
import type { ApiKey } from '../gateway/apiKeys.ts';
import type { GatewayOptions } from '../gateway/options.ts';
import type { RateClass } from '../gateway/port.ts';

/**
 * Bytes of frames that one read pays for: a client's frames, and the first frames of each of its
 * subscriptions.
 */
export const FRAME_BYTES_A_READ = 32_768;
/**
 * The same for the bytes of an answer. More, because a request that its caller cannot pay for is
 * refused, whereas a subscription waits.
 */
export const ANSWER_BYTES_A_READ = 262_144;

export interface Allowance {
  readonly granted: boolean;
  /** Name of the limit in `RateLimit-Policy`. */
  readonly policy: string;
  /** RateLimit and RateLimit-* header lines, each starting with CRLF. */
  readonly lines: string;
  readonly retryAfterSeconds: number;
  /** Gives all tokens back, once; null if the tokens stay spent with any answer. */
  readonly refund: (() => void) | null;
  /**
   * Takes this many more tokens for a request that was granted and turned out to be large. They may
   * be more than there are: then the next request waits until they are earned.
   */
  charge(more: number): Allowance;
}

export function rateLimited({ retryAfterSeconds }: Allowance): Failure {
  const message = `too many requests: try again in ${retryAfterSeconds} s`;
  return new Failure('RATE_LIMITED', message, { retryAfterSeconds });
}

/** The rest of the limit of one rate class. */
interface ClassState {
  /** Requests that fit into the full bucket. */
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until it is full again. */
  readonly reset: number;
}

/** `refusals`: builds that did not answer 200; a caller may have as many of them as reads. */
type Limiters = Readonly<Record<RateClass | 'refusals', RateLimiter>>;

export class RateLimits {
  readonly #clock: Clock;
  readonly #limitLoopback: boolean;
  readonly #ofAddresses: Limiters;
  readonly #ofKeys = new WeakMap<ApiKey, Limiters>();

  constructor(clock: Clock, options: GatewayOptions) {
    this.#clock = clock;
    this.#limitLoopback = options.limitLoopback;
    const { reads: read, builds: build, launches: launch, maxAddresses } = options;
    this.#ofAddresses = limitersOf({ read, build, launch }, maxAddresses);
  }

  /** The caller's present state by class; takes nothing. */
  state(caller: Caller): Readonly<Record<'read' | 'build' | 'launch', ClassState>> {
    const nowMs = this.#clock.monotonicMs();
    const { read, build, launch } = this.#limitersFor(caller);
    const of = (limiter: RateLimiter) =>
      this.isExempt(caller)
        ? limiter.full
        : limiter.state(limiter.bucket(caller.key, nowMs).tokens(nowMs));
    return { read: of(read), build: of(build), launch: of(launch) };
  }

  isExempt({ loopback }: Caller): boolean {
    return loopback && !this.#limitLoopback;
  }

  takeToken(rate: RateClass, caller: Caller): Allowance {
    const limiters = this.#limitersFor(caller);
    if (this.isExempt(caller)) return limiters[rate].exempt;
    const nowMs = this.#clock.monotonicMs();
    const refusals = rate === 'build' ? limiters.refusals.bucket(caller.key, nowMs) : null;
    const isPastRefusals = refusals !== null && refusals.tokens(nowMs) < 1;
    const limiter = isPastRefusals ? limiters.refusals : limiters[rate];
    const bucket = limiter.bucket(caller.key, nowMs);
    const isGranted = rate === 'free' || bucket.take(nowMs);
    // A build counts only when it answers 200; until then its tokens are reserved.
    const isReserved = rate === 'build' && isGranted;
    let isGivenBack = false;
    const giveBack = (taken: number) => {
      if (isGivenBack) return;
      bucket.giveBack(taken);
      refusals?.charge(1);
      isGivenBack = true;
    };
    const allowed = (taken: number): Allowance => ({
      ...limiter.allowance(bucket.tokens(nowMs), isGranted),
      refund: isReserved ? () => giveBack(taken) : null,
      charge(more) {
        bucket.charge(more);
        return allowed(taken + more);
      },
    });
    return allowed(1);
  }

  /** How long a caller has to wait for its next token; 0: not at all. */
  waitMs(rate: RateClass, caller: Caller): number {
    if (this.isExempt(caller)) return 0;
    const nowMs = this.#clock.monotonicMs();
    const limiter = this.#limitersFor(caller)[rate];
    return limiter.waitMs(limiter.bucket(caller.key, nowMs).tokens(nowMs));
  }

  /** Whether a caller owes more than a full bucket: nothing more is done for it until then. */
  isOverdrawn(caller: Caller): boolean {
    if (this.isExempt(caller)) return false;
    const { read } = this.#limitersFor(caller);
    const nowMs = this.#clock.monotonicMs();
    return read.bucket(caller.key, nowMs).tokens(nowMs) < -read.full.limit;
  }

  /** Takes tokens for a granted request that turned out to cost more. */
  charge(rate: RateClass, caller: Caller, tokens: number): void {
    if (this.isExempt(caller)) return;
    const limiter = this.#limitersFor(caller)[rate];
    limiter.bucket(caller.key, this.#clock.monotonicMs()).charge(tokens);
  }

  #limitersFor({ apiKey }: Caller): Limiters {
    if (apiKey === null) return this.#ofAddresses;
    let limiters = this.#ofKeys.get(apiKey);
    if (limiters === undefined) {
      limiters = limitersOf(apiKey.limits, 1);
      this.#ofKeys.set(apiKey, limiters);
    }
    return limiters;
  }
}

function limitersOf(
  { read, build, launch }: Pick<ApiKey['limits'], 'read' | 'build' | 'launch'>,
  maxCallers: number,
): Limiters {
  const reads = new RateLimiter('read', read, maxCallers);
  return {
    read: reads,
    build: new RateLimiter('build', build, maxCallers),
    launch: new RateLimiter('launch', launch, maxCallers),
    refusals: new RateLimiter('build', read, maxCallers),
    free: reads,
  };
}

class RateLimiter {
  /** For exempt callers: the full quota. */
  readonly exempt: Allowance;
  readonly #policy: string;
  readonly #quota: Quota;
  /** `RateLimit-Policy`: the window is the time in which an empty bucket fills. */
  readonly #policyLine: string;
  readonly #buckets: LRUCache<string, TokenBucket>;

  constructor(policy: string, quota: Quota, maxCallers: number) {
    this.#policy = policy;
    this.#quota = quota;
    const windowSeconds = Math.max(1, Math.ceil(quota.burst / quota.perSecond));
    this.#policyLine = `\r\nRateLimit-Policy: "${policy}";q=${quota.burst};w=${windowSeconds}`;
    // Not `max`, for which the cache takes the room of all entries at once.
    this.#buckets = new LRUCache({ maxSize: maxCallers, sizeCalculation: () => 1 });
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
  ): Pick<Allowance, 'granted' | 'policy' | 'lines' | 'retryAfterSeconds'> {
    const { limit, remaining, reset } = this.state(tokens);
    const policy = this.#policy;
    const missing = tokens >= limit ? 0 : remaining + 1 - tokens;
    const nextTokenSeconds = Math.ceil(missing / this.#quota.perSecond);
    const lines =
      `\r\nRateLimit: "${policy}";r=${remaining};t=${nextTokenSeconds}${this.#policyLine}` +
      `\r\nRateLimit-Limit: ${limit}\r\nRateLimit-Remaining: ${remaining}` +
      `\r\nRateLimit-Reset: ${reset}`;
    const retryAfterSeconds = Math.max(1, Math.ceil((1 - tokens) / this.#quota.perSecond));
    return { granted, policy, lines, retryAfterSeconds };
  }

  waitMs(tokens: number): number {
    return tokens >= 1 ? 0 : Math.ceil(((1 - tokens) / this.#quota.perSecond) * 1000);
  }

  get full(): ClassState {
    return this.state(this.#quota.burst);
  }

  state(tokens: number): ClassState {
    const { burst, perSecond } = this.#quota;
    const remaining = Math.max(0, Math.floor(tokens));
    return { limit: burst, remaining, reset: Math.ceil((burst - tokens) / perSecond) };
  }
}
