/**
 * Which pairs have bars whose interval ends when. Ends of all pairs coincide (minutes, hours ...),
 * so there are few of them. A pair too many is harmless: it finds nothing to end.
 */
export class BarEndSchedule {
  readonly #pairs = new Map<number, Set<number>>();
  /** Smallest end; the fold compares each entry's time with it. */
  #nextMs = Number.POSITIVE_INFINITY;

  add(endMs: number, pair: number): void {
    const pairs = this.#pairs.get(endMs);
    if (pairs === undefined) this.#pairs.set(endMs, new Set([pair]));
    else pairs.add(pair);
    if (endMs < this.#nextMs) this.#nextMs = endMs;
  }

  /** Ends at or before `marketMs`, ascending, without taking them. */
  endsUpTo(marketMs: number): number[] {
    if (marketMs < this.#nextMs) return [];
    return [...this.#pairs.keys()].filter((endMs) => endMs <= marketMs).sort((a, b) => a - b);
  }

  isDue(marketMs: number): boolean {
    return marketMs >= this.#nextMs;
  }

  /** Takes the pairs whose ends are at or before `marketMs`. */
  takeDue(marketMs: number): Set<number> {
    let due: Set<number> | null = null;
    for (const endMs of this.endsUpTo(marketMs)) {
      const pairs = this.#pairs.get(endMs);
      if (pairs === undefined) continue;
      // Most often there is one: it is not copied.
      if (due === null) due = pairs;
      else for (const pair of pairs) due.add(pair);
      this.#pairs.delete(endMs);
    }
    this.#nextMs = Number.POSITIVE_INFINITY;
    for (const endMs of this.#pairs.keys()) if (endMs < this.#nextMs) this.#nextMs = endMs;
    return due ?? new Set();
  }
}
