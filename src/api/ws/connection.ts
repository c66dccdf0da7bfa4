/**
 * One socket: what it is subscribed to, how it says things, and what it has been guilty of.
 * Nothing that is sent is ever queued here; what the network does not take, uWebSockets.js holds
 * up to its limit.
 */
import type { Failure } from '../../engine/runtime/errors.ts';
import type { Json } from '../../engine/runtime/json.ts';
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
import type { RawSocket } from '../gateway/server.ts';
import type { Recipient } from '../topics/port.ts';
import type { Conduct } from './conduct.ts';
import type { Subscription } from './subscription.ts';

/** What is known of a socket before it opens. */
export interface Origin {
  readonly encoding: Encoding;
  readonly address: string;
  /** Closed with this right after opening; null for a welcome guest. */
  readonly refusal: { readonly code: number; readonly reason: string } | null;
  /** Set when the socket opens. */
  connection: Connection | null;
}

export type Socket = RawSocket<Origin>;

/** Status of `RawSocket.send` for a message that was thrown away. */
const DROPPED = 2;

export class Connection implements Recipient {
  readonly id: string;
  readonly encoding: Encoding;
  readonly address: string;
  readonly subscriptions = new Map<string, Subscription>();
  readonly conduct: Conduct;
  /** Where it gets its pings from. */
  pings = '';
  isOpen = true;
  /** `connect` asked for `Subscribed` and `Unsubscribed`. */
  acks = false;
  lastHeardMs: number;
  /** Since when it has not read what it was sent; null while it keeps up. */
  behindSinceMs: number | null = null;
  /** It has skipped more than may be made up for piece by piece. */
  pastBound = false;
  readonly #socket: Socket;
  /** Frames of the flush that is running: `#heads[i]` before the tail of `#joiners[i]`. */
  readonly #joiners: FrameBuilder[] = [];
  readonly #heads: Uint8Array[] = [];
  readonly #sendHeld = () => {
    for (const [index, joiner] of this.#joiners.entries()) {
      const head = this.#heads[index];
      if (head === undefined || !this.isOpen) return;
      this.#socket.send(joiner.frame(head), this.isBinary);
    }
  };

  constructor(socket: Socket, id: string, conduct: Conduct, nowMs: number) {
    const { encoding, address } = socket.getUserData();
    this.#socket = socket;
    this.id = id;
    this.encoding = encoding;
    this.address = address;
    this.conduct = conduct;
    this.lastHeardMs = nowMs;
  }

  get isBinary(): boolean {
    return this.encoding === 'msgpack';
  }

  get bufferedBytes(): number {
    return this.isOpen ? this.#socket.getBufferedAmount() : 0;
  }

  /** False when the frame was thrown away. */
  send(
    requestId: RequestId,
    event: string,
    data: Json | EncodedPayload,
    facts: FrameMeta,
  ): boolean {
    if (!this.isOpen) return false;
    const rendering = data instanceof EncodedPayload ? data : new EncodedPayload(data);
    const head = headOf(this.encoding, requestId, event, { snapshot: facts.snapshot ?? false });
    const frame = joinFrame(head, tailOf(this.encoding, rendering, facts));
    return this.#socket.send(frame, this.isBinary) !== DROPPED;
  }

  hold(joiner: FrameBuilder, head: Uint8Array): number {
    this.#joiners.push(joiner);
    return this.#heads.push(head);
  }

  deliver(): void {
    try {
      if (this.isOpen) this.#socket.cork(this.#sendHeld);
    } finally {
      this.forget();
    }
  }

  /** What is not sent yet of the running flush: whoever dropped a frame catches up on all of it. */
  forget(): void {
    this.#joiners.length = 0;
    this.#heads.length = 0;
  }

  refuse(requestId: RequestId, { cause, message, retry }: Failure, facts: FrameMeta): void {
    this.send(requestId, 'Error', { cause, message, retry }, facts);
  }

  listen(channel: string): void {
    if (this.isOpen) this.#socket.subscribe(channel);
  }

  ignore(channel: string): void {
    if (this.isOpen) this.#socket.unsubscribe(channel);
  }

  /** Says why and hangs up; the closed handler runs inside of this. */
  close(code: number, reason: string): void {
    if (this.isOpen) this.#socket.end(code, reason);
  }
}
