/**
 * One socket: sends JSON, receives frames, and ends once. Silence, an unreadable frame and a full
 * send queue end it like a lost connection.
 */
import type { Clock, OpenSocket, Socket, Timer } from '../platform.ts';
import type { Decode, Encoding, Frame } from './frame.ts';

interface FrameSocketDeps {
  readonly url: string;
  readonly encoding: Encoding;
  readonly decode: Decode;
  readonly openSocket: OpenSocket;
  readonly clock: Clock;
  /** After so long without a frame the connection counts as dead. */
  readonly silenceMs: number;
  readonly onOpen: () => void;
  readonly onFrame: (frame: Frame) => void;
  /** Once, however it ends; `code` 1006 where the connection was lost. */
  readonly onEnd: (code: number, reason: string) => void;
}

/** The server accepts 50 a second. */
const FRAMES_PER_SECOND = 40;
const MAX_QUEUED_FRAMES = 1_000;
/** A node that never answers is given up sooner than one that falls silent. */
const OPENING_MS = 5_000;
const LOST = 1006;
const OPEN = 1;

export class FrameSocket {
  readonly #deps: FrameSocketDeps;
  readonly #socket: Socket;
  readonly #queued: string[] = [];
  #silence: Timer;
  #lastFrameMs: number;
  #isEnded = false;
  #allowance = FRAMES_PER_SECOND;
  #refill: Timer | null = null;

  /** Throws on an invalid URL. */
  constructor(deps: FrameSocketDeps) {
    this.#deps = deps;
    this.#lastFrameMs = deps.clock.monotonicMs();
    const socket = deps.openSocket(deps.url, deps.encoding);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => {
      if (this.#isEnded) return;
      this.#lastFrameMs = deps.clock.monotonicMs();
      this.#silence.cancel();
      this.#silence = this.#watch(deps.silenceMs);
      deps.onOpen();
    };
    socket.onmessage = ({ data }) => this.#receive(data);
    socket.onclose = ({ code, reason }) => this.#end(code, reason);
    // A close follows.
    socket.onerror = () => {};
    this.#socket = socket;
    this.#silence = this.#watch(Math.min(OPENING_MS, deps.silenceMs));
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

  /** Ends it from this side; calls `onEnd` at once. */
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
    this.#lastFrameMs = this.#deps.clock.monotonicMs();
    const frame = this.#deps.decode(data);
    if (frame === null) this.close('unreadable frame');
    else this.#deps.onFrame(frame);
  }

  /** One timer per period, however many frames come meanwhile. */
  #watch(limitMs: number, waitMs = limitMs): Timer {
    const { clock } = this.#deps;
    return clock.after(waitMs, () => {
      const leftMs = limitMs - (clock.monotonicMs() - this.#lastFrameMs);
      if (leftMs > 0) this.#silence = this.#watch(limitMs, leftMs);
      else this.close(`no frame for ${limitMs} ms`);
    });
  }

  #end(code: number, reason: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#silence.cancel();
    this.#refill?.cancel();
    this.#queued.length = 0;
    this.#socket.onmessage = null;
    this.#socket.close();
    this.#deps.onEnd(code, reason);
  }
}
