/**
 * A bar: open, high, low, close and volume of one interval.
 *
 * Assumes: nothing about arrival. A trade has an order key; the bar keeps the trades of its open,
 *          high, low and close, so adding trades commutes (equal prices: the earlier trade stays).
 * Never:   reads a clock; an interval ends because an entry says so.
 * Undo:    a bar cannot forget a trade; a rollback puts its before-image back.
 */
import { compareRatios, type Ratio } from './ratio.ts';
import { comparePrices, compareTrades, type PoolStep, type Trade } from './trade.ts';

export interface Bar {
  readonly startMs: number;
  open: Trade;
  high: Trade;
  low: Trade;
  close: Trade;
  /** Sum of quote amounts, smallest units. */
  quoteVolume: bigint;
  baseVolume: bigint;
  trades: number;
  /** null: the pair has no pool. */
  pool: PoolRange | null;
  /** Market time has passed the interval's end. */
  final: boolean;
}

/** The pool's spot price over an interval, before and after each trade of it. */
export interface PoolRange {
  /** Trades that bought the base; the others sold it. */
  buys: number;
  /** Before the first trade. */
  open: Ratio;
  high: Ratio;
  low: Ratio;
  /** After the last trade. */
  close: Ratio;
}

export function firstBar(startMs: number, trade: Trade): Bar {
  return {
    startMs,
    open: trade,
    high: trade,
    low: trade,
    close: trade,
    quoteVolume: trade.quoteAmount,
    baseVolume: trade.baseAmount,
    trades: 1,
    pool: trade.step === undefined ? null : firstRange(trade.step),
    final: false,
  };
}

/** One that may change while the other stays as it is. */
export function copyBar(bar: Bar, startMs = bar.startMs): Bar {
  return {
    startMs,
    open: bar.open,
    high: bar.high,
    low: bar.low,
    close: bar.close,
    quoteVolume: bar.quoteVolume,
    baseVolume: bar.baseVolume,
    trades: bar.trades,
    pool: bar.pool === null ? null : { ...bar.pool },
    final: bar.final,
  };
}

/** Which ends of a bar a trade moved; a coarser bar around it need not look at the others. */
export const MOVED_ALL = 15;
export const MOVED_OPEN = 1;
const MOVED_HIGH = 2;
const MOVED_LOW = 4;
export const MOVED_CLOSE = 8;

/** Adds a trade in place. Returns what it moved. */
export function addTrade(bar: Bar, trade: Trade): number {
  bar.quoteVolume += trade.quoteAmount;
  bar.baseVolume += trade.baseAmount;
  bar.trades += 1;
  const moved = moveEnds(bar, trade, trade, trade, trade, MOVED_ALL);
  if (bar.pool !== null && trade.step !== undefined) {
    addRange(bar.pool, firstRange(trade.step), moved);
  }
  return moved;
}

/**
 * Adds the trades of `part` in place, as `addTrade` of each would. `candidates` names what can move
 * at all: what `part` moved in a finer bar of the same interval, or MOVED_ALL. Returns what it
 * moved.
 */
export function addBar(bar: Bar, part: Bar, candidates: number): number {
  bar.quoteVolume += part.quoteVolume;
  bar.baseVolume += part.baseVolume;
  bar.trades += part.trades;
  const { open, high, low, close } = part;
  const moved = moveEnds(bar, open, high, low, close, candidates);
  if (bar.pool !== null && part.pool !== null) addRange(bar.pool, part.pool, moved);
  return moved;
}

function moveEnds(
  bar: Bar,
  open: Trade,
  high: Trade,
  low: Trade,
  close: Trade,
  candidates: number,
): number {
  let moved = 0;
  if ((candidates & MOVED_OPEN) !== 0 && compareTrades(open, bar.open) < 0) {
    bar.open = open;
    moved |= MOVED_OPEN;
  }
  if ((candidates & MOVED_CLOSE) !== 0 && compareTrades(close, bar.close) > 0) {
    bar.close = close;
    moved |= MOVED_CLOSE;
  }
  if ((candidates & MOVED_HIGH) !== 0 && exceeds(comparePrices(high, bar.high), high, bar.high)) {
    bar.high = high;
    moved |= MOVED_HIGH;
  }
  if ((candidates & MOVED_LOW) !== 0 && exceeds(comparePrices(bar.low, low), low, bar.low)) {
    bar.low = low;
    moved |= MOVED_LOW;
  }
  return moved;
}

export function firstRange({ isBuy, before, after }: PoolStep): PoolRange {
  const isUp = compareRatios(before, after) < 0;
  const [low, high] = isUp ? [before, after] : [after, before];
  return { buys: isBuy ? 1 : 0, open: before, high, low, close: after };
}

export function addRange(range: PoolRange, part: PoolRange, moved: number): void {
  range.buys += part.buys;
  if ((moved & MOVED_OPEN) !== 0) range.open = part.open;
  if ((moved & MOVED_CLOSE) !== 0) range.close = part.close;
  if (compareRatios(part.high, range.high) > 0) range.high = part.high;
  if (compareRatios(part.low, range.low) < 0) range.low = part.low;
}

/** `order`: how the prices compare, positive where the trade's goes beyond the holder's. */
export function exceeds(order: number, trade: Trade, holder: Trade): boolean {
  return order > 0 || (order === 0 && compareTrades(trade, holder) < 0);
}

/**
 * The bar that the trades of all `parts` make: bars of a finer resolution in the order of time, at
 * least one.
 */
export function joinBars(startMs: number, parts: readonly [Bar, ...Bar[]], final: boolean): Bar {
  const joined = { ...parts[0], startMs, final };
  for (const part of parts.slice(1)) {
    joined.close = part.close;
    if (comparePrices(part.high, joined.high) > 0) joined.high = part.high;
    if (comparePrices(part.low, joined.low) < 0) joined.low = part.low;
    joined.quoteVolume += part.quoteVolume;
    joined.baseVolume += part.baseVolume;
    joined.trades += part.trades;
    joined.pool = joinRanges(joined.pool, part.pool);
  }
  return joined;
}

function joinRanges(first: PoolRange | null, next: PoolRange | null): PoolRange | null {
  if (first === null || next === null) return null;
  return {
    buys: first.buys + next.buys,
    open: first.open,
    high: compareRatios(next.high, first.high) > 0 ? next.high : first.high,
    low: compareRatios(next.low, first.low) < 0 ? next.low : first.low,
    close: next.close,
  };
}
