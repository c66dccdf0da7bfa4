/**
 * One socket: opens, speaks JSON, hears frames, and ends once. A silence, a frame that cannot be
 * read and more to say than the server takes end it like a lost connection.
 */
import type { Clock, OpenSocket, Socket, Timer } from '../surroundings.ts';
import type { Decode, Encoding, Frame } from './frame.ts';

export interface LinkParts {
  readonly url: string;
  readonly encoding: Encoding;
  readonly decode: Decode;
  readonly openSocket: OpenSocket;
  readonly clock: Clock;
  /** Without any frame so long, the connection is taken for dead. */
  readonly silenceMs: number;
  readonly onOpen: () => void;
  readonly onFrame: (frame: Frame) => void;
  /** Once, however it ends; `code` 1006 where the connection was lost. */
  readonly onEnd: (code: number, reason: string) => void;
}

/** The server takes 50 a second. */
const FRAMES_PER_SECOND = 40;
const MOST_WAITING = 1_000;
/** A node that does not answer at all is left sooner than one that falls silent. */
const OPENING_MS = 5_000;
const LOST = 1006;
const OPEN = 1;

export class Link {
  readonly #parts: LinkParts;
  readonly #socket: Socket;
  readonly #waiting: string[] = [];
  #silence: Timer;
  #lastHeardMs: number;
  #isEnded = false;
  #allowance = FRAMES_PER_SECOND;
  #refill: Timer | null = null;

  /** Throws where the URL is none. */
  constructor(parts: LinkParts) {
    this.#parts = parts;
    this.#lastHeardMs = parts.clock.monotonicMs();
    const socket = parts.openSocket(parts.url, parts.encoding);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      if (this.#isEnded) return;
      this.#lastHeardMs = parts.clock.monotonicMs();
      this.#silence.cancel();
      this.#silence = this.#watch(parts.silenceMs);
      parts.onOpen();
    };
    socket.onmessage = ({ data }) => this.#hear(data);
    socket.onclose = ({ code, reason }) => this.#end(code, reason);
    // A close follows.
    socket.onerror = () => {};
    this.#socket = socket;
    this.#silence = this.#watch(Math.min(OPENING_MS, parts.silenceMs));
  }

  send(frame: object): void {
    if (this.#isEnded || this.#socket.readyState !== OPEN) return;
    if (this.#waiting.length >= MOST_WAITING) {
      this.close('more to say than the server takes');
      return;
    }
    this.#waiting.push(JSON.stringify(frame));
    this.#drain();
  }

  /** Ends it from this side; the end is told at once. */
  close(reason: string): void {
    this.#end(LOST, reason);
  }

  #drain(): void {
    while (this.#allowance > 0) {
      const frame = this.#waiting.shift();
      if (frame === undefined) return;
      if (this.#socket.readyState !== OPEN) return;
      this.#allowance -= 1;
      this.#socket.send(frame);
      this.#refill ??= this.#parts.clock.after(1_000, () => {
        this.#refill = null;
        this.#allowance = FRAMES_PER_SECOND;
        this.#drain();
      });
    }
  }

  #hear(data: unknown): void {
    if (this.#isEnded) return;
    this.#lastHeardMs = this.#parts.clock.monotonicMs();
    const frame = this.#parts.decode(data);
    if (frame === null) this.close('a frame that cannot be read');
    else this.#parts.onFrame(frame);
  }

  /** Looks again only when the time is over, however many frames come meanwhile. */
  #watch(limitMs: number, waitMs = limitMs): Timer {
    const { clock } = this.#parts;
    return clock.after(waitMs, () => {
      const leftMs = limitMs - (clock.monotonicMs() - this.#lastHeardMs);
      if (leftMs > 0) this.#silence = this.#watch(limitMs, leftMs);
      else this.close(`nothing heard for ${limitMs} ms`);
    });
  }

  #end(code: number, reason: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#silence.cancel();
    this.#refill?.cancel();
    this.#waiting.length = 0;
    this.#socket.onmessage = null;
    this.#socket.close();
    this.#parts.onEnd(code, reason);
  }
}
