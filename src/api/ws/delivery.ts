/**
 * Brings one subscription of one socket up to the applied position: by what changed since a
 * position, or by a snapshot. After either, the frames of its stream continue without a gap.
 * Nothing here waits: all of it happens in one turn, between two batches of the fold.
 */
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { FrameMeta } from '../gateway/frame.ts';
import type { Observer } from '../gateway/observer.ts';
import type { NodeView } from '../gateway/port.ts';
import { askSince, type Mark, type Part, type Seat, type Streams } from '../topics/port.ts';
import type { Connection } from './connection.ts';
import type { Subscription } from './subscription.ts';

/** How far a subscription got; `whole` is false when the socket threw a frame away. */
export interface Progress {
  readonly whole: boolean;
  /** Null: it needs a snapshot. */
  readonly from: Mark | null;
}

export class Delivery {
  readonly #nodeView: NodeView;
  readonly #streams: Streams;
  readonly #clock: Clock;
  readonly #observer: Observer;

  constructor(nodeView: NodeView, streams: Streams, clock: Clock, observer: Observer) {
    this.#nodeView = nodeView;
    this.#streams = streams;
    this.#clock = clock;
    this.#observer = observer;
  }

  /** For frames that are not of a stream. */
  facts(): FrameMeta {
    const { epoch, seq } = this.#nodeView.applied();
    return { epoch, seq, prev: null, tsMs: this.#clock.nowMs() };
  }

  seat(
    connection: Connection,
    subscription: Subscription,
    ended: (failure: Failure) => void,
  ): Seat {
    const { topic, source, cadenceMs, requestId } = subscription;
    const { encoding } = connection;
    const place = { topic, source, cadenceMs, requestId, encoding, to: connection, ended };
    return this.#streams.join(place);
  }

  acknowledge(
    connection: Connection,
    { wish, requestId }: Subscription,
    state: { recovered: boolean; seq: number },
  ): void {
    if (!wish.wantsAck && !connection.acks) return;
    connection.send(requestId, 'Subscribed', { ...state }, { ...this.facts(), seq: state.seq });
  }

  /** Everything that changed after a mark; null where only a snapshot can tell. */
  changes(
    connection: Connection,
    subscription: Subscription,
    mark: Mark,
  ): Progress | null | Failure {
    const { seq } = this.#nodeView.applied();
    let from = mark;
    for (;;) {
      const changes = askSince(subscription.source, from.complete, seq);
      if (changes === null || changes instanceof Failure) return changes;
      const { parts, completeTo } = changes;
      const progress = this.parts(connection, subscription, parts, from);
      if (!progress.whole || progress.from === null || completeTo >= seq) return progress;
      from = { ...progress.from, complete: completeTo };
    }
  }

  /** What changed, one frame for each part, as a continuation of what the client has. */
  parts(
    connection: Connection,
    { requestId }: Subscription,
    parts: readonly Part[],
    from: Mark,
  ): Progress {
    const facts = this.facts();
    let { prev } = from;
    for (const part of parts) {
      const frame = { ...facts, seq: part.seq, prev };
      if (!connection.send(requestId, part.event, part.data, frame)) {
        // Asked again with the last part that went out; where none did, nothing has changed.
        const complete = prev === from.prev ? from.complete : prev;
        return { whole: false, from: { ...from, prev, complete } };
      }
      prev = part.seq;
    }
    return { whole: true, from: { ...from, prev, complete: facts.seq } };
  }

  snapshot(
    connection: Connection,
    { requestId, topic }: Subscription,
    seat: Seat,
  ): Progress | Failure {
    const rendering = seat.snapshot();
    if (rendering instanceof Failure) return rendering;
    const facts = this.facts();
    const whole = connection.send(requestId, topic.event, rendering, { ...facts, snapshot: true });
    const { seq } = facts;
    return { whole, from: whole ? { ...seat.traffic(), prev: seq, complete: seq } : null };
  }

  resync(
    connection: Connection,
    subscription: Subscription,
    seat: Seat,
    why: { reason: 'slow' | 'epoch'; skipped: number },
  ): Progress | Failure {
    this.#observer.resync(why.reason);
    const told = connection.send(subscription.requestId, 'Resync', { ...why }, this.facts());
    const progress = this.snapshot(connection, subscription, seat);
    if (progress instanceof Failure || told) return progress;
    return { whole: false, from: null };
  }
}
