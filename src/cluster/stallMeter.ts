/**
 * How long a node has applied nothing although it should, as of the last look at its log. While
 * nobody can look, because NATS is silent, it stands still: that silence is measured elsewhere.
 */
import type { Clock } from '../engine/runtime/clock.ts';

export class StallMeter {
  readonly #clock: Clock;
  #sinceMs: number | null = null;
  #lookedMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get stalledMs(): number {
    return this.#sinceMs === null ? 0 : Math.max(0, this.#lookedMs - this.#sinceMs);
  }

  /** `shouldApply`: there is something that the node has not applied, or cannot. */
  looked(shouldApply: boolean): void {
    this.#lookedMs = this.#clock.monotonicMs();
    this.#sinceMs = shouldApply ? (this.#sinceMs ?? this.#lookedMs) : null;
  }

  applied(): void {
    if (this.#sinceMs !== null) this.#sinceMs = this.#clock.monotonicMs();
  }
}
