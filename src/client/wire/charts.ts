// Made from the schemas of the server by scripts/writeWireTypes.ts: not edited by hand.
import type { ItemError } from './shapes.ts';

export interface ChartHistoryQuery extends McapHistoryQuery {
  /**
   * `trade` (default): prices of the trades. `spot`: the spot price before and after each
   * trade, so that the bars of a chart connect.
   */
  readonly price?: 'trade' | 'spot';
}

export type ChartHistoryAnswer = readonly ChartLastAnswer[];

export interface ChartInitialStateQuery {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly base: string;
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly quote: string;
  /** UTC; weeks start Monday 00:00, months on the 1st. */
  readonly resolution:
    | 'min1'
    | 'min3'
    | 'min5'
    | 'min15'
    | 'min30'
    | 'hour1'
    | 'hour2'
    | 'hour4'
    | 'hour12'
    | 'day1'
    | 'week1'
    | 'month1';
  /**
   * `trade` (default): prices of the trades. `spot`: the spot price before and after each
   * trade, so that the bars of a chart connect.
   */
  readonly price?: 'trade' | 'spot';
}

export interface ChartInitialStateAnswer {
  readonly bar: ChartLastAnswer;
  readonly isRelevant: boolean;
}

export type ChartLastQuery = ChartInitialStateQuery;

export interface ChartLastAnswer {
  readonly pair: {
    /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
    readonly base: string;
    /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
    readonly quote: string;
  };
  /** Start of the interval, Unix seconds. */
  readonly time: number;
  /** Exact decimal, at most 18 fractional digits. */
  readonly low: string;
  /** Exact decimal, at most 18 fractional digits. */
  readonly high: string;
  /** Exact decimal, at most 18 fractional digits. */
  readonly open: string;
  /** Exact decimal, at most 18 fractional digits. */
  readonly close: string;
  readonly trades: number;
  /** Market time has passed the end of the interval. */
  readonly final: boolean;
  /** In the quote asset. */
  readonly volume: string;
  /** In the base asset. */
  readonly baseVolume: string;
}

export interface McapHistoryQuery {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly base: string;
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly quote: string;
  readonly from: number;
  readonly to: number;
  /** UTC; weeks start Monday 00:00, months on the 1st. */
  readonly resolution:
    | 'min1'
    | 'min3'
    | 'min5'
    | 'min15'
    | 'min30'
    | 'hour1'
    | 'hour2'
    | 'hour4'
    | 'hour12'
    | 'day1'
    | 'week1'
    | 'month1';
  readonly fill?: 'none' | 'previous';
  readonly limit?: number;
  /** `csv`: the rows as CSV (RFC 4180) with a header row; also by `Accept: text/csv`. */
  readonly format?: 'json' | 'csv';
  /**
   * The epoch of `X-Position`. With it the answer may be kept for ever where nothing can
   * change it any more; in another epoch it is 409.
   */
  readonly epoch?: string;
}

export type McapHistoryAnswer = readonly {
  readonly pair: {
    /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
    readonly base: string;
    /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
    readonly quote: string;
  };
  /** Start of the interval, Unix seconds. */
  readonly time: number;
  /** Exact decimal, at most 18 fractional digits. */
  readonly low: string;
  /** Exact decimal, at most 18 fractional digits. */
  readonly high: string;
  /** Exact decimal, at most 18 fractional digits. */
  readonly open: string;
  /** Exact decimal, at most 18 fractional digits. */
  readonly close: string;
  readonly trades: number;
  /** Market time has passed the end of the interval. */
  readonly final: boolean;
  /** In ADA: spot price after the last trade × supply; = close. */
  readonly mCap: string;
  /** The interval contains market time. */
  readonly isRelevant: boolean;
}[];

export interface McapInitialStateQuery {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly base: string;
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly quote: string;
  /** UTC; weeks start Monday 00:00, months on the 1st. */
  readonly resolution:
    | 'min1'
    | 'min3'
    | 'min5'
    | 'min15'
    | 'min30'
    | 'hour1'
    | 'hour2'
    | 'hour4'
    | 'hour12'
    | 'day1'
    | 'week1'
    | 'month1';
}

export interface McapInitialStateAnswer {
  readonly bar: {
    readonly pair: {
      /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
      readonly base: string;
      /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
      readonly quote: string;
    };
    /** Start of the interval, Unix seconds. */
    readonly time: number;
    /** Exact decimal, at most 18 fractional digits. */
    readonly low: string;
    /** Exact decimal, at most 18 fractional digits. */
    readonly high: string;
    /** Exact decimal, at most 18 fractional digits. */
    readonly open: string;
    /** Exact decimal, at most 18 fractional digits. */
    readonly close: string;
    readonly trades: number;
    /** Market time has passed the end of the interval. */
    readonly final: boolean;
    /** In ADA: spot price after the last trade × supply; = close. */
    readonly mCap: string;
    /** The interval contains market time. */
    readonly isRelevant: boolean;
  };
  readonly isRelevant: boolean;
}

/** 1 to 50 spans; the sum of their limits is 20000 at most. */
export type ChartBulkBody = readonly {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly base: string;
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly quote: string;
  /** UTC; weeks start Monday 00:00, months on the 1st. */
  readonly resolution:
    | 'min1'
    | 'min3'
    | 'min5'
    | 'min15'
    | 'min30'
    | 'hour1'
    | 'hour2'
    | 'hour4'
    | 'hour12'
    | 'day1'
    | 'week1'
    | 'month1';
  readonly from: number;
  readonly to: number;
  /** Most bars in the answer, the newest; default 400. */
  readonly limit?: number;
  readonly fill?: 'none' | 'previous';
  /** Prices (default), or market caps in ADA. */
  readonly kind?: 'price' | 'mcap';
  /**
   * `trade` (default): prices of the trades. `spot`: the spot price before and after each
   * trade, so that the bars of a chart connect. Market caps have no `spot`.
   */
  readonly price?: 'trade' | 'spot';
}[];

export type ChartBulkAnswer = readonly (
  | {
      /** Oldest first. */
      readonly bars: readonly (
        | ChartLastAnswer
        | {
            readonly pair: {
              /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
              readonly base: string;
              /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
              readonly quote: string;
            };
            /** Start of the interval, Unix seconds. */
            readonly time: number;
            /** Exact decimal, at most 18 fractional digits. */
            readonly low: string;
            /** Exact decimal, at most 18 fractional digits. */
            readonly high: string;
            /** Exact decimal, at most 18 fractional digits. */
            readonly open: string;
            /** Exact decimal, at most 18 fractional digits. */
            readonly close: string;
            readonly trades: number;
            /** Market time has passed the end of the interval. */
            readonly final: boolean;
            /** In ADA: spot price after the last trade × supply; = close. */
            readonly mCap: string;
            /** The interval contains market time. */
            readonly isRelevant: boolean;
          }
      )[];
      /** Older ones were cut: ask again with it as `to`. */
      readonly nextTo?: number;
    }
  | ItemError
)[];
