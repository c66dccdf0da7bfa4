/**
 * A loop on market time: what a real loop would do between two moments runs at once, and each turn
 * of it takes as long as it really takes.
 */
import type { Clock } from '../../src/engine/runtime/clock.ts';

interface Due {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

export class LoopClock implements Clock {
  readonly #due = new Set<Due>();
  #order = 0;
  #baseMs = 0;
  /** null: between turns. */
  #turnFromMs: number | null = null;

  nowMs = (): number => Math.floor(this.monotonicMs());

  monotonicMs = (): number =>
    this.#baseMs + (this.#turnFromMs === null ? 0 : performance.now() - this.#turnFromMs);

  soon = (run: () => void) => this.after(0, run);

  after(delayMs: number, run: () => void) {
    const due = { atMs: this.monotonicMs() + delayMs, order: this.#order++, run };
    this.#due.add(due);
    return { cancel: () => void this.#due.delete(due) };
  }

  /** Runs what is due within so many milliseconds; answers how long each turn took. */
  advance(ms: number): number[] {
    const untilMs = this.#baseMs + ms;
    const turns: number[] = [];
    for (let next = this.#first(); next !== null && next.atMs <= untilMs; next = this.#first()) {
      this.#due.delete(next);
      this.#baseMs = Math.max(this.#baseMs, next.atMs);
      this.#turnFromMs = performance.now();
      next.run();
      const tookMs = performance.now() - this.#turnFromMs;
      this.#turnFromMs = null;
      this.#baseMs += tookMs;
      turns.push(tookMs);
    }
    this.#baseMs = Math.max(this.#baseMs, untilMs);
    return turns;
  }

  #first(): Due | null {
    const inOrder = [...this.#due].sort((a, b) => a.atMs - b.atMs || a.order - b.order);
    return inOrder[0] ?? null;
  }
}
