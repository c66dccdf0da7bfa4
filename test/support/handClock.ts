/**
 * Time that stands still until a test moves it, while sockets and turns of the loop are real: a
 * test's claims about rates, windows and pings hold however slow the machine is.
 */
import { type Clock, systemClock, type Timer } from '../../src/engine/runtime/clock.ts';

interface Due {
  readonly atMs: number;
  readonly run: () => void;
  /** Set once time runs by itself. */
  timer: Timer | null;
}

export class HandClock implements Clock {
  #ms = 1_000_000;
  #due: Due[] = [];
  /** When time started to run by itself, by the system's clock; null: it does not. */
  #freeMs: number | null = null;

  nowMs = () => Math.floor(this.monotonicMs());
  monotonicMs = () => this.#ms + (this.#freeMs === null ? 0 : performance.now() - this.#freeMs);
  soon = (run: () => void): Timer => systemClock.soon(run);

  after(delayMs: number, run: () => void): Timer {
    if (this.#freeMs !== null) return systemClock.after(delayMs, run);
    const due: Due = { atMs: this.#ms + delayMs, run, timer: null };
    this.#due.push(due);
    return {
      cancel: () => {
        this.#due = this.#due.filter((one) => one !== due);
        due.timer?.cancel();
      },
    };
  }

  /**
   * Runs the timers that are due until then, in order. A turn of the loop takes no time of this
   * clock.
   */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#ms + ms;
    for (;;) {
      const [next] = this.#due.toSorted((a, b) => a.atMs - b.atMs);
      if (next === undefined || next.atMs > untilMs) break;
      this.#due = this.#due.filter((one) => one !== next);
      this.#ms = Math.max(this.#ms, next.atMs);
      next.run();
      await turns();
    }
    this.#ms = untilMs;
    await turns();
  }

  /** Time runs by itself: stopping a node waits for it. */
  letGo(): void {
    this.#freeMs = performance.now();
    for (const due of this.#due.splice(0)) due.timer = systemClock.soon(due.run);
  }
}

/** Lets bytes travel between sockets of this process. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((done) => setImmediate(done));
}
