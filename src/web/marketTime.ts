/**
 * The time from which "ago" is measured. A live market runs on the wall clock; a replay of last
 * year's trades has its own time, and ages count from that.
 */
import { type Signal, signal } from '@preact/signals';
import type { Clock } from '../engine/runtime/clock.ts';

const NEAR_MS = 3_600_000;
const TICK_MS = 1_000;

export class MarketTime {
  /** Unix seconds; a new value each second. */
  readonly seconds: Signal<number>;
  readonly #clock: Clock;
  /** Market time minus wall time, where they are far apart. */
  #offsetMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.seconds = signal(this.#read());
    this.#tick();
  }

  /** Market time as a node says it, Unix seconds. */
  observe(seconds: number | null): void {
    if (seconds === null) return;
    const apart = seconds * 1000 - this.#clock.nowMs();
    this.#offsetMs = Math.abs(apart) < NEAR_MS ? 0 : apart;
    this.seconds.value = this.#read();
  }

  #tick(): void {
    this.seconds.value = this.#read();
    this.#clock.after(TICK_MS, () => this.#tick());
  }

  #read(): number {
    return Math.floor((this.#clock.nowMs() + this.#offsetMs) / 1000);
  }
}
