/**
 * Trades summed up in numbers, which makes no objects: what a bar of them would be. Exact, because
 * a trade that would bring an amount to 2^53 is refused.
 */
import {
  addRange,
  type Bar,
  exceeds,
  firstRange,
  MOVED_CLOSE,
  MOVED_OPEN,
  type PoolRange,
} from './bar.ts';
import { comparePrices, compareTrades, quotientOf, type Trade } from './trade.ts';

export class TradeSum {
  #open: Trade;
  #high: Trade;
  #low: Trade;
  #close: Trade;
  /** What trades are mostly compared with, not far away in memory. */
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

/** Of whole numbers, also of one that was rounded: what rounds to below 2^53 was not rounded. */
function isExact(amount: number): boolean {
  return amount <= Number.MAX_SAFE_INTEGER;
}
