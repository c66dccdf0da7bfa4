/** What a limit order must bring, in exact integers, from a price as it was typed. */
import { ceilDivide } from '../../engine/market/ratio.ts';

/** Digits that a price in ADA has after its point. */
export const PRICE_DECIMALS = 18;
/** Of a lovelace, in the unit of a price. */
const PRICE_UNITS = 10n ** 12n;

/** The price of one token, from what all of them are worth in lovelace. */
export function priceOf(marketCap: bigint, supply: bigint): bigint {
  return (marketCap * PRICE_UNITS) / supply;
}

/** Of `amount` lovelace of a buy in tokens, of so many tokens of a sell in lovelace; rounded up. */
export function leastFor(side: 'buy' | 'sell', amount: bigint, price: bigint): bigint {
  return side === 'buy'
    ? ceilDivide(amount * PRICE_UNITS, price)
    : ceilDivide(amount * price, PRICE_UNITS);
}
