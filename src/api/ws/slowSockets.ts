/**
 * Sockets that do not read their frames. A socket that falls behind is unsubscribed from everything
 * in that turn; only a cursor is kept for each subscription, and no frame. Once its buffer has
 * drained, each subscription gets the answer of `since` from its cursor (the newest state of every
 * change) and is live again in the same turn. A socket that skipped too much gets a snapshot after
 * that.
 */
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { Slices } from '../../engine/runtime/slices.ts';
import type { Observer } from '../gateway/observer.ts';
import type { GatewayOptions } from '../gateway/options.ts';
import type { StreamCursor, StreamHandle } from '../topics/port.ts';
import type { Connection } from './connection.ts';
import type { Delivery, Progress } from './delivery.ts';
import type { EpochRenewal } from './epochRenewal.ts';
import type { Subscription } from './subscription.ts';
import type { Subscriptions } from './subscriptions.ts';

interface SlowSocketsDeps {
  readonly subscriptions: Subscriptions;
  readonly delivery: Delivery;
  readonly renewal: EpochRenewal;
  readonly clock: Clock;
  readonly observer: Observer;
  readonly options: GatewayOptions;
}

export class SlowSockets {
  readonly #parts: SlowSocketsDeps;

  constructor(parts: SlowSocketsDeps) {
    this.#parts = parts;
  }

  fallBehind(connection: Connection): void {
    this.#hold(connection);
    this.#mute(connection);
  }

  /**
   * The library threw a frame away. It reports this while it walks its send queue, and must not be
   * asked to unsubscribe meanwhile: it would free the memory that it is reading (a crash). The next
   * turn comes before the next flush, because a flush waits for the turn after the one before it.
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
      const { state } = subscription;
      if (state.is !== 'live') continue;
      const { handle } = state;
      subscription.state = { is: 'held', handle, from: handle.cursor() };
      handle.pause();
    }
  }

  #mute(connection: Connection): void {
    if (connection.behindSinceMs === null) return;
    connection.ignore(connection.pings);
    for (const { state } of connection.subscriptions.values()) {
      if (state.is === 'held') connection.ignore(state.handle.channel);
    }
  }

  /** Resumes held subscriptions until the buffer is full again; the rest at the next drain. */
  resumeHeld(connection: Connection): void {
    const { clock, observer } = this.#parts;
    if (connection.isWaking) return;
    connection.isWaking = true;
    const step = (isOver: () => boolean) => {
      connection.isWaking = !this.#wake(connection, isOver);
      return !connection.isWaking;
    };
    Slices.of(clock).begin(`waking sockets of ${connection.caller.key}`, step, (error) => {
      connection.isWaking = false;
      observer.handlerFailed('waking of a socket', error);
    });
  }

  /** False: the time of its slice is over. */
  #wake(connection: Connection, isOver: () => boolean): boolean {
    const { subscriptions, options } = this.#parts;
    if (skippedBytes(connection) > options.bufferBytes) connection.pastBound = true;
    for (const subscription of connection.subscriptions.values()) {
      const { is } = subscription.state;
      if (is !== 'held' && is !== 'unstarted') continue;
      if (!connection.isOpen || connection.bufferedBytes > options.wakeBytes) return true;
      if (is === 'held') this.#resume(connection, subscription);
      else if (!subscriptions.start(connection, subscription)) return true;
      if (subscription.state.is === 'held') return true;
      if (isOver()) return false;
    }
    connection.behindSinceMs = null;
    connection.pastBound = false;
    connection.listen(connection.pings);
    return true;
  }

  #resume(connection: Connection, subscription: Subscription): void {
    const { subscriptions, renewal } = this.#parts;
    const { state, topic } = subscription;
    if (state.is !== 'held') return;
    if (subscription.generation !== subscriptions.generation) {
      renewal.renew(connection, subscription);
      return;
    }
    const { handle, from } = state;
    subscriptions.guarded(connection, subscription, () => {
      const progress =
        from === null || topic.periodic
          ? this.#startAnew(connection, subscription, handle)
          : this.#catchUp(connection, subscription, handle, from);
      if (!('whole' in progress)) return progress;
      subscriptions.setLiveOrHeld(connection, subscription, handle, progress);
      return null;
    });
  }

  #startAnew(
    connection: Connection,
    subscription: Subscription,
    handle: StreamHandle,
  ): Progress | Failure {
    const { delivery } = this.#parts;
    const { pendingResync } = subscription;
    return pendingResync === null
      ? delivery.snapshot(connection, subscription, handle)
      : delivery.resync(connection, subscription, handle, pendingResync);
  }

  /** The since parts come first even where a snapshot follows: final bars are among them. */
  #catchUp(
    connection: Connection,
    subscription: Subscription,
    handle: StreamHandle,
    from: StreamCursor,
  ): Progress | Failure {
    const { delivery } = this.#parts;
    const skipped = handle.traffic().frames - from.frames;
    const progress = delivery.changes(connection, subscription, from);
    if (progress instanceof Failure) return progress;
    if (progress !== null) {
      const enough = !connection.pastBound || skipped === 0;
      if (!progress.whole || enough) return progress;
    }
    const resynced = delivery.resync(connection, subscription, handle, { reason: 'slow', skipped });
    if (resynced instanceof Failure || resynced.from !== null || progress === null) return resynced;
    // The snapshot was dropped: what ends until the next one is sent before it.
    return { whole: false, from: progress.from };
  }
}

function skippedBytes(connection: Connection): number {
  let bytes = 0;
  for (const { state } of connection.subscriptions.values()) {
    if (state.is !== 'held' || state.from === null) continue;
    bytes += state.handle.traffic().bytes - state.from.bytes;
  }
  return bytes;
}
