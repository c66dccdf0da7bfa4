/**
 * Blocks at their pace: one in every slot, by the clock. A disk that refuses one is told once and
 * tried again, less and less often.
 */
import { slotAt, slotStartMs } from '../cardano/codec/slots.ts';
import type { Clock, Timer } from '../engine/runtime/clock.ts';
import type { Ledger } from './ledger.ts';

const LEAST_PAUSE_MS = 100;
const MOST_PAUSE_MS = 10_000;

export class Pace {
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  readonly #forged: () => void;
  readonly #stalled: (message: string) => void;
  #next: Timer | null = null;
  /** Before a block is tried again that the disk refused; 0: it did not. */
  #pauseMs = 0;

  constructor(
    ledger: Ledger,
    clock: Clock,
    forged: () => void,
    stalled: (message: string) => void,
  ) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.#forged = forged;
    this.#stalled = stalled;
  }

  start(): void {
    this.stop();
    this.#tick();
  }

  stop(): void {
    this.#next?.cancel();
    this.#next = null;
  }

  #tick(): void {
    const { slots, blockSlot } = this.#ledger;
    const slot = slotAt(slots, this.#clock.nowMs());
    if (slot > blockSlot) {
      this.#forge();
      this.#forged();
    }
    const delayMs = slotStartMs(slots, slot + 1) - this.#clock.nowMs();
    this.#next = this.#clock.after(Math.max(1, delayMs, this.#pauseMs), () => this.#tick());
  }

  #forge(): void {
    const failure = this.#ledger.forge();
    if (failure !== null && this.#pauseMs === 0) this.#stalled(failure.message);
    const doubled = Math.min(MOST_PAUSE_MS, Math.max(LEAST_PAUSE_MS, 2 * this.#pauseMs));
    this.#pauseMs = failure === null ? 0 : doubled;
  }
}
