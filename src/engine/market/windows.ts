/**
 * The trades of one pair, minute by minute, and what the last 5 minutes, hour, 6 hours and 24 hours
 * held. A window of length w at market time M, cut to the minute, holds the trades with time ≥
 * M − w, which are whole minutes. Source: protocol.md section 9.1.
 *
 * Assumes: minutes are those of the pair's `min1` bars.
 * Never:   reads a clock, or rounds.
 * Cost:    a trade and a minute that leaves a window are constant work each; M may also step back.
 */
import { assert } from '../runtime/assert.ts';
import type { Bar } from './bar.ts';
import { MinuteColumn } from './minuteColumn.ts';
import { compareRatios, type Ratio } from './ratio.ts';
import { HOUR_MS, MINUTE_MS } from './resolution.ts';
import type { Trade } from './trade.ts';

export const WINDOWS = ['5m', '1h', '6h', '24h'] as const;
export type Window = (typeof WINDOWS)[number];

export const WINDOW_MS: Readonly<Record<Window, number>> = {
  '5m': 5 * MINUTE_MS,
  '1h': 60 * MINUTE_MS,
  '6h': 360 * MINUTE_MS,
  '24h': 1440 * MINUTE_MS,
};

/** What windows add up. */
export interface MinuteSums {
  readonly volume: bigint;
  readonly trades: number;
  /** null: the pair has no pool, so the sides are unknown. */
  readonly buys: number | null;
}

/** Of a `min1` bar. Prices: smallest quote units for one smallest base unit. */
export interface Minute extends MinuteSums {
  readonly startMs: number;
  /** Spot before its first trade; null without a pool. */
  readonly open: Ratio | null;
  readonly high: Ratio;
  readonly low: Ratio;
  /** Spot after its last trade. */
  readonly close: Ratio;
  /** Moment of its last trade. */
  readonly lastMs: number;
}

export function minuteOf(bar: Bar): Minute {
  const { startMs, quoteVolume, trades, pool, high, low, close } = bar;
  const sums = { startMs, volume: quoteVolume, trades, lastMs: close.timeMs };
  if (pool !== null) return { ...sums, ...pool };
  return { ...sums, buys: null, open: null, ...pricesOf(high, low, close) };
}

function pricesOf(high: Trade, low: Trade, close: Trade): Pick<Minute, 'high' | 'low' | 'close'> {
  return { high: priceOf(high), low: priceOf(low), close: priceOf(close) };
}

function priceOf({ quoteAmount, baseAmount }: Trade): Ratio {
  return { numerator: quoteAmount, denominator: baseAmount };
}

export interface Range {
  readonly high: Ratio;
  readonly low: Ratio;
}

export interface Sums {
  readonly volume: bigint;
  readonly trades: number;
  /** Of minutes that know their sides. */
  readonly buys: number;
}

interface RunningWindow {
  readonly lengthMs: number;
  /** Of the first minute inside. */
  first: number;
  volume: bigint;
  trades: number;
  buys: number;
}

/** Minutes that left the longest window stay for so long, for a market time that steps back. */
export const KEPT_MS = 60 * MINUTE_MS;
const SPLICED = 64;

export class MinuteWindows {
  readonly #minutes: MinuteColumn;
  /** Ranges of whole hours, by their number; null: none was asked for. */
  #hours: Map<number, Range> | null = null;
  /** From the start of a minute to the end of its hour. */
  #edge: { readonly firstMs: number; readonly range: Range } | null = null;
  readonly #windows: readonly RunningWindow[];
  #atMs: number;
  /** The first minute held is the pair's first. */
  #isWhole: boolean;

