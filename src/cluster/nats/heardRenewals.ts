/**
 * What a node hears of the lease without asking NATS: each renewal is a message on the key's
 * subject, which all nodes hear.
 *
 * A message there says what somebody asks to be stored, and not that it was stored: candidates ask
 * as well, and a holder that was overtaken asks once more. So only the text counts that NATS was
 * seen to hold. It keeps candidates from asking, for a lease after it was heard last; it never
 * makes one a leader, nor keeps one.
 */
import type { Clock } from '../../engine/runtime/clock.ts';

export class HeardRenewals {
  readonly #clock: Clock;
  readonly #leaseMs: number;
  /** What NATS was seen to hold. */
  #stored: string | null = null;
  #heardMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, leaseMs: number) {
    this.#clock = clock;
    this.#leaseMs = leaseMs;
  }

  /** What NATS holds: the renewals of this text count from now on. */
  seen(text: string): void {
    if (text === this.#stored) return;
    this.#stored = text;
    this.#heardMs = Number.NEGATIVE_INFINITY;
  }

  /** A message on the key's subject; empty: a release. */
  heard(text: string): void {
    if (text === '') this.#stored = null;
    else if (text === this.#stored) this.#heardMs = this.#clock.monotonicMs();
  }

  /** The value that was renewed during the last lease; null: none is known. */
  get renewed(): string | null {
    return this.#clock.monotonicMs() - this.#heardMs < this.#leaseMs ? this.#stored : null;
  }
}
