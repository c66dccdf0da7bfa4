/**
 * One socket: its subscriptions and how frames are sent to it. Nothing is queued here:
 * uWebSockets.js buffers bytes that the network does not take yet, up to its limit.
 */
import type { Failure } from '../../engine/runtime/errors.ts';
import type { Json } from '../../engine/runtime/json.ts';
import type { Caller } from '../gateway/address.ts';
import {
  EncodedPayload,
  type Encoding,
  type FrameBuilder,
  type FrameMeta,
  headOf,
  joinFrame,
  type RequestId,
  tailOf,
} from '../gateway/frame.ts';
import type { Waiting } from '../gateway/positionWaiters.ts';
import type { RawSocket } from '../gateway/server.ts';
import type { Recipient } from '../topics/port.ts';
import type { FrameRateGuard } from './frameRateGuard.ts';
import type { Subscription } from './subscription.ts';

/** Properties of a socket that are known before it opens. */
export interface Origin {
  readonly encoding: Encoding;
  readonly caller: Caller;
  /** The socket is closed with this right after it opens; null: it stays open. */
  readonly refusal: { readonly code: number; readonly reason: string } | null;
  /** Set when the socket opens. */
  connection: Connection | null;
}

export type Socket = RawSocket<Origin>;

/** As much of a WebSocket as frames are sent through; an event stream has it too. */
export interface FrameSink {
  /** `DROPPED`: the frame was thrown away. */
  send(frame: Uint8Array, isBinary: boolean): number;
  cork(run: () => void): unknown;
  subscribe(channel: string): unknown;
  unsubscribe(channel: string): unknown;
  getBufferedAmount(): number;
  end(code: number, reason: string): void;
}

/** Status of `FrameSink.send` for a frame that was thrown away. */
export const DROPPED = 2;

export class Connection implements Recipient {
  readonly id: string;
  readonly encoding: Encoding;
  /** The caller whose limits it counts against; changes when the client presents an API key. */
  caller: Caller;
  readonly subscriptions = new Map<string, Subscription>();
  /** Subscriptions that were asked for and not looked at yet. */
  readonly requested = new Map<string, Waiting>();
  readonly frameRateGuard: FrameRateGuard;
  /** Channel of its pings. */
  pings = '';
  isOpen = true;
  /** `connect` asked for `Subscribed` and `Unsubscribed`. */
  acks = false;
  /** Subscriptions that the request which opened it has paid for. */
  prepaidStarts = 0;
  /** Bytes sent to this socket alone. */
  sentBytes = 0;
  lastHeardMs: number;
  /** When it fell behind in reading; null while it keeps up. */
  behindSinceMs: number | null = null;
  /** It reads again, and its subscriptions are being resumed. */
  isWaking = false;
  /** It has skipped too much to catch up by changes alone. */
  pastBound = false;
  readonly #sink: FrameSink;
  /** Frames of the flush that is running: `#heads[i]` before the tail of `#builders[i]`. */
  readonly #builders: FrameBuilder[] = [];
  readonly #heads: Uint8Array[] = [];
  readonly #sendHeld = () => {
    for (const [index, builder] of this.#builders.entries()) {
      const head = this.#heads[index];
      if (head === undefined || !this.isOpen) return;
      this.#sink.send(builder.frame(head), this.isBinary);
    }
  };

  constructor(
    sink: FrameSink,
    { encoding, caller }: Pick<Origin, 'encoding' | 'caller'>,
    id: string,
    frameRateGuard: FrameRateGuard,
    nowMs: number,
  ) {
    this.#sink = sink;
    this.id = id;
    this.encoding = encoding;
    this.caller = caller;
    this.frameRateGuard = frameRateGuard;
    this.lastHeardMs = nowMs;
  }

  get isBinary(): boolean {
    return this.encoding === 'msgpack';
  }

  get bufferedBytes(): number {
    return this.isOpen ? this.#sink.getBufferedAmount() : 0;
  }

  /** False when the frame was thrown away. */
  send(
    requestId: RequestId,
    event: string,
    data: Json | EncodedPayload,
    facts: FrameMeta,
  ): boolean {
    if (!this.isOpen) return false;
    if (this.#builders.length > 0) this.deliver();
    const payload = data instanceof EncodedPayload ? data : new EncodedPayload(data);
    const head = headOf(this.encoding, requestId, event, { snapshot: facts.snapshot ?? false });
    const frame = joinFrame(head, tailOf(this.encoding, payload, facts));
    this.sentBytes += frame.length;
    return this.#sink.send(frame, this.isBinary) !== DROPPED;
  }

  /** Kept until `deliver`, or until something else is sent, which goes out after it. */
  keepFrame(builder: FrameBuilder, head: Uint8Array): number {
    this.#builders.push(builder);
    return this.#heads.push(head);
  }

  deliver(): void {
    try {
      if (this.isOpen) this.#sink.cork(this.#sendHeld);
    } finally {
      this.forget();
    }
  }

  /**
   * Discards the unsent frames of the running flush: a socket that dropped one
   * catches up later.
   */
  forget(): void {
    this.#builders.length = 0;
    this.#heads.length = 0;
  }

  refuse(requestId: RequestId, { cause, message, retry }: Failure, facts: FrameMeta): void {
    this.send(requestId, 'Error', { cause, message, retry }, facts);
  }

  /** Its API key is gone. */
  revoke(_facts: FrameMeta): void {
    this.close(4501, 'this API key was revoked');
  }

  listen(channel: string): void {
    if (this.isOpen) this.#sink.subscribe(channel);
  }

  ignore(channel: string): void {
    if (this.isOpen) this.#sink.unsubscribe(channel);
  }

  /** Closes with a code and a reason; the `close` handler runs inside this call. */
  close(code: number, reason: string): void {
    if (this.isOpen) this.#sink.end(code, reason);
  }
}
