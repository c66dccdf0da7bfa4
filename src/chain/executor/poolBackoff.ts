/**
 * Back-off of what failed: a step of a pool (fill, refund, graduate, collect), and single orders.
 * A step that fails never blocks the others of its pool, an order that fails never those behind it.
 *
 * A step's pause doubles from one second to one minute; an accepted transaction ends it. In memory
 * only: another leader finds out by itself.
 */

import { LRUCache } from 'lru-cache';
import { refText } from '../../cardano/codec/output.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { type BackoffLimits, backoffMs } from '../../engine/runtime/backoff.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { OpenOrder, StepKind } from './matching.ts';

interface Failing {
  readonly times: number;
  readonly retryMs: number;
}

interface FailingStep extends Failing {
  readonly token: AssetId;
  readonly kind: StepKind;
  readonly message: string;
}

export type StuckStep = Pick<FailingStep, 'token' | 'kind' | 'message'>;

/** Orders that are left out for now. */
interface SkippedOrders {
  readonly fill: ReadonlySet<OpenOrder>;
  readonly refund: ReadonlySet<OpenOrder>;
  /** When the first of them is tried again; null: none is left out. */
  readonly retryMs: number | null;
}

const STEP_PAUSE: BackoffLimits = { firstMs: 1_000, maxMs: 60_000 };
/** Longer than a step's, so that other orders have their turn first. */
const ORDER_PAUSE: BackoffLimits = { firstMs: 10_000, maxMs: 1_200_000 };
/** A single failure may be a lost race. */
const STUCK_AFTER = 2;
const MAX_NAMED = 100;
const MAX_ORDERS_NOTED = 10_000;
const STEP_KINDS: readonly StepKind[] = ['fill', 'refund', 'graduate', 'collect'];

export class PoolBackoff {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #steps = new Map<string, FailingStep>();
  readonly #orders = new LRUCache<string, Failing>({ max: MAX_ORDERS_NOTED });

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  nowMs(): number {
    return this.#clock.monotonicMs();
  }

  /** Steps of a pool that are not tried for now. */
  pausedSteps(token: AssetId): Set<StepKind> {
    const nowMs = this.nowMs();
    return new Set(STEP_KINDS.filter((kind) => (this.#step(token, kind)?.retryMs ?? 0) > nowMs));
  }

  /** When the first of a pool's paused steps is tried again; null: none is paused. */
  retryMs(token: AssetId): number | null {
    const nowMs = this.nowMs();
    const times = STEP_KINDS.flatMap((kind) => this.#step(token, kind)?.retryMs ?? []);
    return times.reduce<number | null>((first, atMs) => earlier(first, atMs, nowMs), null);
  }

  /** The pause, when this failure made the step stuck; null: it was stuck before, or is not yet. */
  failed(token: AssetId, kind: StepKind, message: string): number | null {
    const times = (this.#step(token, kind)?.times ?? 0) + 1;
    const pauseMs = backoffMs(times - 1, STEP_PAUSE);
    const retryMs = this.nowMs() + pauseMs;
    this.#steps.set(nameOf(token, kind), { token, kind, message, times, retryMs });
    return times === STUCK_AFTER ? pauseMs : null;
  }

  /** As `failed`, with one order: the first time others are tried at once. */
  orderFailed(
    token: AssetId,
    kind: 'fill' | 'refund',
    order: OpenOrder,
    message: string,
  ): number | null {
    const name = orderName(kind, order);
    const times = (this.#orders.get(name)?.times ?? 0) + 1;
    const retryMs = this.nowMs() + backoffMs(times - 1, ORDER_PAUSE);
    this.#orders.set(name, { times, retryMs });
    const isFirst = this.#step(token, kind) === undefined;
    const pauseMs = this.failed(token, kind, message);
    const step = this.#step(token, kind);
    if (isFirst && step !== undefined) {
      this.#steps.set(nameOf(token, kind), { ...step, retryMs: this.nowMs() });
    }
    return pauseMs;
  }

  skipped(orders: readonly OpenOrder[]): SkippedOrders {
    const fill = new Set<OpenOrder>();
    const refund = new Set<OpenOrder>();
    let retryMs: number | null = null;
    if (this.#orders.size === 0) return { fill, refund, retryMs };
    const nowMs = this.nowMs();
    for (const order of orders) {
      for (const [kind, skipped] of [['fill', fill] as const, ['refund', refund] as const]) {
        const failing = this.#orders.get(orderName(kind, order));
        if (failing === undefined || failing.retryMs <= nowMs) continue;
        skipped.add(order);
        retryMs = earlier(retryMs, failing.retryMs, nowMs);
      }
    }
    return { fill, refund, retryMs };
  }

  /** A transaction of this kind was accepted. */
  succeeded(token: AssetId, kind: StepKind): void {
    this.#steps.delete(nameOf(token, kind));
  }

  /** The pool has no work any more. */
  forget(token: AssetId): void {
    for (const kind of STEP_KINDS) this.succeeded(token, kind);
  }

  /** This node stops leading. */
  clear(): void {
    this.#steps.clear();
    this.#orders.clear();
  }

  /** Steps that failed again and again, sorted by token; at most a hundred. */
  stuck(): StuckStep[] {
    return [...this.#steps.values()]
      .filter(({ times }) => times >= STUCK_AFTER)
      .sort((a, b) => (nameOf(a.token, a.kind) < nameOf(b.token, b.kind) ? -1 : 1))
      .slice(0, MAX_NAMED)
      .map(({ token, kind, message }) => ({ token, kind, message }));
  }

  #step(token: AssetId, kind: StepKind): FailingStep | undefined {
    return this.#steps.get(nameOf(token, kind));
  }
}

function nameOf(token: AssetId, kind: StepKind): string {
  return `${token}/${kind}`;
}

function orderName(kind: 'fill' | 'refund', { ref }: OpenOrder): string {
  return `${kind} ${refText(ref)}`;
}

/** The earlier of `first` and `atMs`, if `atMs` is in the future. */
function earlier(first: number | null, atMs: number, nowMs: number): number | null {
  if (atMs <= nowMs) return first;
  return first === null ? atMs : Math.min(first, atMs);
}
