// Made from the schemas of the server by test/client/writeWireTypes.ts: not edited by hand.
import type { OrderPage, OrderTrades } from './shapes.ts';

export interface OrderFeedQuery {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
  /** Rows to skip. */
  readonly offset?: number;
  readonly limit?: number;
  /** Only rows older than this order (`entityId`), for an exact walk. */
  readonly before?: string;
  /** Only from this moment on, Unix seconds. */
  readonly from?: number;
  /** Only before this moment, Unix seconds. */
  readonly to?: number;
  /** `csv`: the rows as CSV (RFC 4180) with a header row; also by `Accept: text/csv`. */
  readonly format?: 'json' | 'csv';
}

/** Payment key hashes; none, null or [] for everybody. */
export type OrderFeedBody = null | readonly string[];

export type OrderFeedAnswer = OrderPage;

export interface UserHistoryQuery {
  /** Rows to skip. */
  readonly offset?: number;
  readonly limit?: number;
  /** Only rows older than this order (`entityId`), for an exact walk. */
  readonly before?: string;
  /** Only from this moment on, Unix seconds. */
  readonly from?: number;
  /** Only before this moment, Unix seconds. */
  readonly to?: number;
  /** `csv`: the rows as CSV (RFC 4180) with a header row; also by `Accept: text/csv`. */
  readonly format?: 'json' | 'csv';
}

/** Payment key hashes. */
export type UserHistoryBody = readonly string[];

export type UserHistoryAnswer = OrderPage;

export interface UserHistoryByAssetQuery {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
  /** Rows to skip. */
  readonly offset?: number;
  readonly limit?: number;
  /** Only rows older than this order (`entityId`), for an exact walk. */
  readonly before?: string;
  /** Only from this moment on, Unix seconds. */
  readonly from?: number;
  /** Only before this moment, Unix seconds. */
  readonly to?: number;
  /** `csv`: the rows as CSV (RFC 4180) with a header row; also by `Accept: text/csv`. */
  readonly format?: 'json' | 'csv';
}

/** Payment key hashes. */
export type UserHistoryByAssetBody = readonly string[];

export type UserHistoryByAssetAnswer = OrderPage;

export interface UserOpenOrdersQuery {
  /** Rows to skip. */
  readonly offset?: number;
  readonly limit?: number;
  /** Only rows older than this order (`entityId`), for an exact walk. */
  readonly before?: string;
  /** Only from this moment on, Unix seconds. */
  readonly from?: number;
  /** Only before this moment, Unix seconds. */
  readonly to?: number;
  /** `csv`: the rows as CSV (RFC 4180) with a header row; also by `Accept: text/csv`. */
  readonly format?: 'json' | 'csv';
}

/** Payment key hashes. */
export type UserOpenOrdersBody = readonly string[];

export type UserOpenOrdersAnswer = OrderPage;

export interface OrderByBeaconQuery {
  /** Beacon of the order, 56 hex digits. */
  readonly beacon: string;
}

export type OrderByBeaconAnswer = OrderTrades;
