// Made from the schemas of the server by scripts/writeWireTypes.ts: not edited by hand.
import type { MarketTrade, TradeRow } from './shapes.ts';

export interface TradesQuery {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
  /** Only trades older than this one. */
  readonly before?: string;
  readonly limit?: number;
  /** `csv`: the rows as CSV (RFC 4180) with a header row; also by `Accept: text/csv`. */
  readonly format?: 'json' | 'csv';
  /** Only from this moment on, Unix seconds. */
  readonly from?: number;
  /** Only before this moment, Unix seconds. */
  readonly to?: number;
  /** Only trades of this payment key. */
  readonly pkh?: string;
  /** Only buys, or only sells: `buy` or `sell`. */
  readonly side?: 'buy' | 'sell';
  /** Only trades that moved at least this amount: an integer, lovelace. */
  readonly minQuote?: string;
}

export type TradesAnswer = readonly TradeRow[];

/** Newest first; trades of one slot by their place in the block. */
export type NewestTradesData = readonly MarketTrade[];

export interface NewestTradesInput {
  readonly limit?: number;
  /** Least amount moved, in lovelace. */
  readonly minQuote?: string;
  /** Only buys, or only sells. */
  readonly side?: 'buy' | 'sell';
  /** Only trades on the AMM, or only those on a curve. */
  readonly graduated?: boolean;
  /** Most seconds from the launch to the trade; a launch that is not known fails. */
  readonly maxAge?: number;
  /** Lower bound of the market cap after it, in ADA. */
  readonly minMarketCap?: string;
  /** Upper bound of the market cap after it, in ADA. */
  readonly maxMarketCap?: string;
}
