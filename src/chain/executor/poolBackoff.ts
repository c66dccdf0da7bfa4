/**
 * Back-off of pools whose transactions are refused, and which pools are stuck.
 *
 * The pause doubles from one second to one minute; an accepted transaction ends it. In memory only:
 * another leader finds out by itself.
 */
import type { AssetId } from '../../engine/market/asset.ts';
import { backoffMs } from '../../engine/runtime/backoff.ts';
import type { Clock } from '../../engine/runtime/clock.ts';

interface Refused {
  readonly times: number;
  readonly retryMs: number;
}

const PAUSE = { firstMs: 1_000, mostMs: 60_000 };
/** A single refusal may be a lost race. */
const STUCK_AFTER = 2;
const MOST_NAMED = 100;
const REFUNDS = '/refunds';

/** Back-off name of a token's refunds, which do not spend the pool. */
export function refundsOf(token: AssetId): string {
  return `${token}${REFUNDS}`;
}

export class PoolBackoff {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** By token, or by `refundsOf` it. */
  readonly #refused = new Map<string, Refused>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  mayTry(name: string): boolean {
    return (this.#refused.get(name)?.retryMs ?? 0) <= this.#clock.monotonicMs();
  }

  /** The pause, when this refusal made the pool stuck; null: it was stuck before, or is not yet. */
  refused(name: string): number | null {
    const times = (this.#refused.get(name)?.times ?? 0) + 1;
    const pauseMs = backoffMs(times - 1, PAUSE);
    this.#refused.set(name, { times, retryMs: this.#clock.monotonicMs() + pauseMs });
    return times === STUCK_AFTER ? pauseMs : null;
  }

  /** A transaction of the pool was accepted, or the pool has no work any more. */
  forget(name: string): void {
    this.#refused.delete(name);
  }

  /** This node stops leading. */
  clear(): void {
    this.#refused.clear();
  }

  /** Tokens of pools that cannot be served, sorted; at most a hundred. */
  stuck(): AssetId[] {
    const found = [...this.#refused].filter(([name, { times }]) => {
      return times >= STUCK_AFTER && !name.endsWith(REFUNDS);
    });
    return found
      .map(([token]) => token)
      .sort()
      .slice(0, MOST_NAMED);
  }
}
