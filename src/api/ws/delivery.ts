/**
 * Brings one subscription of one socket up to the applied position: by what changed since a
 * position, or by a snapshot. After either, the frames of its stream continue without a gap.
 * Nothing here waits: the whole work happens in one turn, between two batches of the fold.
 */
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { FrameMeta } from '../gateway/frame.ts';
import type { Observer } from '../gateway/observer.ts';
import type { NodeView } from '../gateway/port.ts';
import {
  askSince,
  type Part,
  type StreamCursor,
  type StreamHandle,
  type Streams,
} from '../topics/port.ts';
import type { Connection } from './connection.ts';
import type { ResyncReason, Subscription } from './subscription.ts';

/** How far a subscription got; `whole` is false when the socket dropped a frame. */
export interface Progress {
  readonly whole: boolean;
  /** Null: it needs a snapshot. */
  readonly from: StreamCursor | null;
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

  openHandle(
    connection: Connection,
    subscription: Subscription,
    ended: (failure: Failure) => void,
  ): StreamHandle {
    const { topic, source, cadenceMs, requestId } = subscription;
    const { encoding } = connection;
    const place = { topic, source, cadenceMs, requestId, encoding, to: connection, ended };
    return this.#streams.join(place);
  }

  /** false: its socket had no room. */
  acknowledge(
    connection: Connection,
    { params, requestId }: Subscription,
    state: { recovered: boolean; seq: number },
  ): boolean {
    if (!params.wantsAck && !connection.acks) return true;
    return connection.send(
      requestId,
      'Subscribed',
      { ...state },
      { ...this.facts(), seq: state.seq },
    );
  }

  /** Sends everything that changed after a cursor; null: only a snapshot can. */
  changes(
    connection: Connection,
    subscription: Subscription,
    cursor: StreamCursor,
  ): Progress | null | Failure {
    const { seq } = this.#nodeView.applied();
    let from = cursor;
    for (;;) {
      const changes = askSince(subscription.source, from.complete, seq);
      if (changes === null || changes instanceof Failure) return changes;
      const { parts, completeTo } = changes;
      const progress = this.parts(connection, subscription, parts, from);
      if (!progress.whole || progress.from === null || completeTo >= seq) return progress;
      from = { ...progress.from, complete: completeTo };
    }
  }

  /** Sends changes, one frame for each part, as a continuation of the client's state. */
  parts(
    connection: Connection,
    { requestId }: Subscription,
    parts: readonly Part[],
    from: StreamCursor,
  ): Progress {
    const facts = this.facts();
    let { prev } = from;
    for (const part of parts) {
      const { seq } = part;
      const frame =
        part.isSnapshot === true
          ? { ...facts, seq, prev: null, snapshot: true }
          : { ...facts, seq, prev };
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
    handle: StreamHandle,
  ): Progress | Failure {
    const payload = handle.snapshot();
    if (payload instanceof Failure) return payload;
    const facts = this.facts();
    const whole = connection.send(requestId, topic.event, payload, { ...facts, snapshot: true });
    const { seq } = facts;
    return { whole, from: whole ? { ...handle.traffic(), prev: seq, complete: seq } : null };
  }

  resync(
    connection: Connection,
    subscription: Subscription,
    handle: StreamHandle,
    why: ResyncReason,
  ): Progress | Failure {
    this.#observer.resync(why.reason);
    const told = connection.send(subscription.requestId, 'Resync', { ...why }, this.facts());
    const progress = this.snapshot(connection, subscription, handle);
    subscription.pendingResync = told ? null : why;
    if (progress instanceof Failure || told) return progress;
    return { whole: false, from: null };
  }
}
