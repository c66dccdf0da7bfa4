/**
 * The lease: at most one node believes that it leads, most of the time. For liveness only; what
 * keeps two leaders from writing is the log's sequence and term.
 *
 * The holder renews every third of the lease, and stops believing 0.8 of it after it last asked for
 * a renewal that was granted, by its own monotonic clock: before the server lets another one take
 * it. A process that was frozen asks `held` first, so it knows at once.
 * The server tells nobody that a lease ran out: candidates ask again and again (every lease/5).
 */
import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import type { MarketIdentity } from '../../engine/runtime/marketIdentity.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import type { Bucket } from './bucket.ts';

export interface LeaseHolder {
  readonly node: string;
  /** On which it answers requests. */
  readonly subject: string;
  /** Absent: it is not known yet, or the node is of an older version. */
  readonly market?: MarketIdentity;
}

export interface LeaseOptions extends Omit<LeaseHolder, 'market'> {
  /** null: not known yet. */
  market?(): MarketIdentity | null;
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly rng: Rng;
  /** False: this node must not lead, so it takes no lease. Absent: it may. */
  mayTake?(): boolean;
  /** Once for each time it was taken, unless it was released. Stop leading. */
  lost(why: 'expired' | 'taken by another'): void;
}

export type TakeOutcome = 'taken' | 'refused' | 'unreachable';

interface Term {
  readonly text: string;
  revision: number;
  /** By the monotonic clock. */
  untilMs: number;
}

const KEY = 'leader';
const TRUSTED_PART = 0.8;
const RENEWALS = 3;
const RETRIES = 10;
/** Times that NATS is asked to give the lease up, where it gives no answer. */
const MOST_RELEASES = 3;

/** How long candidates wait between two tries. */
export function candidacyMs(leaseMs: number): number {
  return leaseMs / 5;
}

export class Lease {
  readonly #bucket: Bucket;
  readonly #options: LeaseOptions;
  #term: Term | null = null;
  #timers: Timer[] = [];
  /** What the last try wrote, where its answer was lost: it may be the value that is there. */
  #unanswered: string | null = null;

  /** Values of `bucket` live for the lease. */
  constructor(bucket: Bucket, options: LeaseOptions) {
    this.#bucket = bucket;
    this.#options = options;
  }

  /** Asks the clock, not a timer: true only while nobody else can have it. */
  get held(): boolean {
    const term = this.#term;
    if (term === null) return false;
    if (this.#options.clock.monotonicMs() < term.untilMs) return true;
    this.#lose(term, 'expired');
    return false;
  }

  async tryTake(): Promise<TakeOutcome> {
    if (this.held) return 'taken';
    if (this.#options.mayTake?.() === false) return 'refused';
    const { node, subject, clock, rng } = this.#options;
    const market = this.#options.market?.() ?? undefined;
    // The token tells this taking from an earlier one of the same node.
    const own = JSON.stringify({ node, subject, market, token: rng.token(12) });
    const text = this.#unanswered ?? own;
    const untilMs = this.#trustedFrom(clock.monotonicMs());
    const outcome = await this.#bucket.create(KEY, text);
    if (outcome.write === 'refused') return this.#takeUnanswered();
    this.#unanswered = outcome.write === 'done' ? null : text;
    return outcome.write === 'done' ? this.#begin(text, outcome.revision, untilMs) : 'unreachable';
  }

  /** A try that succeeded without our knowing would keep everybody out until it has run out. */
  async #takeUnanswered(): Promise<TakeOutcome> {
    const text = this.#unanswered;
    if (text === null) return 'refused';
    const value = await this.#bucket.get(KEY);
    if (value === 'unreachable') return value;
    this.#unanswered = null;
    if (value?.text !== text) return 'refused';
    const untilMs = this.#trustedFrom(this.#options.clock.monotonicMs());
    const renewed = await this.#bucket.update(KEY, text, value.revision);
    return renewed.write === 'done' ? this.#begin(text, renewed.revision, untilMs) : renewed.write;
  }

  /** Who holds it, as the server knows; null: nobody. */
  async holder(): Promise<LeaseHolder | null | 'unreachable'> {
    const value = await this.#bucket.get(KEY);
    if (value === null || value === 'unreachable') return value;
    // trust: written by `tryTake` of a node of this market
    const { node, subject, market } = JSON.parse(value.text) as LeaseHolder;
    return { node, subject, ...(market === undefined ? {} : { market }) };
  }

  /** Gives it up: another one takes it at once. */
  async release(): Promise<void> {
    const term = this.#term;
    this.#end();
    if (term === null) return;
    for (let attempt = 1; attempt <= MOST_RELEASES; attempt += 1) {
      const outcome = await this.#bucket.remove(KEY, term.revision);
      if (outcome.write === 'done') return;
      // The answer was lost, or a renewal was on its way and came in first.
      if (!(await this.#isStillOurs(term))) return;
    }
  }

  #begin(text: string, revision: number, untilMs: number): TakeOutcome {
    const term = { text, revision, untilMs };
    this.#term = term;
    // The answer may have come too late.
    if (!this.held) return 'unreachable';
    this.#renewIn(term, this.#options.leaseMs / RENEWALS);
    this.#watch(term);
    // Else the server would take it away before it is renewed, again and again.
    this.#bucket.lengthen().catch(() => {});
    return 'taken';
  }

  #renewIn(term: Term, delayMs: number): void {
    this.#timers.push(
      this.#options.clock.after(delayMs, () => {
        this.#timers = this.#timers.slice(-2);
        void this.#renew(term);
      }),
    );
  }

  async #renew(term: Term): Promise<void> {
    if (this.#term !== term || !this.held) return;
    const { clock, leaseMs } = this.#options;
    const untilMs = this.#trustedFrom(clock.monotonicMs());
    const outcome = await this.#bucket.update(KEY, term.text, term.revision);
    if (this.#term !== term || !this.held) return;
    if (outcome.write === 'done') {
      term.revision = outcome.revision;
      term.untilMs = untilMs;
      this.#renewIn(term, leaseMs / RENEWALS);
    } else if (outcome.write === 'unreachable' || (await this.#isStillOurs(term))) {
      this.#renewIn(term, leaseMs / RETRIES);
    } else if (this.#term === term) {
      this.#lose(term, 'taken by another');
    }
  }

  /** A renewal whose answer was lost has changed the revision, not the value. */
  async #isStillOurs(term: Term): Promise<boolean> {
    const value = await this.#bucket.get(KEY);
    if (value === 'unreachable') return true;
    if (value === null || value.text !== term.text) return false;
    term.revision = value.revision;
    return true;
  }

  /** Tells of the end also when nobody asks. */
  #watch(term: Term): void {
    const { clock } = this.#options;
    const leftMs = Math.max(0, term.untilMs - clock.monotonicMs());
    this.#timers.push(
      clock.after(leftMs, () => {
        this.#timers = this.#timers.slice(-2);
        if (this.#term === term && this.held) this.#watch(term);
      }),
    );
  }

  #trustedFrom(askedMs: number): number {
    return askedMs + TRUSTED_PART * this.#options.leaseMs;
  }

  #lose(term: Term, why: 'expired' | 'taken by another'): void {
    if (this.#term !== term) return;
    this.#end();
    this.#options.lost(why);
  }

  #end(): void {
    this.#term = null;
    for (const timer of this.#timers) timer.cancel();
    this.#timers = [];
  }
}
