/**
 * The content of the table's rows. A busy market changes every row at once: each row is a separate
 * job for the next frames, so that a frame draws only as many rows as fit into it.
 */
import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Ticker } from '../../client/types.ts';
import type { FrameQueue } from '../frameQueue.ts';

export class TickerRows {
  readonly #frames: FrameQueue;
  readonly #rows = new Map<string, Row>();

  constructor(frames: FrameQueue) {
    this.#frames = frames;
  }

  /** Rows that are not among `items` are forgotten. */
  show(items: readonly Ticker[]): void {
    const gone = new Set(this.#rows.keys());
    for (const ticker of items) {
      gone.delete(ticker.asset);
      const row = this.#rows.get(ticker.asset);
      if (row === undefined) this.#rows.set(ticker.asset, new Row(ticker));
      else if (row.becomes(ticker)) this.#frames.add(row.write);
    }
    for (const asset of gone) {
      const row = this.#rows.get(asset);
      if (row !== undefined) this.#frames.cancel(row.write);
      this.#rows.delete(asset);
    }
  }

  /** null: it was not among the items shown last. */
  find(asset: string): ReadonlySignal<Ticker> | null {
    return this.#rows.get(asset)?.shown ?? null;
  }
}

class Row {
  readonly shown: Signal<Ticker>;
  #newest: Ticker;

  constructor(ticker: Ticker) {
    this.shown = signal(ticker);
    this.#newest = ticker;
  }

  /** Whether it is another one. */
  becomes(ticker: Ticker): boolean {
    const isOther = ticker !== this.#newest;
    this.#newest = ticker;
    return isOther;
  }

  /** A job of the frames. */
  readonly write = (): void => {
    this.shown.value = this.#newest;
  };
}
