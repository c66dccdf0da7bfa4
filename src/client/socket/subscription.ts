/**
 * One subscription, by the rule of protocol.md 6.4: a snapshot replaces state; a frame with a seq
 * at or below the known one is ignored; a `prev` above it is a loss, and it subscribes again with
 * `since`.
 *
 * It outlives sockets. Each time it subscribes under a new request id, so that a frame of an older
 * request cannot be mistaken for a frame of the newest.
 */
import { ApiError } from '../apiError.ts';
import type { Position } from '../types.ts';
import { type Frame, isRecord } from './frame.ts';
import type { TopicRequest } from './link.ts';

/** Callbacks of a subscription; none is called after `ended` or `close`. */
export interface Receiver {
  /** The whole state: replaces what was known. */
  snapshot(data: unknown, position: Position): void;
  /** `event` is `<Topic>Update`, `BarsRevised` or `OrdersRevised`. */
  update(event: string, data: unknown, position: Position): void;
  /** Nothing changed up to here. */
  idle(position: Position): void;
  ended(error: ApiError): void;
}

/** Why state was loaded or requested again. */
export type NoticeReason = 'slow' | 'epoch' | 'loss' | 'horizon' | 'checksum';

export interface SubscribeParams {
  readonly topic: string;
  readonly data?: object | undefined;
  readonly maxHz?: number | undefined;
  /** Continue from here: the position of an answer over HTTP. */
  readonly since?: Position | undefined;
}

interface SubscriptionDeps {
  /** Sends `request()` as soon as there is a socket. */
  readonly send: (subscription: Subscription) => void;
  /** The same after a delay: the server was not ready. */
  readonly sendLater: (subscription: Subscription) => void;
  readonly forget: (subscription: Subscription) => void;
  readonly notice: (reason: NoticeReason, topic: string, skipped: number) => void;
}

/** The state of a node, not of the log: every frame is a snapshot, and nothing is resumed. */
const PERIODIC = 'Health';

export class Subscription {
  readonly topic: string;
  /** Id of the newest request; null while there is none. */
  requestId: string | null = null;
  /** Times in a row that the server was not ready. */
  refusals = 0;
  readonly #params: SubscribeParams;
  readonly #receiver: Receiver;
  readonly #deps: SubscriptionDeps;
  #known: Position | null;
  #isLive = false;
  #isSnapshotDue = false;
  #isClosed = false;

  constructor(params: SubscribeParams, receiver: Receiver, deps: SubscriptionDeps) {
    this.topic = params.topic;
    this.#params = params;
    this.#receiver = receiver;
    this.#deps = deps;
    this.#known = params.since ?? null;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The request that continues from the known position. */
  request(requestId: string): TopicRequest {
    this.requestId = requestId;
    this.#isLive = false;
    const { topic, data, maxHz } = this.#params;
    const since = this.#known === null || topic === PERIODIC ? {} : { since: this.#known };
    return {
      requestId,
      topic,
      ...(data === undefined ? {} : { data }),
      ...since,
      ...(maxHz === undefined ? {} : { maxHz }),
    };
  }

  /** Its socket is gone. */
  disconnected(): void {
    this.requestId = null;
    this.#isLive = false;
  }

  /** Drops what it knows: a snapshot comes next. */
  restart(reason: NoticeReason): void {
    this.#known = null;
    this.#subscribeAgain(reason);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#deps.forget(this);
  }

  end(error: ApiError): void {
    if (this.#isClosed) return;
    this.close();
    this.#receiver.ended(error);
  }

  receive(frame: Frame): void {
    if (this.#isClosed) return;
    if (frame.event === 'Subscribed') this.#accepted(frame);
    else if (frame.event === 'Error') this.#refused(frame);
    else if (frame.event === 'Resync') this.#resync(frame);
    else if (this.#isLive && frame.event !== 'Unsubscribed') this.#update(frame);
  }

  /** A ping said that idle subscriptions are complete up to here. */
  idleUpTo(position: Position): void {
    const known = this.#known;
    if (!this.#isLive || this.#isSnapshotDue || known === null) return;
    if (known.epoch !== position.epoch || position.seq <= known.seq) return;
    this.#known = position;
    this.#receiver.idle(position);
  }

  #accepted({ data }: Frame): void {
    const recovered = isRecord(data) && data.recovered === true;
    this.#isLive = true;
    this.refusals = 0;
    this.#isSnapshotDue = !recovered;
    if (!recovered && this.#known !== null && this.topic !== PERIODIC) {
      this.#deps.notice('horizon', this.topic, 0);
    }
  }

  #refused({ data }: Frame): void {
    const { cause, message, retry } = isRecord(data) ? data : {};
    this.disconnected();
    if (retry === true) {
      this.refusals += 1;
      this.#deps.sendLater(this);
      return;
    }
    const text = typeof message === 'string' ? message : 'the server ended the subscription';
    this.end(new ApiError(typeof cause === 'string' ? cause : 'BAD_ANSWER', text));
  }

  #resync({ data }: Frame): void {
    const { reason, skipped } = isRecord(data) ? data : {};
    this.#isSnapshotDue = true;
    const cause = reason === 'epoch' ? 'epoch' : 'slow';
    this.#deps.notice(cause, this.topic, typeof skipped === 'number' ? skipped : 0);
  }

  #update({ event, data, epoch, seq, prev, snapshot }: Frame): void {
    const position = { epoch, seq };
    if (snapshot || this.topic === PERIODIC) {
      this.#known = position;
      this.#isSnapshotDue = false;
      this.#receiver.snapshot(data, position);
      return;
    }
    // Frames from before a Resync hold less than the snapshot that is due.
    if (this.#isSnapshotDue) return;
    const known = this.#known;
    if (known === null || known.epoch !== epoch || prev === null || prev > known.seq) {
      this.#subscribeAgain('loss');
      return;
    }
    if (seq <= known.seq) return;
    this.#known = position;
    this.#receiver.update(event, data, position);
  }

  #subscribeAgain(reason: NoticeReason): void {
    if (this.#isClosed) return;
    // Until the answer, frames fit no better, and a ping does not say that nothing is missing.
    this.#isLive = false;
    this.#deps.notice(reason, this.topic, 0);
    this.#deps.send(this);
  }
}
