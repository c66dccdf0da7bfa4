/**
 * The lease: most of the time at most one node believes that it leads. It serves liveness only; the
 * sequence and the term of the log keep two leaders from writing.
 *
 * The holder renews every third of the lease. It trusts the lease for 0.8 of its length, counted
 * from the sending of the last granted renewal by its own monotonic clock; only later does the
 * server let another node take it. A process that was frozen checks `held` first, and notices at
 * once. The server does not notify anyone when a lease expires: candidates retry every lease/5.
 * While they hear its renewals (`HeardRenewals`), a try costs no request.
 */
import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import type { MarketIdentity } from '../../engine/runtime/marketIdentity.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import type { Bucket, BucketValue } from './bucket.ts';

interface LeaseHolder {
  readonly node: string;
  /** The subject on which it answers requests. */
  readonly subject: string;
  /** Absent: not known yet, or a node of an older version. */
  readonly market?: MarketIdentity;
}

interface LeaseOptions extends Omit<LeaseHolder, 'market'> {
  /** null: not known yet. */
  market?(): MarketIdentity | null;
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly rng: Rng;
  /** false: this node must not lead. Absent: it may. */
  mayTake?(): boolean;
  /** Called once when a lease ends that was not released: stop leading. */
  lost(why: 'expired' | 'taken by another'): void;
}

type TakeOutcome = 'taken' | 'refused' | 'unreachable';

/** One taking of the lease. */
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
/** Attempts to release, while NATS gives no answer. */
const MAX_RELEASES = 3;

/** How long candidates wait between two tries. */
export function candidacyMs(leaseMs: number): number {
  return leaseMs / 5;
}

export class Lease {
  readonly #bucket: Bucket;
  readonly #options: LeaseOptions;
  readonly #renewals: HeardRenewals;
  #term: Term | null = null;
  #timers: Timer[] = [];
  /** The value of a try whose answer was lost: it may be stored. */
  #unanswered: string | null = null;
  #problem: string | null = null;

  /** Values of `bucket` live for the lease. */
  constructor(bucket: Bucket, options: LeaseOptions) {
    this.#bucket = bucket;
    this.#options = options;
    this.#renewals = new HeardRenewals(options.clock, options.leaseMs);
  }

  /** Hears renewals from now on. */
  listen(): void {
    this.#bucket.watch(KEY, (text) => this.#renewals.receive(text));
  }

