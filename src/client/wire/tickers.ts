// Made from the schemas of the server by scripts/writeWireTypes.ts: not edited by hand.
import type { ChangeBasis } from './shapes.ts';

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
    | 'top10Percent'
    | 'authorPercent'
    | 'snipersPercent'
    | 'holders'
    | 'lastTrade';
  /** null comes last both ways; ties by asset id. */
  readonly order?: 'desc' | 'asc';
  /** Lower bound of the age, in seconds. */
  readonly minAge?: number;
  /** Upper bound of the age, in seconds. */
  readonly maxAge?: number;
  /** Lower bound, in ADA. */
  readonly minMarketCap?: string;
  /** Upper bound, in ADA. */
  readonly maxMarketCap?: string;
  /** Lower bound, in ADA of 24 hours. */
  readonly minVolume24h?: string;
  /** Lower bound, in percent. */
  readonly minProgress?: number;
  /** Upper bound, in percent of 2 decimals. */
  readonly maxTop10Percent?: number;
  /** Upper bound, in percent of 2 decimals. */
  readonly maxAuthorPercent?: number;
  /** Upper bound; a token without the value does not match, in percent of 2 decimals. */
  readonly maxSnipersPercent?: number;
  /** Lower bound. */
  readonly minHolders?: number;
  /** Only those on the AMM, or on the curve. */
  readonly graduated?: 'true' | 'false';
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

export interface Spark {
  /** Start of the first step, Unix seconds. */
  readonly from: number;
  /**
   * Seconds: the smallest of 1, 2, 3, 5, 10, 15, 20 and 30 minutes that covers the age of the
   * token, at most 24 hours, with at most 48 points. Steps are aligned to 00:00 UTC.
   */
  readonly step: number;
  /** Price at the end of each step, the last one now. */
  readonly closes: readonly (string | null)[];
}

export interface Ticker extends TickerUpdate {
  readonly spark: Spark;
}

export interface TickerUpdate {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
  readonly name: string;
  readonly ticker: string;
  readonly logoCID: string;
  /** Spot price, ADA per token. */
  readonly price: string;
  /** ADA; null without a pool. */
  readonly marketCap: string | null;
  /**
   * Percent that the price changed in the last 5 minutes, or since the launch if it was later
   * (`changeBasis` says so); null: the price then is not known.
   */
  readonly change5m: string | null;
  /**
   * Percent that the price changed in the last hour, or since the launch if it was later
   * (`changeBasis` says so); null: the price then is not known.
   */
  readonly change1h: string | null;
  /**
   * Percent that the price changed in the last 6 hours, or since the launch if it was later
   * (`changeBasis` says so); null: the price then is not known.
   */
  readonly change6h: string | null;
  /**
   * Percent that the price changed in the last 24 hours, or since the launch if it was later
   * (`changeBasis` says so); null: the price then is not known.
   */
  readonly change24h: string | null;
  readonly changeBasis: ChangeBasis;
  /** Highest spot price before and after each trade of 24 hours. */
  readonly high24h: string;
  /** Lowest of them. */
  readonly low24h: string;
  /** ADA traded. */
  readonly volume5m: string;
  /** ADA traded. */
  readonly volume1h: string;
  /** ADA traded. */
  readonly volume6h: string;
  /** ADA traded. */
  readonly volume24h: string;
  /** Buys; null for a pair without a pool, where sides are unknown. */
  readonly buys5m: number | null;
  /** Sells; null for a pair without a pool, where sides are unknown. */
  readonly sells5m: number | null;
  /** Buys; null for a pair without a pool, where sides are unknown. */
  readonly buys1h: number | null;
  /** Sells; null for a pair without a pool, where sides are unknown. */
  readonly sells1h: number | null;
  /** Buys; null for a pair without a pool, where sides are unknown. */
  readonly buys6h: number | null;
  /** Sells; null for a pair without a pool, where sides are unknown. */
  readonly sells6h: number | null;
  /** Buys; null for a pair without a pool, where sides are unknown. */
  readonly buys24h: number | null;
  /** Sells; null for a pair without a pool, where sides are unknown. */
  readonly sells24h: number | null;
  /** Payment keys that traded in 24 hours; null without a pool. */
  readonly traders24h: number | null;
  /** Twice the ADA in the pool; null without a pool. */
  readonly liquidity: string | null;
  /** Percent of the curve’s cap, cut to 2 decimals; null without. */
  readonly progress: string | null;
  /** Launch, or the first trade without a pool: Unix seconds. null: not known. */
  readonly createdOn: number | null;
  /** Unix seconds; null without a trade. */
  readonly lastTradeTime: number | null;
  /** Whether it trades on the AMM; null without a pool. */
  readonly graduated: boolean | null;
  /**
   * Tokens of the ten largest holders, in percent of the supply outside the pool; null
   * without a pool.
   */
  readonly top10Percent: string | null;
  /**
   * Tokens of the author’s payment key, in percent of the supply outside the pool; null
   * without a pool.
   */
  readonly authorPercent: string | null;
  /**
   * Tokens that snipers hold, in percent of the supply outside the pool; null without a pool,
   * and where the launch came before the first block that this market follows.
   */
  readonly snipersPercent: string | null;
  /** Payment keys, and addresses without one, that hold tokens; null without a pool. */
  readonly holders: number | null;
  readonly spark?: Spark;
}

export interface TickersUpdate {
  /** Tickers that changed or are new in the list; a snapshot has every ticker. */
  readonly items: readonly TickerUpdate[];
  /**
   * Asset ids of the list in their order. The ticker of each is in `items`, or was in an
   * earlier update’s; a token that is not named has left the list.
   */
  readonly order: readonly string[];
  /** Unsigned IEEE CRC-32 of the asset ids of `order` joined by commas. */
  readonly crc32: number;
}

export type TickersData = TickersUpdate;

export interface TickersInput {
  /** These tokens, in this order; the other fields say nothing then. */
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
    | 'top10Percent'
    | 'authorPercent'
    | 'snipersPercent'
    | 'holders'
    | 'lastTrade';
  /** null comes last both ways; ties by asset id. */
  readonly order?: 'desc' | 'asc';
  /** Lower bound of the age, in seconds. */
  readonly minAge?: number;
  /** Upper bound of the age, in seconds. */
  readonly maxAge?: number;
  /** Lower bound, in ADA. */
  readonly minMarketCap?: string;
  /** Upper bound, in ADA. */
  readonly maxMarketCap?: string;
  /** Lower bound, in ADA of 24 hours. */
  readonly minVolume24h?: string;
  /** Lower bound, in percent. */
  readonly minProgress?: number;
  /** Upper bound, in percent of 2 decimals. */
  readonly maxTop10Percent?: number;
  /** Upper bound, in percent of 2 decimals. */
  readonly maxAuthorPercent?: number;
  /** Upper bound; a token without the value does not match, in percent of 2 decimals. */
  readonly maxSnipersPercent?: number;
  /** Lower bound. */
  readonly minHolders?: number;
  /** Only those on the AMM, or on the curve. */
  readonly graduated?: boolean;
  readonly limit?: number;
}
