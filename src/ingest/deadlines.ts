/**
 * Ends of bars that the batch in hand will open. The fold knows those of applied entries; entries
 * that are still being drafted are the leader's to remember.
 */
import { intervalEnd, intervalStart, MINUTE_MS, RESOLUTIONS } from '../market/resolution.ts';

export class Deadlines {
  readonly #endsMs = new Set<number>();
  #minuteMs = -1;

  /** A trade at `timeMs` opens bars; those that end after `marketMs` will have to be closed. */
  add(timeMs: number, marketMs: number): void {
    const minuteMs = intervalStart('min1', timeMs);
    if (minuteMs === this.#minuteMs) return;
    this.#minuteMs = minuteMs;
    for (const resolution of RESOLUTIONS) {
      const endMs = intervalEnd(resolution, intervalStart(resolution, timeMs));
      if (endMs > marketMs) this.#endsMs.add(endMs);
    }
  }

  /** Takes the ends up to `marketMs`. */
  takeUpTo(marketMs: number): number[] {
    const due = [...this.#endsMs].filter((endMs) => endMs <= marketMs);
    for (const endMs of due) this.#endsMs.delete(endMs);
    return due;
  }

  clear(): void {
    this.#endsMs.clear();
    this.#minuteMs = -1;
  }
}

export function minuteOf(timeMs: number): number {
  return Math.floor(timeMs / MINUTE_MS) * MINUTE_MS;
}
