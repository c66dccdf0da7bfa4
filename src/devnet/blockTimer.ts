/**
 * Forges one block in every slot. A block that the disk refuses is tried again after a pause.
 *
 * A chain whose newest block is ahead of the clock waits for it: a few slots after blocks on
 * demand, for as long as the clock was set back otherwise. The latter is a problem that it names.
 */
import { slotAt, slotStartMs } from '../cardano/codec/slots.ts';
import type { Clock, Timer } from '../engine/runtime/clock.ts';
import type { Ledger } from './ledger.ts';

/** How far blocks on demand may bring a paced chain ahead of its clock, in slots. */
export const MAX_AHEAD = 100;

const MIN_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;
/** A chain that waits for longer than this says so. */
const SILENT_MS = 10_000;

export class BlockTimer {
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  readonly #forged: () => void;
  readonly #waits: (message: string | null) => void;
  #next: Timer | null = null;
  /** Before a block is tried again that the disk refused; 0: it did not. */
  #pauseMs = 0;
  /** Since when it waits for the clock, by the monotonic clock; null: it does not. */
  #waitsSinceMs: number | null = null;
  #hasSaid = false;

  /** `waits` is called with the problem, and with null once blocks are made again. */
  constructor(
    ledger: Ledger,
    clock: Clock,
    forged: () => void,
    waits: (message: string | null) => void,
  ) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.#forged = forged;
    this.#waits = waits;
  }

  start(): void {
    this.stop();
    this.#tick();
  }

  stop(): void {
    this.#next?.cancel();
    this.#next = null;
  }

  /** Why no block is made, where that takes long; null: blocks are made. */
  get waiting(): string | null {
    if (this.#waitsSinceMs === null) return null;
    const { slots, blockSlot } = this.#ledger;
    const aheadMs = slotStartMs(slots, blockSlot + 1) - this.#clock.nowMs();
    const silentMs = this.#clock.monotonicMs() - this.#waitsSinceMs;
    if (silentMs < SILENT_MS && aheadMs <= MAX_AHEAD * slots.slotLengthMs) return null;
    const ahead = `${Math.ceil(aheadMs / 1000)} s ahead of this machine's clock`;
    return (
      `no block is made: the newest one is ${ahead}. Set the clock right if it was set back; ` +
      'otherwise wait'
    );
  }

  #tick(): void {
    const { slots, blockSlot } = this.#ledger;
    const slot = slotAt(slots, this.#clock.nowMs());
    if (slot > blockSlot) {
      this.#waitsSinceMs = null;
      this.#forge();
      this.#forged();
    } else this.#waitsSinceMs ??= this.#clock.monotonicMs();
    this.#sayChange();
    const delayMs = slotStartMs(slots, slot + 1) - this.#clock.nowMs();
    this.#next = this.#clock.after(Math.max(1, delayMs, this.#pauseMs), () => this.#tick());
  }

  #sayChange(): void {
    const message = this.waiting;
    if (this.#hasSaid === (message !== null)) return;
    this.#hasSaid = message !== null;
    this.#waits(message);
  }

  #forge(): void {
    const failure = this.#ledger.forge();
    const doubled = Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, 2 * this.#pauseMs));
    this.#pauseMs = failure === null ? 0 : doubled;
  }
}
