/**
 * Whether the clock of this machine can be believed. NATS stamps what it stores, so every node
 * knows how far its own clock is ahead of that of NATS.
 *
 * A node whose clock agrees with NATS's is right. One that does not is wrong, unless at least two
 * nodes run and all of them agree with each other: then the clock of NATS is wrong. So nodes that
 * are wrong together yield to the first one that is right, and a node alone never overrules NATS.
 */
import type { TimeGuard } from '../engine/log/writer.ts';
import type { Clock } from '../engine/runtime/clock.ts';

export interface ClockReading {
  readonly node: string;
  /** Its clock minus that of NATS; negative: behind. */
  readonly aheadMs: number;
}

export type Verdict =
  | { readonly verdict: 'right' }
  /** All nodes agree, NATS differs. */
  | { readonly verdict: 'NATS is wrong' }
  | { readonly verdict: 'wrong'; readonly reason: string };

/** Of `own`, beside all other nodes that run. */
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
  const reason = `its clock is ${describeOffset(own.aheadMs)} that of NATS and ${doubt}: set it right`;
  return { verdict: 'wrong', reason };
}

/**
 * How far the clock is ahead of that of NATS, which stamped a message with `storedMs`: it was sent
 * at `sentMs` and acknowledged `tookMs` later. The part of the difference that this explains is
 * left out.
 */
export function clockAheadMs(storedMs: number, sentMs: number, tookMs: number): number {
  if (sentMs > storedMs) return sentMs - storedMs;
  return Math.min(0, sentMs + tookMs - storedMs);
}

/**
 * No entry whose time comes from this machine's clock may be later than `latestMs`. Blocks have the
 * time of their slot, right whatever clocks say.
 */
export function timeGuard(latestMs: () => number): TimeGuard {
  return ({ timeMs, payload: { kind } }, beforeMs) =>
    kind === 'time' && timeMs > latestMs() && timeMs > beforeMs;
}

/** The last judgement, and what the clock did since. */
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

  /** Whether `measured` can be judged without asking what the others have. */
  isWithinBound(aheadMs: number): boolean {
    return Math.abs(aheadMs) <= this.#boundMs;
  }

  measured(aheadMs: number, others: readonly ClockReading[]): void {
    const { nowMs, monotonicMs } = this.#clock;
    this.#offsetMs = nowMs() - monotonicMs();
    this.#aheadMs = aheadMs;
    const found = judgeClock({ node: this.#node, aheadMs }, others, this.#boundMs);
    this.#verdict = found;
  }

  /** Why this node must not lead; null: its clock is right. */
  obstacle(): string | null {
    const movedMs = this.#movedMs();
    if (Math.abs(movedMs) > this.#boundMs) {
      return `its clock was just set: it is ${describeOffset(movedMs)} where it was`;
    }
    return this.#verdict.verdict === 'wrong' ? this.#verdict.reason : null;
  }

  /** No entry may be later: the time that the nodes agree on, and the bound. */
  latestMs(): number {
    const reference = this.#verdict.verdict === 'NATS is wrong' ? 0 : this.#aheadMs;
    return this.#clock.nowMs() - this.#movedMs() - reference + this.#boundMs;
  }

  /** Set, or slept, since the last measurement: that is known without asking anybody. */
  #movedMs(): number {
    const { nowMs, monotonicMs } = this.#clock;
    return nowMs() - monotonicMs() - this.#offsetMs;
  }
}

function describeOffset(ms: number): string {
  const seconds = (Math.abs(ms) / 1000).toFixed(1);
  return `${seconds} s ${ms > 0 ? 'ahead of' : 'behind'}`;
}
