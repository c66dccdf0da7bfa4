/**
 * One subscription, by the rule of api.md 6.4: a snapshot replaces state; a frame with a seq at or
 * below the own one is ignored; a `prev` above it is a loss: it asks again, with `since`.
 *
 * It lives through any number of sockets. Each time it asks under a new request id, so that no
 * frame of an older ask can be taken for one of the newest.
 */
import { ApiError } from '../apiError.ts';
import type { Position } from '../types.ts';
import { type Frame, isRecord } from './frame.ts';

/** What a subscription tells; nothing is called after `ended` or `close`. */
export interface Receiver {
  /** Whole state: what was known before is void. */
  snapshot(data: unknown, position: Position): void;
  /** `event` is `<Topic>Update`, `BarsRevised` or `OrdersRevised`. */
  update(event: string, data: unknown, position: Position): void;
  /** Nothing changed up to here. */
  idle(position: Position): void;
  ended(error: ApiError): void;
}

/** Why something was loaded anew, or asked for again. */
export type NoticeReason = 'slow' | 'epoch' | 'loss' | 'horizon' | 'checksum';

export interface Wish {
  readonly topic: string;
  readonly data?: object | undefined;
  readonly maxHz?: number | undefined;
  /** Go on from here: of an answer over HTTP. */
  readonly since?: Position | undefined;
}

export interface SubscriptionParts {
  /** Sends what `wish()` says as soon as there is a socket. */
  readonly ask: (subscription: Subscription) => void;
  /** Asks again after a while; the server was not ready. */
  readonly askLater: (subscription: Subscription) => void;
  readonly forget: (subscription: Subscription) => void;
  readonly notice: (reason: NoticeReason, topic: string, skipped: number) => void;
}

/** It says the state of a node, not of the log: every frame is news, and nothing is resumed. */
const PERIODIC = 'Health';

export class Subscription {
  readonly topic: string;
  /** Under which the newest ask goes; null while there is none. */
  requestId: string | null = null;
  /** Times in a row that the server was not ready. */
  refusals = 0;
  readonly #wish: Wish;
  readonly #receiver: Receiver;
  readonly #parts: SubscriptionParts;
  #own: Position | null;
  #isLive = false;
  #isSnapshotDue = false;
  #isClosed = false;

  constructor(wish: Wish, receiver: Receiver, parts: SubscriptionParts) {
    this.topic = wish.topic;
    this.#wish = wish;
    this.#receiver = receiver;
    this.#parts = parts;
    this.#own = wish.since ?? null;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** What to send to go on from where it stands. */
  asking(requestId: string): object {
    this.requestId = requestId;
    this.#isLive = false;
    const { topic, data, maxHz } = this.#wish;
    const since = this.#own === null || topic === PERIODIC ? {} : { since: this.#own };
    return {
      requestId,
      topic,
      ...(data === undefined ? {} : { data }),
      ...since,
      ...(maxHz === undefined ? {} : { maxHz }),
    };
  }

  /** Its socket is gone. */
  lost(): void {
    this.requestId = null;
    this.#isLive = false;
  }

  /** Forgets what it knows: a snapshot comes next. */
  restart(reason: NoticeReason): void {
    this.#own = null;
    this.#askAgain(reason);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#parts.forget(this);
  }

  end(error: ApiError): void {
    if (this.#isClosed) return;
    this.close();
    this.#receiver.ended(error);
  }

  hear(frame: Frame): void {
    if (this.#isClosed) return;
    if (frame.event === 'Subscribed') this.#accepted(frame);
    else if (frame.event === 'Error') this.#refused(frame);
    else if (frame.event === 'Resync') this.#resync(frame);
    else if (this.#isLive && frame.event !== 'Unsubscribed') this.#news(frame);
  }

  /** A ping said that idle subscriptions are complete up to here. */
  idleUpTo(position: Position): void {
    const own = this.#own;
    if (!this.#isLive || this.#isSnapshotDue || own === null) return;
    if (own.epoch !== position.epoch || position.seq <= own.seq) return;
    this.#own = position;
    this.#receiver.idle(position);
  }

  #accepted({ data }: Frame): void {
    const recovered = isRecord(data) && data.recovered === true;
    this.#isLive = true;
    this.refusals = 0;
    this.#isSnapshotDue = !recovered;
    if (!recovered && this.#own !== null && this.topic !== PERIODIC) {
      this.#parts.notice('horizon', this.topic, 0);
    }
  }

  #refused({ data }: Frame): void {
    const { cause, message, retry } = isRecord(data) ? data : {};
    this.lost();
    if (retry === true) {
      this.refusals += 1;
      this.#parts.askLater(this);
      return;
    }
    const text = typeof message === 'string' ? message : 'the server ended the subscription';
    this.end(new ApiError(typeof cause === 'string' ? cause : 'BAD_ANSWER', text));
  }

  #resync({ data }: Frame): void {
    const { reason, skipped } = isRecord(data) ? data : {};
    this.#isSnapshotDue = true;
    const told = reason === 'epoch' ? 'epoch' : 'slow';
    this.#parts.notice(told, this.topic, typeof skipped === 'number' ? skipped : 0);
  }

  #news({ event, data, epoch, seq, prev, snapshot }: Frame): void {
    const position = { epoch, seq };
    if (snapshot || this.topic === PERIODIC) {
      this.#own = position;
      this.#isSnapshotDue = false;
      this.#receiver.snapshot(data, position);
      return;
    }
    // The stream's frames of before a Resync say less than the snapshot that is due.
    if (this.#isSnapshotDue) return;
    const own = this.#own;
    if (own === null || own.epoch !== epoch || prev === null || prev > own.seq) {
      this.#askAgain('loss');
      return;
    }
    if (seq <= own.seq) return;
    this.#own = position;
    this.#receiver.update(event, data, position);
  }

  #askAgain(reason: NoticeReason): void {
    if (this.#isClosed) return;
    this.#parts.notice(reason, this.topic, 0);
    this.#parts.ask(this);
  }
}