  /**
   * `minutes` ascend: those from `M − 24 h` on, and the newest before that. `isWhole`: before them
   * the pair had no trade.
   */
  constructor(minutes: readonly Minute[], atMs: number, isWhole: boolean) {
    this.#minutes = new MinuteColumn(minutes);
    this.#isWhole = isWhole;
    this.#atMs = atMs;
    this.#windows = WINDOWS.map((name) => ({
      lengthMs: WINDOW_MS[name],
      first: this.#minutes.length,
      volume: 0n,
      trades: 0,
      buys: 0,
    }));
    this.moveTo(atMs);
  }

  get newest(): Minute | null {
    return this.#minutes.at(this.#minutes.length - 1) ?? null;
  }

  /** The pair's first minute; null where that is not held, or there is none. */
  get launch(): Minute | null {
    return this.#isWhole ? (this.#minutes.at(0) ?? null) : null;
  }

  /** Minutes that are held. */
  get length(): number {
    return this.#minutes.length;
  }

  /** Whether a minute that is held began in [fromMs, toMs). */
  hasBetween(fromMs: number, toMs: number): boolean {
    return (this.#minutes.startAt(this.#indexAt(fromMs)) ?? toMs) < toMs;
  }

  /** Whether the windows at market time `atMs` can be told from the minutes held. */
  covers(atMs: number): boolean {
    if (this.#isWhole) return true;
    const firstMs = this.#minutes.startAt(0);
    return firstMs === undefined || firstMs < atMs - WINDOW_MS['24h'];
  }

  /** Sets market time, cut to the minute; `covers` it. */
  moveTo(atMs: number): void {
    this.#atMs = atMs;
    for (const window of this.#windows) this.#move(window, atMs - window.lengthMs);
    this.#prune();
  }

  /** A minute as it is after a trade of it. */
  put(minute: Minute): void {
    const minutes = this.#minutes;
    let index = minutes.length;
    while (index > 0 && (minutes.startAt(index - 1) ?? 0) >= minute.startMs) index -= 1;
    const old = minutes.at(index);
    this.#hours?.delete(hourOf(minute.startMs));
    this.#edge = null;
    if (old?.startMs === minute.startMs) {
      minutes.replace(index, minute);
      for (const window of this.#windows) {
        if (index < window.first) continue;
        add(window, old, -1);
        add(window, minute, 1);
      }
      return;
    }
    // Older than all that is held, so no window reaches it.
    if (index === 0 && !this.#isWhole) return;
    minutes.insert(index, minute);
    for (const window of this.#windows) {
      if (minute.startMs >= this.#atMs - window.lengthMs) add(window, minute, 1);
      else window.first += 1;
    }
  }

  sums(window: Window): Sums {
    return this.#of(window);
  }

  /** Price after the newest minute before the window; null: there is none. */
  before(window: Window): Ratio | null {
    return this.#minutes.closeAt(this.#of(window).first - 1);
  }

  /** Price after the newest minute that began before a moment; null: none is held. */
  closeBefore(timeMs: number): Ratio | null {
    return this.#minutes.closeAt(this.#indexAt(timeMs) - 1);
  }

  /**
   * Highest and lowest of the last 24 hours, and of the price before them where a pair has no pool;
   * null without a trade. Whole hours are remembered until a trade changes them.
   */
  dayRange(): Range | null {
    const { first } = this.#of('24h');
    const minutes = this.#minutes;
    const oldest = minutes.at(first);
    if (oldest === undefined) return null;
    // With a pool the spot before its first trade is part of a minute's own range.
    const carried = oldest.open === null ? minutes.at(first - 1)?.close : undefined;
    let range: Range = carried === undefined ? oldest : { high: carried, low: carried };
    const fromMs = this.#atMs - WINDOW_MS['24h'];
    for (let index = first; index < minutes.length; ) {
      const hour = hourOf(minutes.startAt(index) ?? 0);
      const end = this.#indexAt((hour + 1) * HOUR_MS);
      const isWhole = hour * HOUR_MS >= fromMs;
      range = wider(
        range,
        isWhole ? this.#hourRange(hour, index, end) : this.#edgeRange(index, end),
      );
      index = end;
    }
    return range;
  }

  #hourRange(hour: number, first: number, end: number): Range {
    const known = this.#hours?.get(hour);
    if (known !== undefined) return known;
    const range = rangeOf(this.#minutes, first, end);
    this.#hours ??= new Map();
    this.#hours.set(hour, range);
    return range;
  }

  /** Of the hour of which the window has a part, which another minute leaves or a trade changes. */
  #edgeRange(first: number, end: number): Range {
    const firstMs = this.#minutes.startAt(first) ?? 0;
    if (this.#edge?.firstMs !== firstMs) {
      this.#edge = { firstMs, range: rangeOf(this.#minutes, first, end) };
    }
    return this.#edge.range;
  }

  /** Of the first minute that began at a moment or later. */
  #indexAt(timeMs: number): number {
    let [low, high] = [0, this.#minutes.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#minutes.startAt(middle) ?? 0) < timeMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #of(window: Window): RunningWindow {
    const found = this.#windows[WINDOWS.indexOf(window)];
    if (found === undefined) throw new Error(`no window ${window}`);
    return found;
  }

  #move(window: RunningWindow, fromMs: number): void {
    for (;;) {
      if ((this.#minutes.startAt(window.first) ?? fromMs) >= fromMs) break;
      add(window, this.#minutes.sumsAt(window.first), -1);
      window.first += 1;
    }
    for (;;) {
      const index = window.first - 1;
      if (index < 0 || (this.#minutes.startAt(index) ?? 0) < fromMs) break;
      add(window, this.#minutes.sumsAt(index), 1);
      window.first -= 1;
    }
  }

  /** Many at once: taking one from the front moves all others. */
  #prune(): void {
    const fromMs = this.#atMs - WINDOW_MS['24h'] - KEPT_MS;
    let count = 0;
    // The newest before the window stays: changes are measured against it.
    while ((this.#minutes.startAt(count + 1) ?? fromMs) < fromMs) count += 1;
    if (count < SPLICED) return;
    this.#minutes.dropFirst(count);
    this.#isWhole = false;
    this.#hours = null;
    this.#edge = null;
    for (const window of this.#windows) window.first -= count;
  }
}

function add(window: RunningWindow, { volume, trades, buys }: MinuteSums, sign: 1 | -1): void {
  window.volume += sign === 1 ? volume : -volume;
  window.trades += sign * trades;
  window.buys += sign * (buys ?? 0);
}

function hourOf(startMs: number): number {
  return Math.floor(startMs / HOUR_MS);
}

/** Of those from index `first` on, before `end`: at least one. */
function rangeOf(minutes: MinuteColumn, first: number, end: number): Range {
  let range: Range | undefined;
  for (let index = first; index < end; index += 1) {
    const minute = minutes.at(index);
    if (minute !== undefined) range = range === undefined ? minute : wider(range, minute);
  }
  assert(range !== undefined, 'there is a minute');
  return { high: range.high, low: range.low };
}

function wider(range: Range, { high, low }: Range): Range {
  const isHigher = compareRatios(high, range.high) > 0;
  const isLower = compareRatios(low, range.low) < 0;
  if (!isHigher && !isLower) return range;
  return { high: isHigher ? high : range.high, low: isLower ? low : range.low };
}
