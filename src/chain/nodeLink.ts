/** Whether our Cardano node is reporting its chain, concluded from its connections. */
import type { Clock } from '../engine/runtime/clock.ts';
import type { OgmiosObserver } from './ogmios/observer.ts';

export class NodeLink {
  readonly #clock: Clock;
  /** null: it is reporting. */
  #silentSinceMs: number | null;
  #why = 'it was not reached yet';
  /** Notes what happens to connections, then passes it to `next`. */
  readonly observer: OgmiosObserver;

  constructor(clock: Clock, next: OgmiosObserver) {
    this.#clock = clock;
    this.#silentSinceMs = clock.monotonicMs();
    this.observer = {
      nodeConnected: (connection) => {
        if (connection === 'chain') this.#silentSinceMs = null;
        next.nodeConnected(connection);
      },
      nodeLost: (connection, cause, message, retryInMs) => {
        if (connection === 'chain') this.#lost(message);
        next.nodeLost(connection, cause, message, retryInMs);
      },
      partPassedOver: (part) => next.partPassedOver(part),
      ogmiosFailed: (error) => {
        this.#lost('the thread that follows it ended');
        next.ogmiosFailed(error);
      },
    };
  }

  get isUp(): boolean {
    return this.#silentSinceMs === null;
  }

  get silentMs(): number {
    return this.#silentSinceMs === null ? 0 : this.#clock.monotonicMs() - this.#silentSinceMs;
  }

  /** Why it does not report, as its connection said last. */
  get why(): string {
    return this.#why;
  }

  #lost(why: string): void {
    this.#why = why;
    this.#silentSinceMs ??= this.#clock.monotonicMs();
  }
}
