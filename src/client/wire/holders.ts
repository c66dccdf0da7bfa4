// Made from the schemas of the server by test/client/writeWireTypes.ts: not edited by hand.
import type { Portfolio, PortfolioPoint, TokenInsights, TradingMetrics } from './shapes.ts';

export interface HoldersQuery {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly assetId: string;
  readonly limit?: number;
  /** Rows to skip. */
  readonly offset?: number;
}

export interface HoldersAnswer {
  readonly holders: readonly {
    /** bech32 */
    readonly address: string;
    /** Integer. */
    readonly quantity: string;
  }[];
  /** What all addresses with the author’s payment key hold. */
  readonly dev: {
    /** The author’s, as of the launch; empty where the launch does not tell. */
    readonly address: string;
    /** Integer. */
    readonly quantity: string;
  };
  /** Of all holders, on every page. */
  readonly count: number;
}

export interface TradingMetricsQuery {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
  /** Payment key hash, 56 hex digits. */
  readonly pkh: string;
}

export type TradingMetricsAnswer = TradingMetrics | null;

export interface PnlCardQuery {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly assetId: string;
}

/** Payment key hashes; one that comes twice counts once. */
export type PnlCardBody = readonly string[];

export type PnlCardAnswer = {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
  /** Gain / invested × 100, a half rounded to the even one. */
  readonly pnlPercent: string;
  /** ADA. */
  readonly investedAda: string;
  /** ADA: realized and unrealized. */
  readonly currentAdaGain: string;
} | null;

export interface AssetBalanceQuery {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly assetId: string;
}

/** Payment key hashes; one that comes twice counts once. */
export type AssetBalanceBody = readonly string[];

export type AssetBalanceAnswer = {
  /** ADA: confirmed tokens × spot price. */
  readonly balance: number;
} | null;

export interface TokenInsightsQuery {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
}

export type TokenInsightsAnswer = TokenInsights;

export interface PortfolioQuery {
  /** Rows to skip. */
  readonly offset?: number;
  readonly limit?: number;
}

/** Payment key hashes; one that comes twice counts once. */
export type PortfolioBody = readonly string[];

export type PortfolioAnswer = Portfolio;

export interface PortfolioHistoryQuery {
  /** Points an hour or a day apart, UTC. */
  readonly resolution: 'hour1' | 'day1';
  /** Only from this moment on, Unix seconds. */
  readonly from?: number;
  /** Only before this moment, Unix seconds. */
  readonly to?: number;
  readonly limit?: number;
  /** `csv`: the rows as CSV (RFC 4180) with a header row; also by `Accept: text/csv`. */
  readonly format?: 'json' | 'csv';
}

/** Payment key hashes; one that comes twice counts once. */
export type PortfolioHistoryBody = readonly string[];

export type PortfolioHistoryAnswer = readonly PortfolioPoint[];
