/** Carries frames between a node and the client: a WebSocket, or streams of events. */
import type { Clock, Timer } from '../platform.ts';
import type { Frame } from './frame.ts';

export interface Link {
  /** Whether `request` replaces every earlier request; then the link cannot send other messages. */
  readonly requestsAll: boolean;
  /** Subscribes to these: elements of `topics` as the API describes them. */
  request(topics: readonly TopicRequest[]): void;
  send(frame: object): void;
  /** Ends it from this side; calls `onEnd` at once. */
  close(reason: string): void;
}

export interface TopicRequest {
  readonly requestId: string;
  readonly topic: string;
}

export interface LinkEvents {
  readonly onOpen: () => void;
  readonly onFrame: (frame: Frame) => void;
  /** Once, however it ends; `code` as of a WebSocket, 1006 where the connection was lost. */
  readonly onEnd: (code: number, reason: string) => void;
}

export const LOST = 1006;
/** The node shuts down. */
export const GOING_AWAY = 4001;
/** A node that never answers is given up sooner than a node that falls silent. */
const OPENING_MS = 5_000;

/** Calls `silent` when nothing was heard for a while. One timer a period, however much is heard. */
export class SilenceWatch {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #silent: (reason: string) => void;
  #timer: Timer;
  #heardMs: number;

  /** `limitMs`: once it is open. */
  constructor(clock: Clock, limitMs: number, silent: (reason: string) => void) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#silent = silent;
    this.#heardMs = clock.monotonicMs();
    this.#timer = this.#watch(Math.min(OPENING_MS, limitMs));
  }

  opened(): void {
    this.received();
    this.#timer.cancel();
    this.#timer = this.#watch(this.#limitMs);
  }

  received(): void {
    this.#heardMs = this.#clock.monotonicMs();
  }

  stop(): void {
    this.#timer.cancel();
  }

  #watch(limitMs: number, waitMs = limitMs): Timer {
    return this.#clock.after(waitMs, () => {
      const leftMs = limitMs - (this.#clock.monotonicMs() - this.#heardMs);
      if (leftMs > 0) this.#timer = this.#watch(limitMs, leftMs);
      else this.#silent(`no frame for ${limitMs} ms`);
    });
  }
}
