/** The events of a stream one by one, and a word when none comes for a while. */
import type { Clock, Timer } from '../engine/runtime/clock.ts';
import type { ChainEvent, ChainStream } from './port.ts';

export class StreamReader {
  readonly #stream: ChainStream;
  #pending: Promise<ChainEvent | null> | null = null;
  #isReady = false;
  #wake = () => {};

  constructor(stream: ChainStream) {
    this.#stream = stream;
  }

  /** `quiet` after `waitMs` of `clock` without an event, which is then read by a later call. */
  async next(waitMs: number, clock: Clock): Promise<ChainEvent | null | 'quiet'> {
    const pending = this.#pending ?? this.#ask();
    const isPatient = waitMs === Number.POSITIVE_INFINITY;
    if (!isPatient && !this.#isReady) {
      await this.#readyOrLate(waitMs, clock);
      if (!this.#isReady) return 'quiet';
    }
    const event = await pending;
    this.#pending = null;
    return event;
  }

  close(): Promise<void> {
    return this.#stream.close();
  }

  /** Heard of once, however often it is waited for: it may take days. */
  #ask(): Promise<ChainEvent | null> {
    const pending = this.#stream.next();
    this.#pending = pending;
    this.#isReady = false;
    const ready = () => {
      this.#isReady = true;
      this.#wake();
    };
    pending.then(ready, ready);
    return pending;
  }

  async #readyOrLate(waitMs: number, clock: Clock): Promise<void> {
    let timer: Timer | null = null;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = clock.after(waitMs, resolve);
    });
    cancel(timer);
  }
}

function cancel(timer: Timer | null): void {
  timer?.cancel();
}
