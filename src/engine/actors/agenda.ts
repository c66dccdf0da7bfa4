/**
 * Which pools have bars whose interval ends when. Ends of all pairs coincide (minutes, hours ...),
 * so there are few of them. A name too many is harmless: the pool finds nothing to close.
 */
export class BarEndSchedule {
  readonly #pools = new Map<number, Set<string>>();
  /** Smallest end; what the fold compares each entry with. */
  #nextMs = Number.POSITIVE_INFINITY;

  add(endMs: number, pool: string): void {
    const pools = this.#pools.get(endMs);
    if (pools === undefined) this.#pools.set(endMs, new Set([pool]));
    else pools.add(pool);
    if (endMs < this.#nextMs) this.#nextMs = endMs;
  }

  /** Ends at or before `marketMs`, ascending, without taking them. */
  endsUpTo(marketMs: number): number[] {
    if (marketMs < this.#nextMs) return [];
    return [...this.#pools.keys()].filter((endMs) => endMs <= marketMs).sort((a, b) => a - b);
  }

  /** Takes the pools whose ends are at or before `marketMs`. */
  takeDue(marketMs: number): Set<string> {
    const due = new Set<string>();
    if (marketMs < this.#nextMs) return due;
    for (const endMs of this.endsUpTo(marketMs)) {
      for (const pool of this.#pools.get(endMs) ?? []) due.add(pool);
      this.#pools.delete(endMs);
    }
    this.#nextMs = Number.POSITIVE_INFINITY;
    for (const endMs of this.#pools.keys()) if (endMs < this.#nextMs) this.#nextMs = endMs;
    return due;
  }
}
