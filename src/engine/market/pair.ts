/** A traded pair. Decimals are fixed by its first trade. Prices are quote per one base. */
import type { AssetId } from './asset.ts';
import { formatRatio, formatUnits, powerOfTen } from './decimal.ts';
import type { Trade } from './trade.ts';

/** The two assets of a pair, before the fold assigns its id. */
export interface Listing {
  readonly base: AssetId;
  readonly quote: AssetId;
  readonly baseDecimals: number;
  readonly quoteDecimals: number;
}

export interface Pair extends Listing {
  /** Small number given by the fold, for rows. */
  readonly id: number;
}

/**
 * The quote of a token's market cap. A market-cap candlestick is a candlestick of a separate pair,
 * whose "trades" have the market cap after each real trade as their price.
 */
export const MARKET_CAP = 'mcap';

/** The name of a pair in updates: `base_quote`. */
export function pairName(base: AssetId, quote: AssetId): string {
  return `${base}_${quote}`;
}

type Amounts = Pick<Trade, 'baseAmount' | 'quoteAmount'>;

/** Price of a trade in display units; `inverted`: of the pair read backwards. */
export function formatPrice(pair: Pair, trade: Amounts, inverted: boolean): string {
  const quote = trade.quoteAmount * powerOfTen(pair.baseDecimals);
  const base = trade.baseAmount * powerOfTen(pair.quoteDecimals);
  return inverted ? formatRatio(base, quote) : formatRatio(quote, base);
}

export function formatBase(pair: Pair, amount: bigint): string {
  return formatUnits(amount, pair.baseDecimals);
}

export function formatQuote(pair: Pair, amount: bigint): string {
  return formatUnits(amount, pair.quoteDecimals);
}
