/**
 * A change of epoch: every subscription gets `Resync` and a snapshot of the new log. The streams of
 * the old one are gone at once, so nothing of the new epoch can reach a socket before its Resync;
 * the renewals are spread over turns of the event loop, so that they do not hold up anything else.
 */
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Connection } from './connection.ts';
import type { Delivery } from './delivery.ts';
import type { Subscription } from './subscription.ts';
import type { Subscriptions } from './subscriptions.ts';

export interface RenewalParts {
  readonly subscriptions: Subscriptions;
  readonly delivery: Delivery;
  readonly clock: Clock;
  readonly connections: ReadonlySet<Connection>;
  /** Subscriptions renewed per turn. */
  readonly slice: number;
}

export class Renewal {
  readonly #parts: RenewalParts;
  #running = false;

  constructor(parts: RenewalParts) {
    this.#parts = parts;
  }

  begin(): void {
    this.#parts.subscriptions.generation += 1;
    if (this.#running) return;
    this.#running = true;
    this.#parts.clock.soon(() => this.#step());
  }

  renew(connection: Connection, subscription: Subscription): void {
    const { subscriptions, delivery } = this.#parts;
    const { standing } = subscription;
    if (standing.is !== 'live' && standing.is !== 'held') return;
    subscriptions.guarded(connection, subscription, () => {
      const failure = subscriptions.reopen(subscription);
      if (failure !== null) return failure;
      connection.ignore(standing.seat.channel);
      standing.seat.leave();
      const seat = subscriptions.seat(connection, subscription);
      const why = { reason: 'epoch', skipped: 0 } as const;
      const progress = delivery.resync(connection, subscription, seat, why);
      if (progress instanceof Failure) {
        seat.leave();
        return progress;
      }
      subscriptions.settle(connection, subscription, seat, progress);
      return null;
    });
  }

  #step(): void {
    let left = this.#parts.slice;
    for (const [connection, subscription] of this.#outdated()) {
      if (left === 0) {
        this.#parts.clock.soon(() => this.#step());
        return;
      }
      left -= 1;
      this.renew(connection, subscription);
    }
    this.#running = false;
  }

  /** Those of sockets that do not read are renewed when they do. */
  *#outdated(): Iterable<[Connection, Subscription]> {
    const { connections, subscriptions } = this.#parts;
    for (const connection of connections) {
      if (connection.behindSinceMs !== null) continue;
      for (const subscription of connection.subscriptions.values()) {
        if (subscription.standing.is !== 'live') continue;
        if (subscription.generation === subscriptions.generation) continue;
        yield [connection, subscription];
      }
    }
  }
}
