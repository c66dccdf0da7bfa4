/**
 * After a change of epoch every subscription gets `Resync` and a snapshot of the new log. The hub
 * closes the old streams at once, so no frame of the new epoch reaches a socket before its Resync.
 * The renewals are spread over turns of the event loop, so that they block nothing else.
 */
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { Slices } from '../../engine/runtime/slices.ts';
import type { Connection } from './connection.ts';
import type { Delivery } from './delivery.ts';
import type { Subscription } from './subscription.ts';
import type { Subscriptions } from './subscriptions.ts';

interface EpochRenewalDeps {
  readonly subscriptions: Subscriptions;
  readonly delivery: Delivery;
  readonly clock: Clock;
  readonly connections: ReadonlySet<Connection>;
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
    const { clock } = this.#parts;
    Slices.of(clock).add(
      'renewal',
      (isOver) => this.#step(isOver),
      () => this.begin(),
    );
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
      subscriptions.setLiveOrHeld(connection, subscription, handle, progress);
      return null;
    });
  }

  #step(isOver: () => boolean): boolean {
    for (const [connection, subscription] of this.#outdated()) {
      // Its stream still has the source of the epoch before.
      if (!this.#isPrepared(subscription, isOver)) return false;
      this.renew(connection, subscription);
      if (isOver()) return false;
    }
    this.#running = false;
    return true;
  }

  /** A source that fails is renewed all the same: its answer is the error. */
  #isPrepared({ open }: Subscription, isOver: () => boolean): boolean {
    try {
      const source = open();
      return source instanceof Failure || (source.prepare?.(isOver) ?? true);
    } catch {
      // The renewal meets the same error and sends it.
      return true;
    }
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
