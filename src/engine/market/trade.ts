/**
 * A trade: an exact exchange of base for quote, in smallest units, with an order key.
 *
 * The order key is (timeMs, id), ids by length and then text, so that numeric ids sort as numbers.
 * It is total within a pair because ids are unique there.
 */
import type { Ratio } from './ratio.ts';

export interface Trade {
  readonly id: string;
  readonly timeMs: number;
  readonly baseAmount: bigint;
  readonly quoteAmount: bigint;
  /** Absent where no pool is known, and in a trade that was read back out of a bar. */
  readonly step?: PoolStep;
}

/** The effect of a trade on its pool: spot prices, smallest quote units per smallest base unit. */
export interface PoolStep {
  readonly isBuy: boolean;
  readonly before: Ratio;
  readonly after: Ratio;
}

/** Negative when `a` comes before `b` in the order of the market. */
export function compareTrades(a: Trade, b: Trade): number {
  return a.timeMs - b.timeMs || compareIds(a.id, b.id);
}

export function compareIds(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

type Price = Pick<Trade, 'baseAmount' | 'quoteAmount'>;

/**
 * Far more than three roundings change a quotient: two roundings of amounts and one of the
 * division.
 */
const ROUNDING = 2 ** -48;
/** Below it quotients have fewer digits. */
const TINY = 2 ** -1000;

/** About its price. */
export function quotientOf({ quoteAmount, baseAmount }: Price): number {
  return Number(quoteAmount) / Number(baseAmount);
}

/**
 * Negative when `a` was cheaper than `b`. Exact: cross-multiplied, nothing is divided; but where
 * the quotients are further apart than rounding can move them, they decide.
 */
export function comparePrices(
  a: Price,
  b: Price,
  priceA = quotientOf(a),
  priceB = quotientOf(b),
): number {
  const difference = priceA - priceB;
  if (Math.abs(difference) > (priceA + priceB) * ROUNDING + TINY) return difference < 0 ? -1 : 1;
  const left = a.quoteAmount * b.baseAmount;
  const right = b.quoteAmount * a.baseAmount;
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
