/**
 * Waits until this node reaches a position that a client has seen on another node. `done` gets
 * `arrived` when the node is there, `late` after the time limit or when too many are waiting.
 *
 * A position may not exist any more: a backup was restored, or a chain reset. Only the log itself
 * can say so, asked after the client did; `done` gets `gone` once this node has the log up to that
 * end. While the log does not answer, the wait ends `late`.
 */
import type { Clock, Timer } from '../../engine/runtime/clock.ts';
import { hasReached, type Position } from '../../engine/runtime/position.ts';
import { Slices } from '../../engine/runtime/slices.ts';
import type { Caller } from './address.ts';
import type { Observer } from './observer.ts';
import type { NodeView } from './port.ts';

/**
 * A request or a socket, and its caller: each has a limit, so no single one can use up the total.
 */
interface WaiterOwner {
  readonly of: object;
  readonly caller: Caller;
}

type Outcome = 'arrived' | 'gone' | 'late';

interface Waiter {
  readonly owner: WaiterOwner;
  /** The awaited position: the end of the log, if the requested position is gone. */
  position: Position;
  isGone: boolean;
  readonly timer: Timer;
  /** Its outcome is known, and waits for its slice: many wait for one position. */
  ending: Timer | null;
  readonly done: (outcome: Outcome) => void;
}

interface WaitingLimits {
  /** A wait ends after so long. */
  readonly positionWaitMs: number;
  readonly maxWaiting: number;
  readonly maxWaitingEach: number;
  readonly maxWaitingCaller: number;
}

interface PositionWaitersDeps {
  readonly nodeView: NodeView;
  readonly clock: Clock;
  readonly limits: WaitingLimits;
  /** Whether limits of callers do not hold for this one. */
  readonly isExempt: (caller: Caller) => boolean;
  readonly observer: Pick<Observer, 'handlerFailed'>;
}

export interface Waiting {
  cancel(): void;
}

export class PositionWaiters {
  readonly #deps: PositionWaitersDeps;
  readonly #perOwner = new Map<object | string, number>();
  readonly #waiters = new Set<Waiter>();
  #stopListening: (() => void) | null = null;
  /** Not asked about yet. */
  #unasked: Waiter[] = [];
  #isAsking = false;

  constructor(deps: PositionWaitersDeps) {
    this.#deps = deps;
  }

  /** Requests, sockets and callers that wait now. */
  get owners(): number {
    return this.#perOwner.size;
  }

  /** Calls `done` in a later turn; at once, with `late`, when too many are waiting. */
  wait(owner: WaiterOwner, position: Position, done: (outcome: Outcome) => void): Waiting {
    if (this.#isFull(owner)) {
      done('late');
      return { cancel: () => {} };
    }
    const { clock, limits, nodeView } = this.#deps;
    const timer = clock.after(limits.positionWaitMs, () => this.#finish(waiter, 'late'));
    const waiter: Waiter = { owner, position, isGone: false, timer, ending: null, done };
    this.#waiters.add(waiter);
    this.#count(owner, 1);
    this.#stopListening ??= nodeView.onApplied(() => this.#check());
    this.#unasked.push(waiter);
    void this.#askAboutEnd();
    return { cancel: () => this.#remove(waiter) };
  }

  /** One question at a time, for all waits that began before it. */
  async #askAboutEnd(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    while (this.#unasked.length > 0) {
      const asking = this.#unasked;
      this.#unasked = [];
      // Without an answer the wait continues: the node may get there.
      const end = (await this.#deps.nodeView.logEnd?.().catch(() => null)) ?? null;
      if (end === null) continue;
      for (const waiter of asking) {
        if (hasReached(end, waiter.position)) continue;
        waiter.position = end;
        waiter.isGone = true;
      }
      this.#check();
    }
    this.#isAsking = false;
  }

  #isFull({ of, caller }: WaiterOwner): boolean {
    const { limits, isExempt } = this.#deps;
    const { maxWaiting, maxWaitingEach, maxWaitingCaller } = limits;
    if (this.#waiters.size >= maxWaiting || this.#own(of) >= maxWaitingEach) return true;
    return this.#own(caller.key) >= maxWaitingCaller && !isExempt(caller);
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
    const applied = this.#deps.nodeView.applied();
    for (const waiter of this.#waiters) {
      if (!hasReached(applied, waiter.position)) continue;
      this.#finish(waiter, waiter.isGone ? 'gone' : 'arrived');
    }
  }

  #finish(waiter: Waiter, outcome: Outcome): void {
    if (waiter.ending !== null) return;
    const { clock, observer } = this.#deps;
    const step = () => {
      this.#remove(waiter);
      waiter.done(outcome);
      return true;
    };
    const owner = `waiting for a position: ${waiter.owner.caller.key}`;
    waiter.ending = Slices.of(clock).begin(owner, step, (error) =>
      observer.handlerFailed('waiting for a position', error),
    );
  }

  #remove(waiter: Waiter): void {
    waiter.timer.cancel();
    waiter.ending?.cancel();
    if (!this.#waiters.delete(waiter)) return;
    this.#count(waiter.owner, -1);
    if (this.#waiters.size > 0) return;
    this.#stopListening?.();
    this.#stopListening = null;
  }
}
