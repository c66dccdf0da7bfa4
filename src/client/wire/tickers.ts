// Made from the schemas of the server by test/client/writeWireTypes.ts: not edited by hand.
import type { Ticker } from './shapes.ts';

export interface TickersQuery {
  /** Only these tokens: the parameter repeated, at most 20 times. */
  readonly assets?: readonly string[];
  /** A number of the ticker; `lastTrade` is `lastTradeTime`. */
  readonly sort?:
    | 'price'
    | 'marketCap'
    | 'change5m'
    | 'change1h'
    | 'change6h'
    | 'change24h'
    | 'high24h'
    | 'low24h'
    | 'volume5m'
    | 'volume1h'
    | 'volume6h'
    | 'volume24h'
    | 'buys5m'
    | 'buys1h'
    | 'buys6h'
    | 'buys24h'
    | 'sells5m'
    | 'sells1h'
    | 'sells6h'
    | 'sells24h'
    | 'traders24h'
    | 'liquidity'
    | 'progress'
    | 'createdOn'
    | 'lastTradeTime'
    | 'lastTrade';
  /** null comes last both ways; ties by asset id. */
  readonly order?: 'desc' | 'asc';
  /** At least so many seconds old. */
  readonly minAge?: number;
  /** At most so many seconds old. */
  readonly maxAge?: number;
  /** At least so many ADA. */
  readonly minMarketCap?: string;
  /** At most so many ADA. */
  readonly maxMarketCap?: string;
  /** At least so many ADA in 24 hours. */
  readonly minVolume24h?: string;
  /** Only those on the AMM, or on the curve. */
  readonly graduated?: 'true' | 'false';
  /** At least so many percent. */
  readonly minProgress?: number;
  /** Rows to skip. */
  readonly offset?: number;
  readonly limit?: number;
}

export interface TickersAnswer {
  /** How many match, on this page or not. */
  readonly count: number;
  readonly items: readonly Ticker[];
}

/** Asset ids of tokens. */
export type TickersOfAssetsBody = readonly string[];

export interface TickersOfAssetsAnswer {
  /** How many match, on this page or not. */
  readonly count: number;
  readonly items: readonly Ticker[];
}
