// Made from the schemas of the server by scripts/writeWireTypes.ts: not edited by hand.
import type { OrderPage, OrderTrades } from './shapes.ts';

export interface OrderFeedQuery extends UserHistoryQuery {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
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

export type UserHistoryByAssetQuery = OrderFeedQuery;

/** Payment key hashes. */
export type UserHistoryByAssetBody = readonly string[];

export type UserHistoryByAssetAnswer = OrderPage;

export type UserOpenOrdersQuery = UserHistoryQuery;

/** Payment key hashes. */
export type UserOpenOrdersBody = readonly string[];

export type UserOpenOrdersAnswer = OrderPage;

export interface OrderByBeaconQuery {
  /** Beacon of the order, 56 hex digits. */
  readonly beacon: string;
}

export type OrderByBeaconAnswer = OrderTrades;

export interface OrderBookQuery {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
  /** Significant decimal digits of the prices of bids and asks. */
  readonly digits?: number;
  readonly levels?: number;
}

export interface OrderBookAnswer extends OrderBook {
  readonly epoch: string;
  readonly seq: number;
}

export interface BookLevel {
  /** ADA per token. */
  readonly price: string;
  /** Tokens. */
  readonly amount: string;
  /** Lovelace that all tokens up to this price cost or bring, percent fees included. */
  readonly total: string;
}

export interface LimitLevel {
  /** ADA per token. */
  readonly price: string;
  /** Tokens. */
  readonly amount: string;
  readonly orders: number;
}

export interface OrderBook {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
  /** The pool's output that this is the depth of. */
  readonly pool: string;
  /** ADA per token. */
  readonly spot: string;
  /** Highest price first. */
  readonly bids: readonly BookLevel[];
  /** Lowest price first. */
  readonly asks: readonly BookLevel[];
  /** Open orders in blocks that the pool would not fill now; they may cross. */
  readonly limits: {
    /** By worst price, best first. Tokens that are left, or that a buy takes at least. */
    readonly buys: readonly LimitLevel[];
    /** By worst price, best first. Tokens that are left, or that a buy takes at least. */
    readonly sells: readonly LimitLevel[];
  };
  /**
   * Open orders in blocks that the pool, at this position and alone, would fill: numbers, and
   * their offers without fee and deposit.
   */
  readonly pending: {
    readonly buys: number;
    readonly sells: number;
    /** Integer. */
    readonly buyLovelace: string;
    /** Integer. */
    readonly sellTokens: string;
  };
  /**
   * CRC-32 (IEEE) of `price:amount`, as sent, of the first 10 asks, then the first 10 bids,
   * joined by `|`: 8 hex digits; of an empty book `00000000`. The frame is applied first.
   */
  readonly checksum: string;
}

export interface ChangedLevel {
  /** ADA per token. */
  readonly price: string;
  /** Tokens; 0: the level is gone. */
  readonly amount: string;
}

export interface OrderBookChanges {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
  /** The pool's output that this is the depth of. */
  readonly pool: string;
  /** ADA per token. */
  readonly spot: string;
  readonly bids: readonly ChangedLevel[];
  readonly asks: readonly ChangedLevel[];
  /** Open orders in blocks that the pool would not fill now; they may cross. */
  readonly limits?: {
    /** By worst price, best first. Tokens that are left, or that a buy takes at least. */
    readonly buys: readonly LimitLevel[];
    /** By worst price, best first. Tokens that are left, or that a buy takes at least. */
    readonly sells: readonly LimitLevel[];
  };
  /**
   * Open orders in blocks that the pool, at this position and alone, would fill: numbers, and
   * their offers without fee and deposit.
   */
  readonly pending?: {
    readonly buys: number;
    readonly sells: number;
    /** Integer. */
    readonly buyLovelace: string;
    /** Integer. */
    readonly sellTokens: string;
  };
  /**
   * CRC-32 (IEEE) of `price:amount`, as sent, of the first 10 asks, then the first 10 bids,
   * joined by `|`: 8 hex digits; of an empty book `00000000`. The frame is applied first.
   */
  readonly checksum: string;
}

export type OrderBookData = OrderBook | OrderBookChanges | null;

export interface OrderBookInput {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
  /** Significant decimal digits of the prices of bids and asks. */
  readonly digits?: number;
  readonly mode?: 'snapshot' | 'changes';
}
