/**
 * Waits until this node reaches a position that a client has seen on another node. `done` gets true
 * when the node is there, false after the time limit or when too many are waiting.
 */
import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import { epochNumber, type Position } from '../../engine/runtime/position.ts';
import type { NodeView } from './port.ts';

interface Waiter {
  /** A request or a socket: each has a limit, so one of them cannot use up all. */
  readonly owner: object;
  readonly position: Position;
  readonly timer: Timer;
  readonly done: (arrived: boolean) => void;
}

interface WaitingLimits {
  readonly maxWaiting: number;
  readonly maxWaitingEach: number;
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
  readonly #limitMs: number;
  readonly #limits: WaitingLimits;
  readonly #perOwner = new Map<object, number>();
  readonly #waiters = new Set<Waiter>();
  #stopListening: (() => void) | null = null;

  constructor(nodeView: NodeView, clock: Clock, limitMs: number, limits: WaitingLimits) {
    this.#nodeView = nodeView;
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#limits = limits;
  }

  /** Calls `done` in a later turn; at once, with false, when too many are waiting. */
  wait(owner: object, position: Position, done: (arrived: boolean) => void): Waiting {
    const { maxWaiting, maxWaitingEach } = this.#limits;
    const own = this.#perOwner.get(owner) ?? 0;
    if (this.#waiters.size >= maxWaiting || own >= maxWaitingEach) {
      done(false);
      return { cancel: () => {} };
    }
    const timer = this.#clock.after(this.#limitMs, () => this.#finish(waiter, false));
    const waiter: Waiter = { owner, position, timer, done };
    this.#waiters.add(waiter);
    this.#perOwner.set(owner, own + 1);
    this.#stopListening ??= this.#nodeView.onApplied(() => this.#check());
    return { cancel: () => this.#remove(waiter) };
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
    const { owner } = waiter;
    const own = (this.#perOwner.get(owner) ?? 0) - 1;
    if (own > 0) this.#perOwner.set(owner, own);
    else this.#perOwner.delete(owner);
    if (this.#waiters.size > 0) return;
    this.#stopListening?.();
    this.#stopListening = null;
  }
}
