/**
 * The last day of one pair as its ticker shows it, joined from the pair's own bars of minutes and
 * hours. Only the starts of traded minutes are kept in memory, because a ticker changes when a
 * minute leaves a window. Bars are read on request. The joined bars of ended hours are reused until
 * the window begins with another minute.
 *
 * Never: reads a clock, or rounds. Market time may step back by up to an hour.
 */
import { type Bar, joinBars } from '../market/bar.ts';
import type { Ratio } from '../market/ratio.ts';
import { FOREVER_MS, HOUR_MS, intervalStart, MINUTE_MS } from '../market/resolution.ts';
import {
  closeOf,
  type Range,
  rangeOf,
  type Sums,
  sumsOf,
  WINDOW_MS,
  type Window,
} from '../market/windows.ts';

/** Reads current bars of one pair. The pair may change a bar in place, so callers keep none. */
export interface CurrentBars {
  /** null: the interval has no trade. */
  at(resolution: 'min1' | 'hour1', startMs: number): Bar | null;
  /** Bars that start in [fromMs, toMs), oldest first. */
  between(resolution: 'min1' | 'hour1', fromMs: number, toMs: number): readonly Bar[];
}

/** The trades in [fromMs, toMs), where toMs is the start of an hour. */
interface Joined {
  readonly fromMs: number;
  readonly toMs: number;
  /** Minutes of the hour in which the window begins; null: they have no trade. */
  readonly edge: Bar | null;
  readonly firstHourMs: number;
  /** Whole hours after it; null: they have no trade. */
  readonly hours: Bar | null;
}

/** A minute is kept this long after it left the longest window: market time may step back. */
export const KEPT_MS = 60 * MINUTE_MS;
/** Old minutes are dropped in groups, because each removal moves all others. */
const MANY = 64;
/** A spark has at most 48. */
const MAX_CLOSES = 128;

export class RecentBars {
  readonly #bars: CurrentBars;
  /** Starts of traded minutes, ascending: all since a day ago, and the newest before that. */
  readonly #starts: number[];
  /** The first of them is the pair's first. */
  #isWhole: boolean;
  #atMs: number;
  readonly #joined = new Map<Window, Joined>();
  /** The price after a minute, by its start: each spark asks for nearly the same ones. */
  readonly #closes = new Map<number, Ratio>();

  /**
   * `starts` ascend: starts of the minutes from `atMs` − 24 h on, and of the newest minute before
   * that. `isWhole`: the pair had no trade before them.
   */
  constructor(bars: CurrentBars, starts: readonly number[], atMs: number, isWhole: boolean) {
    this.#bars = bars;
    this.#starts = [...starts];
    this.#isWhole = isWhole;
    this.#atMs = atMs;
  }

  /** Traded minutes that are known. */
  get length(): number {
    return this.#starts.length;
  }

  get newest(): Bar | null {
    return this.#minute(this.length - 1);
  }

  get newestMs(): number | null {
    return this.#starts.at(-1) ?? null;
  }

  /** Start of the pair's first minute; null where that is not known, or there is none. */
  get launchMs(): number | null {
    return this.#isWhole ? (this.#starts[0] ?? null) : null;
  }

  /** Price before the pair's first trade; null without a pool, or where `launchMs` is. */
  get launch(): Ratio | null {
    return this.#isWhole ? (this.#minute(0)?.pool?.open ?? null) : null;
  }

