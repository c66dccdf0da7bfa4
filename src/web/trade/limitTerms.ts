/** The output that a limit order must bring, in exact integers, from a price as typed. */
import { ceilDivide } from '../../engine/market/ratio.ts';

/** Digits that a price in ADA has after its point. */
export const PRICE_DECIMALS = 18;
/** Units of a price in one lovelace. */
const PRICE_UNITS = 10n ** 12n;

/** The price of one token, from the value of the whole supply in lovelace. */
export function priceOf(marketCap: bigint, supply: bigint): bigint {
  return (marketCap * PRICE_UNITS) / supply;
}

/**
 * For a buy of `amount` lovelace the least tokens, for a sell of `amount` tokens the least
 * lovelace; rounded up.
 */
export function minFor(side: 'buy' | 'sell', amount: bigint, price: bigint): bigint {
  return side === 'buy'
    ? ceilDivide(amount * PRICE_UNITS, price)
    : ceilDivide(amount * price, PRICE_UNITS);
}
