/**
 * Sockets that do not read. Falling behind unsubscribes a socket from everything in that turn and
 * leaves of each subscription only where it stands; no frame is kept for it. Once its buffer has
 * drained, each subscription gets what `since` answers from there, so the newest state of whatever
 * changed, and goes on live in the same turn. Who skipped too much gets a snapshot after that.
 */
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Observer } from '../gateway/observer.ts';
import type { GatewayOptions } from '../gateway/options.ts';
import type { Mark, Seat } from '../topics/port.ts';
import type { Connection } from './connection.ts';
import type { Delivery, Progress } from './delivery.ts';
import type { Renewal } from './renewal.ts';
import type { Subscription } from './subscription.ts';
import type { Subscriptions } from './subscriptions.ts';

export interface SlowParts {
  readonly subscriptions: Subscriptions;
  readonly delivery: Delivery;
  readonly renewal: Renewal;
  readonly clock: Clock;
  readonly observer: Observer;
  readonly options: GatewayOptions;
}

export class SlowSockets {
  readonly #parts: SlowParts;

  constructor(parts: SlowParts) {
    this.#parts = parts;
  }

  fallBehind(connection: Connection): void {
    this.#hold(connection);
    this.#mute(connection);
  }

  /**
   * The library threw a frame away. It says so while it goes through what it has to send, and must
   * not be told to unsubscribe meanwhile: it would free what it is reading (a crash). The next turn
   * comes before the next flush, because a flush waits for the turn after the one before it.
   */
  dropped(connection: Connection): void {
    this.#hold(connection);
    this.#parts.clock.soon(() => this.#mute(connection));
  }

  #hold(connection: Connection): void {
    connection.forget();
    if (connection.behindSinceMs === null) {
      connection.behindSinceMs = this.#parts.clock.monotonicMs();
      this.#parts.observer.socketBehind(connection.bufferedBytes);
    }
    for (const subscription of connection.subscriptions.values()) {
      const { standing } = subscription;
      if (standing.is !== 'live') continue;
      const { seat } = standing;
      subscription.standing = { is: 'held', seat, from: seat.mark() };
      seat.pause();
    }
  }

  #mute(connection: Connection): void {
    if (connection.behindSinceMs === null) return;
    connection.ignore(connection.pings);
    for (const { standing } of connection.subscriptions.values()) {
      if (standing.is === 'held') connection.ignore(standing.seat.channel);
    }
  }

  /** Goes on with what it left, as far as its buffer takes it; the rest with the next drain. */
  wake(connection: Connection): void {
    const { subscriptions, options } = this.#parts;
    if (skippedBytes(connection) > options.bufferBytes) connection.pastBound = true;
    for (const subscription of connection.subscriptions.values()) {
      const { is } = subscription.standing;
      if (is !== 'held' && is !== 'unstarted') continue;
      if (!connection.isOpen || connection.bufferedBytes > options.wakeBytes) return;
      if (is === 'unstarted') subscriptions.start(connection, subscription);
      else this.#resume(connection, subscription);
      if (subscription.standing.is === 'held') return;
    }
    connection.behindSinceMs = null;
    connection.pastBound = false;
    connection.listen(connection.pings);
  }

  #resume(connection: Connection, subscription: Subscription): void {
    const { subscriptions, delivery, renewal } = this.#parts;
    const { standing, topic } = subscription;
    if (standing.is !== 'held') return;
    if (subscription.generation !== subscriptions.generation) {
      renewal.renew(connection, subscription);
      return;
    }
    const { seat, from } = standing;
    subscriptions.guarded(connection, subscription, () => {
      const progress =
        from === null || topic.periodic
          ? delivery.snapshot(connection, subscription, seat)
          : this.#catchUp(connection, subscription, seat, from);
      if (!('whole' in progress)) return progress;
      subscriptions.settle(connection, subscription, seat, progress);
      return null;
    });
  }

  /** The since parts come first even where a snapshot follows: final bars are among them. */
  #catchUp(
    connection: Connection,
    subscription: Subscription,
    seat: Seat,
    from: Mark,
  ): Progress | Failure {
    const { delivery } = this.#parts;
    const skipped = seat.traffic().frames - from.frames;
    const progress = delivery.changes(connection, subscription, from);
    if (progress instanceof Failure) return progress;
    if (progress !== null) {
      const enough = !connection.pastBound || skipped === 0;
      if (!progress.whole || enough) return progress;
    }
    return delivery.resync(connection, subscription, seat, { reason: 'slow', skipped });
  }
}

function skippedBytes(connection: Connection): number {
  let bytes = 0;
  for (const { standing } of connection.subscriptions.values()) {
    if (standing.is !== 'held' || standing.from === null) continue;
    bytes += standing.seat.traffic().bytes - standing.from.bytes;
  }
  return bytes;
}