  /** Whether a minute was traded in that began in [fromMs, toMs). */
  hasBetween(fromMs: number, toMs: number): boolean {
    return (this.#starts[this.#indexAt(fromMs)] ?? toMs) < toMs;
  }

  /** Whether the windows at market time `atMs` can be told. */
  covers(atMs: number): boolean {
    const [firstMs] = this.#starts;
    return this.#isWhole || firstMs === undefined || firstMs < atMs - WINDOW_MS['24h'];
  }

  /** Sets market time, cut to the minute; `covers` it. */
  moveTo(atMs: number): void {
    this.#atMs = atMs;
    // The newest before the window stays: changes are measured against it.
    const count = this.#indexAt(atMs - WINDOW_MS['24h'] - KEPT_MS) - 1;
    if (count < MANY) return;
    this.#starts.splice(0, count);
    this.#isWhole = false;
  }

  /** The bar of a minute changed. */
  changed(startMs: number): void {
    this.#closes.delete(startMs);
    for (const [window, { toMs }] of this.#joined) if (startMs < toMs) this.#joined.delete(window);
    const index = this.#indexAt(startMs);
    // No window reaches a minute that is older than all known ones.
    if (this.#starts[index] === startMs || (index === 0 && !this.#isWhole)) return;
    if (this.#bars.at('min1', startMs) !== null) this.#starts.splice(index, 0, startMs);
  }

  sums(window: Window): Sums {
    return sumsOf(this.#join(window));
  }

  /** Price after the newest minute before the window; null: there is none. */
  before(window: Window): Ratio | null {
    return this.closeBefore(this.#atMs - WINDOW_MS[window]);
  }

  /** Price after the newest minute that began before a moment; null: none is known. */
  closeBefore(timeMs: number): Ratio | null {
    const startMs = this.#starts[this.#indexAt(timeMs) - 1];
    if (startMs === undefined) return null;
    const known = this.#closes.get(startMs);
    if (known !== undefined) return known;
    const bar = this.#bars.at('min1', startMs);
    if (bar === null) return null;
    const close = closeOf(bar);
    if (this.#closes.size >= MAX_CLOSES) this.#closes.clear();
    this.#closes.set(startMs, close);
    return close;
  }

  /** Highest and lowest price of the last 24 hours; null without a trade. */
  dayRange(): Range | null {
    const bar = this.#join('24h');
    return bar === null ? null : rangeOf(bar, bar.pool === null ? this.before('24h') : null);
  }

  /** All trades of a window; null: there are none. */
  #join(window: Window): Bar | null {
    const fromMs = this.#atMs - WINDOW_MS[window];
    const hourMs = intervalStart('hour1', this.#atMs);
    // A window that begins in this hour has only minutes.
    if (fromMs > hourMs) return joined(this.#bars.between('min1', fromMs, FOREVER_MS));
    const { edge, hours } = this.#ended(window, fromMs, hourMs);
    return joined([edge, hours, ...this.#since(hourMs)]);
  }

  #ended(window: Window, fromMs: number, toMs: number): Joined {
    const known = this.#joined.get(window);
    if (known?.fromMs === fromMs && known.toMs === toMs) return known;
    const firstHourMs = intervalStart('hour1', fromMs + HOUR_MS - MINUTE_MS);
    const isSame = known?.firstHourMs === firstHourMs && known.toMs === toMs;
    const next = {
      ...{ fromMs, toMs, firstHourMs },
      edge: this.#joinBetween('min1', fromMs, firstHourMs),
      hours: isSame ? known.hours : this.#joinBetween('hour1', firstHourMs, toMs),
    };
    this.#joined.set(window, next);
    return next;
  }

  #joinBetween(resolution: 'min1' | 'hour1', fromMs: number, toMs: number): Bar | null {
    if (!this.hasBetween(fromMs, toMs)) return null;
    return joined(this.#bars.between(resolution, fromMs, toMs));
  }

  /** Bars of the hours from this one on: trades of a feed may lie ahead of market time. */
  #since(hourMs: number): readonly (Bar | null)[] {
    const newestMs = this.newestMs ?? hourMs;
    if (newestMs >= hourMs + HOUR_MS) return this.#bars.between('hour1', hourMs, FOREVER_MS);
    return newestMs < hourMs ? [] : [this.#bars.at('hour1', hourMs)];
  }

  #minute(index: number): Bar | null {
    const startMs = this.#starts[index];
    return startMs === undefined ? null : this.#bars.at('min1', startMs);
  }

  /** Index of the first minute that began at `timeMs` or later. */
  #indexAt(timeMs: number): number {
    let [low, high] = [0, this.#starts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#starts[middle] ?? 0) < timeMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function joined(bars: readonly (Bar | null)[]): Bar | null {
  const [first, ...others] = bars.filter((bar) => bar !== null);
  return first === undefined ? null : joinBars(first.startMs, [first, ...others], false);
}