  /** By the clock, not a timer: true only while no other node can have it. */
  get held(): boolean {
    const term = this.#term;
    if (term === null) return false;
    if (this.#options.clock.monotonicMs() < term.untilMs) return true;
    this.#lose(term, 'expired');
    return false;
  }

  /** Why NATS did not take or give the lease, at the last request; null: it did. */
  get problem(): string | null {
    return this.#problem;
  }

  async tryTake(): Promise<TakeOutcome> {
    const outcome = await this.#tryTake();
    this.#problem = outcome === 'unreachable' ? this.#bucket.problem : null;
    return outcome;
  }

  async #tryTake(): Promise<TakeOutcome> {
    if (this.held) return 'taken';
    if (this.#options.mayTake?.() === false || this.#renewals.renewed !== null) return 'refused';
    const there = await this.#bucket.get(KEY);
    if (there === 'unreachable') return there;
    if (there !== null) return this.#takeUnanswered(there);
    const { node, subject, clock, rng } = this.#options;
    const market = this.#options.market?.() ?? undefined;
    // The token distinguishes this term from an earlier one of the same node.
    const own = JSON.stringify({ node, subject, market, token: rng.token(12) });
    const text = this.#unanswered ?? own;
    const untilMs = this.#trustedFrom(clock.monotonicMs());
    const outcome = await this.#bucket.create(KEY, text);
    if (outcome.write === 'refused') return 'refused';
    this.#unanswered = text;
    if (outcome.write === 'unreachable' || !(await this.#isFound(text))) return 'unreachable';
    this.#unanswered = null;
    return this.#begin(text, outcome.revision, untilMs);
  }

  /**
   * A server of 2.9 whose file is broken stores values that it does not find: it would give the
   * lease to every candidate (report 7549 of nats-server). An empty bucket has a new file.
   */
  async #isFound(text: string): Promise<boolean> {
    const stored = await this.#bucket.get(KEY);
    if (stored === null) await this.#bucket.empty();
    return stored !== null && stored !== 'unreachable' && stored.text === text;
  }

  /** A try that succeeded without an answer would keep all nodes out until it expires. */
  async #takeUnanswered({ text, revision }: BucketValue): Promise<TakeOutcome> {
    const isOurs = text === this.#unanswered;
    this.#unanswered = null;
    this.#renewals.seen(text);
    if (!isOurs) return 'refused';
    const untilMs = this.#trustedFrom(this.#options.clock.monotonicMs());
    const renewed = await this.#bucket.update(KEY, text, revision);
    return renewed.write === 'done' ? this.#begin(text, renewed.revision, untilMs) : renewed.write;
  }

  /** The holder, by the server; null: none. */
  async holder(): Promise<LeaseHolder | null | 'unreachable'> {
    const value = await this.#bucket.get(KEY);
    if (value === null || value === 'unreachable') return value;
    this.#renewals.seen(value.text);
    return this.#holderIn(value.text);
  }

  /** The node whose renewals were heard during the last lease; else the holder, by the server. */
  async lastHolder(): Promise<LeaseHolder | null | 'unreachable'> {
    const { renewed } = this.#renewals;
    return renewed === null ? this.holder() : this.#holderIn(renewed);
  }

  /** Another node can take it at once. */
  async release(): Promise<void> {
    const term = this.#term;
    this.#end();
    if (term === null) return;
    for (let attempt = 1; attempt <= MAX_RELEASES; attempt += 1) {
      const outcome = await this.#bucket.remove(KEY, term.revision);
      if (outcome.write === 'done') return;
      // The answer was lost, or a renewal in flight arrived first.
      if (!(await this.#isStillOurs(term))) return;
    }
  }

  #begin(text: string, revision: number, untilMs: number): TakeOutcome {
    const term = { text, revision, untilMs };
    this.#term = term;
    // The answer may be too late.
    if (!this.held) return 'unreachable';
    this.#renewIn(term, this.#options.leaseMs / RENEWALS);
    this.#watch(term);
    // In a bucket with a shorter lifetime it would expire before each renewal.
    // Without an answer it is tried again with the next lease, and the start compares it too.
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

  /** Reports the end also when `held` is not called. */
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

  /** null: no node wrote that; it expires as a lease does. */
  #holderIn(text: string): LeaseHolder | null {
    const found = this.#bucket.messages.read('lease', text);
    if (found === null) return null;
    const { node, subject, market } = found;
    return { node, subject, ...(market === undefined ? {} : { market }) };
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

/**
 * Observes renewals of the lease without asking NATS: each renewal is a message on the key's
 * subject, which all nodes hear.
 *
 * A message on this subject is a request to store a text; NATS may refuse it. Candidates send
 * requests too, and so does a holder that was overtaken. So only a text counts that NATS was seen
 * to hold. It keeps candidates from asking for one lease after it was heard last. It never makes a
 * node the leader, and never keeps a leader.
 */
export class HeardRenewals {
  readonly #clock: Clock;
  readonly #leaseMs: number;
  /** The text that NATS was last seen to hold. */
  #stored: string | null = null;
  #heardMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, leaseMs: number) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
  }

  /** Called with the text that NATS holds: the renewals of this text count from now on. */
  seen(text: string): void {
    if (text === this.#stored) return;
    this.#stored = text;
    this.#heardMs = Number.NEGATIVE_INFINITY;
  }

  /** A message on the key's subject; empty: a release. */
  receive(text: string): void {
    if (text === '') this.#stored = null;
    else if (text === this.#stored) this.#heardMs = this.#clock.monotonicMs();
  }

  /** The value that was renewed during the last lease; null: none is known. */
  get renewed(): string | null {
    return this.#clock.monotonicMs() - this.#heardMs < this.#leaseMs ? this.#stored : null;
  }
}
