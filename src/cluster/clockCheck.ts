/**
 * Whether the clock of this machine is right. NATS stamps each message that it stores, so every
 * node can compare its clock with the clock of NATS.
 *
 * A node whose clock agrees with NATS is right. A node whose clock differs is wrong, unless at
 * least two nodes run and their clocks all agree with each other: then the clock of NATS is wrong.
 * So nodes that are wrong together yield to the first node that is right, and a single node never
 * overrules NATS.
 */
import type { TimeGuard } from '../engine/log/writer.ts';
import type { Clock } from '../engine/runtime/clock.ts';

export interface ClockReading {
  readonly node: string;
  /** The node's clock minus the clock of NATS; negative: behind. */
  readonly aheadMs: number;
}

export type Verdict =
  | { readonly verdict: 'right' }
  /** All nodes agree, NATS differs. */
  | { readonly verdict: 'NATS is wrong' }
  | { readonly verdict: 'wrong'; readonly reason: string };

/** Judges `own` by the readings of all other running nodes. */
export function judgeClock(
  own: ClockReading,
  others: readonly ClockReading[],
  boundMs: number,
): Verdict {
  if (Math.abs(own.aheadMs) <= boundMs) return { verdict: 'right' };
  const against = others.filter(({ aheadMs }) => Math.abs(aheadMs - own.aheadMs) > boundMs);
  if (others.length > 0 && against.length === 0) return { verdict: 'NATS is wrong' };
  const names = against.map(({ node }) => node).join(', ');
  const doubt =
    names === ''
      ? 'no other node runs that confirms it'
      : `${names} ${against.length === 1 ? 'disagrees' : 'disagree'}`;
  const offset = describeOffset(own.aheadMs);
  const reason = `its clock is ${offset} that of NATS and ${doubt}: set it right`;
  return { verdict: 'wrong', reason };
}

/**
 * How far this clock is ahead of the clock of NATS, which stamped a message with `storedMs`. It was
 * sent at `sentMs` and acknowledged `tookMs` later; a difference within that time counts as 0.
 */
export function clockAheadMs(storedMs: number, sentMs: number, tookMs: number): number {
  if (sentMs > storedMs) return sentMs - storedMs;
  return Math.min(0, sentMs + tookMs - storedMs);
}

/**
 * Refuses entries with a time of this machine's clock later than `latestMs`. Blocks carry the time
 * of their slot, which no clock can change.
 */
export function timeGuard(latestMs: () => number): TimeGuard {
  return ({ timeMs, payload: { kind } }, beforeMs) =>
    kind === 'time' && timeMs > latestMs() && timeMs > beforeMs;
}

/** The last verdict, and how the clock moved since. */
export class ClockCheck {
  readonly #node: string;
  readonly #clock: Clock;
  readonly #boundMs: number;
  #aheadMs = 0;
  #verdict: Verdict = { verdict: 'right' };
  /** Wall clock minus monotonic clock at the last measurement. */
  #offsetMs: number;

  constructor(node: string, clock: Clock, boundMs: number) {
    this.#node = node;
    this.#clock = clock;
    this.#boundMs = boundMs;
    this.#offsetMs = clock.nowMs() - clock.monotonicMs();
  }

  /** As measured last; positive: ahead of NATS. */
  get aheadMs(): number {
    return this.#aheadMs;
  }

  get verdict(): Verdict {
    return this.#verdict;
  }

  /** Whether `measured` needs no readings of the other nodes. */
  isWithinBound(aheadMs: number): boolean {
    return Math.abs(aheadMs) <= this.#boundMs;
  }

  measured(aheadMs: number, others: readonly ClockReading[]): void {
    const { nowMs, monotonicMs } = this.#clock;
    this.#offsetMs = nowMs() - monotonicMs();
    this.#aheadMs = aheadMs;
    this.#verdict = judgeClock({ node: this.#node, aheadMs }, others, this.#boundMs);
  }

  /** Why this node must not lead; null: its clock is right. */
  obstacle(): string | null {
    const movedMs = this.#movedMs();
    if (Math.abs(movedMs) > this.#boundMs) {
      return `its clock was just set: it is ${describeOffset(movedMs)} where it was`;
    }
    return this.#verdict.verdict === 'wrong' ? this.#verdict.reason : null;
  }

  /** The latest time that an entry may have: the time that the nodes agree on, plus the bound. */
  latestMs(): number {
    const reference = this.#verdict.verdict === 'NATS is wrong' ? 0 : this.#aheadMs;
    return this.#clock.nowMs() - this.#movedMs() - reference + this.#boundMs;
  }

  /** How far the wall clock was set, or the machine slept, since the last measurement. */
  #movedMs(): number {
    const { nowMs, monotonicMs } = this.#clock;
    return nowMs() - monotonicMs() - this.#offsetMs;
  }
}

function describeOffset(ms: number): string {
  const seconds = (Math.abs(ms) / 1000).toFixed(1);
  return `${seconds} s ${ms > 0 ? 'ahead of' : 'behind'}`;
}
