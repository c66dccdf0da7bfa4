/**
 * After a change of epoch every subscription gets `Resync` and a snapshot of the new log. The hub
 * closes the old streams at once, so no frame of the new epoch reaches a socket before its Resync.
 * The renewals are spread over turns of the event loop, so that they block nothing else.
 */
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Connection } from './connection.ts';
import type { Delivery } from './delivery.ts';
import type { Subscription } from './subscription.ts';
import type { Subscriptions } from './subscriptions.ts';

interface EpochRenewalDeps {
  readonly subscriptions: Subscriptions;
  readonly delivery: Delivery;
  readonly clock: Clock;
  readonly connections: ReadonlySet<Connection>;
  /** Subscriptions renewed per turn. */
  readonly slice: number;
}

export class EpochRenewal {
  readonly #parts: EpochRenewalDeps;
  #running = false;

  constructor(parts: EpochRenewalDeps) {
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
    const { state } = subscription;
    if (state.is !== 'live' && state.is !== 'held') return;
    subscriptions.guarded(connection, subscription, () => {
      const failure = subscriptions.reopen(subscription);
      if (failure !== null) return failure;
      connection.ignore(state.handle.channel);
      state.handle.release();
      const handle = subscriptions.openHandle(connection, subscription);
      const why = { reason: 'epoch', skipped: 0 } as const;
      const progress = delivery.resync(connection, subscription, handle, why);
      if (progress instanceof Failure) {
        handle.release();
        return progress;
      }
      subscriptions.settle(connection, subscription, handle, progress);
      return null;
    });
  }

  #step(): void {
    const { subscriptions } = this.#parts;
    let left = this.#parts.slice;
    for (const [connection, subscription] of this.#outdated()) {
      if (left === 0 || !subscriptions.isReady(subscription)) {
        this.#parts.clock.soon(() => this.#step());
        return;
      }
      left -= 1;
      this.renew(connection, subscription);
    }
    this.#running = false;
  }

  /** Sockets that do not read are skipped: their subscriptions are renewed when they wake. */
  *#outdated(): Iterable<[Connection, Subscription]> {
    const { connections, subscriptions } = this.#parts;
    for (const connection of connections) {
      if (connection.behindSinceMs !== null) continue;
      for (const subscription of connection.subscriptions.values()) {
        if (subscription.state.is !== 'live') continue;
        if (subscription.generation === subscriptions.generation) continue;
        yield [connection, subscription];
      }
    }
  }
}
