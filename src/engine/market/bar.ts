/**
 * A bar: open, high, low, close and volume of one interval.
 *
 * Assumes: nothing about arrival. A trade has an order key; the bar keeps the trades of its open,
 *          high, low and close, so adding trades commutes (equal prices: the earlier trade stays).
 * Never:   reads a clock; an interval ends because an entry says so.
 * Undo:    a bar cannot forget a trade; a rollback puts its before-image back.
 */
import { compareRatios, type Ratio } from './ratio.ts';
import { comparePrices, compareTrades, type PoolStep, quotientOf, type Trade } from './trade.ts';

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

/** An independent copy of a bar. */
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
const MOVED_OPEN = 1;
const MOVED_HIGH = 2;
const MOVED_LOW = 4;
const MOVED_CLOSE = 8;

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
 * Adds the trades of `part` in place, as `addTrade` of each would. `candidates` names the parts
 * that can move: what `part` moved in a finer bar of the same interval, or MOVED_ALL. Returns what
 * it moved.
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

function firstRange({ isBuy, before, after }: PoolStep): PoolRange {
  const isUp = compareRatios(before, after) < 0;
  const [low, high] = isUp ? [before, after] : [after, before];
  return { buys: isBuy ? 1 : 0, open: before, high, low, close: after };
}

function addRange(range: PoolRange, part: PoolRange, moved: number): void {
  range.buys += part.buys;
  if ((moved & MOVED_OPEN) !== 0) range.open = part.open;
  if ((moved & MOVED_CLOSE) !== 0) range.close = part.close;
  if (compareRatios(part.high, range.high) > 0) range.high = part.high;
  if (compareRatios(part.low, range.low) < 0) range.low = part.low;
}

/** `order`: how the prices compare, positive where the trade's goes beyond the holder's. */
function exceeds(order: number, trade: Trade, holder: Trade): boolean {
  return order > 0 || (order === 0 && compareTrades(trade, holder) < 0);
}

/**
 * Trades summed up in numbers, which makes no objects. The sum has the fields of the trades' bar.
 * Exact, because a trade that would bring an amount to 2^53 is refused.
 */
export class TradeSum {
  #open: Trade;
  #high: Trade;
  #low: Trade;
  #close: Trade;
  /** Fields of the trades that are compared most, kept close in memory. */
  #openMs: number;
  #closeMs: number;
  #highQuotient: number;
  #lowQuotient: number;
  #quote: number;
  #base: number;
  #trades = 1;
  readonly #pool: PoolRange | null;

  private constructor(trade: Trade) {
    this.#open = trade;
    this.#high = trade;
    this.#low = trade;
    this.#close = trade;
    this.#openMs = trade.timeMs;
    this.#closeMs = trade.timeMs;
    this.#highQuotient = quotientOf(trade);
    this.#lowQuotient = this.#highQuotient;
    this.#quote = Number(trade.quoteAmount);
    this.#base = Number(trade.baseAmount);
    this.#pool = trade.step === undefined ? null : firstRange(trade.step);
  }

  /** null: its amounts are too large. */
  static of(trade: Trade): TradeSum | null {
    const sum = new TradeSum(trade);
    return isExact(sum.#base) && isExact(sum.#quote) ? sum : null;
  }

  /** As `addTrade` of a bar. False: the sum would be too large, and stays as it was. */
  add(trade: Trade): boolean {
    const base = this.#base + Number(trade.baseAmount);
    const quote = this.#quote + Number(trade.quoteAmount);
    if (!isExact(base) || !isExact(quote)) return false;
    this.#base = base;
    this.#quote = quote;
    this.#trades += 1;
    const moved = this.#moveTimes(trade);
    this.#movePrices(trade);
    if (this.#pool !== null && trade.step !== undefined) {
      addRange(this.#pool, firstRange(trade.step), moved);
    }
    return true;
  }

  bar(): Bar {
    return {
      startMs: this.#open.timeMs,
      open: this.#open,
      high: this.#high,
      low: this.#low,
      close: this.#close,
      quoteVolume: BigInt(this.#quote),
      baseVolume: BigInt(this.#base),
      trades: this.#trades,
      pool: this.#pool,
      final: false,
    };
  }

  #moveTimes(trade: Trade): number {
    let moved = 0;
    const { timeMs } = trade;
    if (timeMs <= this.#openMs && compareTrades(trade, this.#open) < 0) {
      this.#open = trade;
      this.#openMs = timeMs;
      moved |= MOVED_OPEN;
    }
    if (timeMs >= this.#closeMs && compareTrades(trade, this.#close) > 0) {
      this.#close = trade;
      this.#closeMs = timeMs;
      moved |= MOVED_CLOSE;
    }
    return moved;
  }

  #movePrices(trade: Trade): void {
    const quotient = quotientOf(trade);
    const above = comparePrices(trade, this.#high, quotient, this.#highQuotient);
    if (exceeds(above, trade, this.#high)) {
      this.#high = trade;
      this.#highQuotient = quotient;
    }
    const below = comparePrices(this.#low, trade, this.#lowQuotient, quotient);
    if (exceeds(below, trade, this.#low)) {
      this.#low = trade;
      this.#lowQuotient = quotient;
    }
  }
}

/** Holds for integers, rounded ones included: a result below 2^53 was not rounded. */
function isExact(amount: number): boolean {
  return amount <= Number.MAX_SAFE_INTEGER;
}

/**
 * The bar that the trades of all `parts` make: bars of a finer resolution in the order of time, at
 * least one.
 */
export function joinBars(startMs: number, parts: readonly [Bar, ...Bar[]], final: boolean): Bar {
  const [first, ...others] = parts;
  return others.reduce(joinNext, { ...copyBar(first, startMs), final });
}

/** Names each field, so that the compiler asks of a new one how it is joined. */
function joinNext(bar: Required<Bar>, next: Bar): Required<Bar> {
  return {
    startMs: bar.startMs,
    open: bar.open,
    high: comparePrices(next.high, bar.high) > 0 ? next.high : bar.high,
    low: comparePrices(next.low, bar.low) < 0 ? next.low : bar.low,
    close: next.close,
    quoteVolume: bar.quoteVolume + next.quoteVolume,
    baseVolume: bar.baseVolume + next.baseVolume,
    trades: bar.trades + next.trades,
    pool: joinRanges(bar.pool, next.pool),
    final: bar.final,
  };
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
