/**
 * One direction of a connection: items arrive in order, each after a delay. While the path is
 * closed nothing arrives and nothing is lost, as TCP repeats unconfirmed bytes.
 */
import type { Clock, Timer } from '../../../src/engine/runtime/clock.ts';

interface Path {
  readonly clock: Clock;
  /** Whole milliseconds: messages that arrive together cost one step of the clock. */
  delayMs(): number;
  isOpen(): boolean;
}

interface Item {
  readonly atMs: number;
  readonly arrive: () => void;
}

export class Pipe {
  readonly #path: Path;
  #items: Item[] = [];
  #next = 0;
  #lastMs = 0;
  #timer: Timer | null = null;
  #isRunning = false;

  constructor(path: Path) {
    this.#path = path;
  }

  get pending(): number {
    return this.#items.length - this.#next;
  }

  send(arrive: () => void, extraMs = 0): void {
    const nowMs = this.#path.clock.monotonicMs();
    const atMs = Math.max(this.#lastMs, nowMs + this.#path.delayMs() + extraMs);
    this.#lastMs = atMs;
    this.#items.push({ atMs, arrive });
    if (this.#timer === null && !this.#isRunning) this.#wait(atMs - nowMs);
  }

  /** The path may be open again. */
  reopen(): void {
    if (this.#timer === null && this.pending > 0) this.#wait(this.#path.delayMs());
  }

  end(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#items = [];
    this.#next = 0;
  }

  #wait(delayMs: number): void {
    this.#timer = this.#path.clock.after(Math.max(0, delayMs), () => this.#run());
  }

  #run(): void {
    this.#timer = null;
    this.#isRunning = true;
    // A timer may fire a little early.
    const untilMs = this.#path.clock.monotonicMs() + 0.5;
    for (;;) {
      const item = this.#items[this.#next];
      if (item === undefined) break;
      if (item.atMs > untilMs) {
        this.#wait(item.atMs - untilMs + 0.5);
        break;
      }
      if (!this.#path.isOpen()) break;
      this.#next += 1;
      item.arrive();
    }
    this.#isRunning = false;
    if (this.#next < this.#items.length && this.#next < 1_024) return;
    this.#items.splice(0, this.#next);
    this.#next = 0;
  }
}
