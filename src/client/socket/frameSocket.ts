/**
 * One socket: sends JSON, receives frames, and ends once. Silence, an unreadable frame and a full
 * send queue end it like a lost connection.
 */
import type { Clock, OpenSocket, Socket, Timer } from '../platform.ts';
import type { Decode, Encoding } from './frame.ts';
import { type Link, type LinkEvents, LOST, SilenceWatch, type TopicRequest } from './link.ts';

interface FrameSocketDeps extends LinkEvents {
  readonly url: string;
  readonly encoding: Encoding;
  readonly decode: Decode;
  readonly openSocket: OpenSocket;
  readonly clock: Clock;
  /** After so long without a frame the connection counts as dead. */
  readonly silenceMs: number;
}

/** The server accepts 50 a second. */
const FRAMES_PER_SECOND = 40;
const MAX_QUEUED_FRAMES = 1_000;
const MAX_TOPICS_PER_FRAME = 100;
/** Bytes of subscriptions per frame; the server accepts 65,536. */
const MAX_FRAME_BYTES = 60_000;
const OPEN = 1;

export class FrameSocket implements Link {
  readonly requestsAll = false;
  readonly #deps: FrameSocketDeps;
  readonly #socket: Socket;
  readonly #queued: string[] = [];
  readonly #silence: SilenceWatch;
  #isEnded = false;
  #allowance = FRAMES_PER_SECOND;
  #refill: Timer | null = null;

  /** Throws on an invalid URL. */
  constructor(deps: FrameSocketDeps) {
    this.#deps = deps;
    const socket = deps.openSocket(deps.url, deps.encoding);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      if (this.#isEnded) return;
      this.#silence.opened();
      deps.onOpen();
    };
    socket.onmessage = ({ data }) => this.#receive(data);
    socket.onclose = ({ code, reason }) => this.#end(code, reason);
    // A close follows.
    socket.onerror = () => {};
    this.#socket = socket;
    const { clock, silenceMs } = deps;
    this.#silence = new SilenceWatch(clock, silenceMs, (reason) => this.close(reason));
  }

  /** Many in one frame. */
  request(topics: readonly TopicRequest[]): void {
    let some: TopicRequest[] = [];
    let bytes = 0;
    const send = () => {
      if (some.length > 0) this.send({ messageType: 'subscribe', topics: some });
      some = [];
      bytes = 0;
    };
    for (const topic of topics) {
      const size = JSON.stringify(topic).length;
      if (some.length >= MAX_TOPICS_PER_FRAME || bytes + size > MAX_FRAME_BYTES) send();
      some.push(topic);
      bytes += size;
    }
    send();
  }

  send(frame: object): void {
    if (this.#isEnded || this.#socket.readyState !== OPEN) return;
    if (this.#queued.length >= MAX_QUEUED_FRAMES) {
      this.close('the send queue is full');
      return;
    }
    this.#queued.push(JSON.stringify(frame));
    this.#drain();
  }

  close(reason: string): void {
    this.#end(LOST, reason);
  }

  #drain(): void {
    while (this.#allowance > 0) {
      const frame = this.#queued.shift();
      if (frame === undefined) return;
      if (this.#socket.readyState !== OPEN) return;
      this.#allowance -= 1;
      this.#socket.send(frame);
      this.#refill ??= this.#deps.clock.after(1_000, () => {
        this.#refill = null;
        this.#allowance = FRAMES_PER_SECOND;
        this.#drain();
      });
    }
  }

  #receive(data: unknown): void {
    if (this.#isEnded) return;
    this.#silence.received();
    const frame = this.#deps.decode(data);
    if (frame === null) this.close('unreadable frame');
    else this.#deps.onFrame(frame);
  }

  #end(code: number, reason: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#silence.stop();
    this.#refill?.cancel();
    this.#queued.length = 0;
    this.#socket.onmessage = null;
    this.#socket.close();
    this.#deps.onEnd(code, reason);
  }
}
