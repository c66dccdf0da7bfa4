/**
 * Names that steps have marked, as nodes that are cut off. Several steps may mark one name at a
 * time: it stays marked until each of them has taken its own mark back.
 */
import type { Clock } from '../../../src/engine/runtime/clock.ts';

interface Mark {
  readonly sinceMs: number;
}

export class Marks {
  readonly #clock: Clock;
  /** Oldest first. */
  readonly #marks = new Map<string, Set<Mark>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns a function that removes this mark, and no other mark of the name. */
  add(name: string): () => void {
    const marks = this.#marks.get(name) ?? new Set();
    const mark = { sinceMs: this.#clock.monotonicMs() };
    this.#marks.set(name, marks.add(mark));
    return () => {
      marks.delete(mark);
      if (marks.size === 0 && this.#marks.get(name) === marks) this.#marks.delete(name);
    };
  }

  has(name: string): boolean {
    return this.#marks.has(name);
  }

  /** Time of its oldest mark; null: it has none. By the clock of the run. */
  sinceMs(name: string): number | null {
    const [oldest] = this.#marks.get(name) ?? [];
    return oldest?.sinceMs ?? null;
  }
}
