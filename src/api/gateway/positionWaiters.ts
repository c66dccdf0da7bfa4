/**
 * Waits until this node reaches a position that a client has seen on another node. `done` gets true
 * when the node is there, false after the time limit or when too many are waiting.
 */
import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import { epochNumber, type Position } from '../../engine/runtime/position.ts';
import type { Caller } from './address.ts';
import type { NodeView } from './port.ts';

/** A request or a socket, and whose it is: each has a limit, so one of them cannot use up all. */
interface WaiterOwner {
  readonly of: object;
  readonly caller: Caller;
}

interface Waiter {
  readonly owner: WaiterOwner;
  readonly position: Position;
  readonly timer: Timer;
  readonly done: (arrived: boolean) => void;
}

interface WaitingLimits {
  /** A wait ends after so long. */
  readonly positionWaitMs: number;
  readonly maxWaiting: number;
  readonly maxWaitingEach: number;
  readonly maxWaitingCaller: number;
}

export interface Waiting {
  cancel(): void;
}

/** An older epoch than ours is always reached: what we serve is newer. */
export function hasReached(applied: Position, asked: Position): boolean {
  if (asked.epoch === applied.epoch) return asked.seq <= applied.seq;
  return epochNumber(asked.epoch) <= epochNumber(applied.epoch);
}

export class PositionWaiters {
  readonly #nodeView: NodeView;
  readonly #clock: Clock;
  readonly #limits: WaitingLimits;
  readonly #isExempt: (caller: Caller) => boolean;
  readonly #perOwner = new Map<object | string, number>();
  readonly #waiters = new Set<Waiter>();
  #stopListening: (() => void) | null = null;

  /** `isExempt`: whether limits of callers do not hold for this one. */
  constructor(
    nodeView: NodeView,
    clock: Clock,
    limits: WaitingLimits,
    isExempt: (caller: Caller) => boolean,
  ) {
    this.#nodeView = nodeView;
    this.#clock = clock;
    this.#limits = limits;
    this.#isExempt = isExempt;
  }

  /** Requests, sockets and callers that wait now. */
  get owners(): number {
    return this.#perOwner.size;
  }

  /** Calls `done` in a later turn; at once, with false, when too many are waiting. */
  wait(owner: WaiterOwner, position: Position, done: (arrived: boolean) => void): Waiting {
    if (this.#isFull(owner)) {
      done(false);
      return { cancel: () => {} };
    }
    const timer = this.#clock.after(this.#limits.positionWaitMs, () => this.#finish(waiter, false));
    const waiter: Waiter = { owner, position, timer, done };
    this.#waiters.add(waiter);
    this.#count(owner, 1);
    this.#stopListening ??= this.#nodeView.onApplied(() => this.#check());
    return { cancel: () => this.#remove(waiter) };
  }

  #isFull({ of, caller }: WaiterOwner): boolean {
    const { maxWaiting, maxWaitingEach, maxWaitingCaller } = this.#limits;
    if (this.#waiters.size >= maxWaiting || this.#own(of) >= maxWaitingEach) return true;
    return this.#own(caller.key) >= maxWaitingCaller && !this.#isExempt(caller);
  }

  #own(owner: object | string): number {
    return this.#perOwner.get(owner) ?? 0;
  }

  #count({ of, caller }: WaiterOwner, change: 1 | -1): void {
    for (const each of [of, caller.key]) {
      const own = this.#own(each) + change;
      if (own > 0) this.#perOwner.set(each, own);
      else this.#perOwner.delete(each);
    }
  }

  #check(): void {
    const applied = this.#nodeView.applied();
    for (const waiter of this.#waiters) {
      if (hasReached(applied, waiter.position)) this.#finish(waiter, true);
    }
  }

  #finish(waiter: Waiter, arrived: boolean): void {
    this.#remove(waiter);
    waiter.done(arrived);
  }

  #remove(waiter: Waiter): void {
    waiter.timer.cancel();
    if (!this.#waiters.delete(waiter)) return;
    this.#count(waiter.owner, -1);
    if (this.#waiters.size > 0) return;
    this.#stopListening?.();
    this.#stopListening = null;
  }
}
