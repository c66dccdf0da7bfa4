/** Bars in the order of time, changed one by one. */

/**
 * Code that bars of prices and of market caps share; times are Unix seconds, prices exact decimals.
 */
export interface Candle {
  readonly time: number;
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly trades: number;
  readonly final: boolean;
}

/** A bar, or the time of a removed bar. */
export type BarPatch<B extends Candle> = B | { readonly time: number; readonly removed: true };

/** Beyond it the oldest are dropped; a chart that needs them loads them again. */
const MAX_BARS = 50_000;

export class BarRows<B extends Candle> {
  /** Oldest first. */
  readonly bars: B[];
  hasOlder: boolean;
  /** Flat bar of a launch without trades. */
  standing: B | null = null;

  constructor(bars: readonly B[], hasOlder: boolean) {
    this.bars = [...bars];
    this.hasOlder = hasOlder;
  }

  /** `isFilled`: flat bars without trades are bars like others. */
  apply(patches: readonly BarPatch<B>[], isFilled: boolean) {
    const changed: B[] = [];
    const removed: number[] = [];
    for (const bar of [...patches].sort((a, b) => a.time - b.time)) {
      if ('removed' in bar) {
        if (this.#remove(bar.time)) removed.push(bar.time);
      } else if (!isFilled && bar.trades === 0) {
        // If a traded bar was there, a rollback removed its trades.
        if (this.#remove(bar.time)) removed.push(bar.time);
        this.standing = bar;
      } else if (this.#put(bar)) changed.push(bar);
    }
    if (this.bars.length > 0) this.standing = null;
    return { changed, removed };
  }

  prepend(older: readonly B[], hasOlder: boolean): void {
    this.bars.unshift(...older);
    this.hasOlder = hasOlder;
  }

  /** False for a bar older than the known bars. */
  #put(bar: B): boolean {
    const [oldest] = this.bars;
    if (this.hasOlder && (oldest === undefined || bar.time < oldest.time)) return false;
    const at = this.#placeOf(bar.time);
    const isThere = this.bars[at]?.time === bar.time;
    this.bars.splice(at, isThere ? 1 : 0, bar);
    if (this.bars.length > MAX_BARS) {
      this.bars.shift();
      this.hasOlder = true;
    }
    return true;
  }

  #remove(time: number): boolean {
    if (this.standing?.time === time) this.standing = null;
    const at = this.#placeOf(time);
    if (this.bars[at]?.time !== time) return false;
    this.bars.splice(at, 1);
    return true;
  }

  /** Index of the first bar that is not before `time`. */
  #placeOf(time: number): number {
    let [low, high] = [0, this.bars.length];
    // Nearly always it is the last bar.
    if ((this.bars[high - 1]?.time ?? -1) < time) return high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.bars[middle]?.time ?? 0) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
