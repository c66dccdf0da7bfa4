// Made from the schemas of the server by scripts/writeWireTypes.ts: not edited by hand.
import type { InsightsData } from './holders.ts';
import type { OrderBookData, OrderBookInput } from './orders.ts';
import type { NewLaunchesData, NewLaunchesInput } from './pools.ts';
import type { ApiOrder, LiquidityPoolInfo, PoolListUpdate, Rollback, TradeRow } from './shapes.ts';
import type { TickersData, TickersInput } from './tickers.ts';
import type { NewestTradesData, NewestTradesInput } from './trades.ts';

export type LastBarData = {
  /** `base_quote` */
  readonly pair: string;
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
  /** The interval contains market time. */
  readonly isRelevant: boolean;
} | null;

/**
 * Every change that is not of the newest bar: a trade for an older one (`late`), the end of
 * an older one (`final`), a rollback. Put each bar in its place; `{time, removed: true}`
 * takes it away. Ordinary updates never go back in time. Where the newest bar is among
 * those revised, an ordinary update with the same `seq` repeats it, for clients that know
 * no other event.
 */
export interface LastBarRevised {
  readonly pair: string;
  /** UTC; weeks start Monday 00:00, months on the 1st. */
  readonly interval:
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
  readonly reason: 'rollback' | 'late' | 'final';
  readonly fromSlot: number | null;
  readonly toSlot: number | null;
  readonly bars: readonly (
    | {
        /** `base_quote` */
        readonly pair: string;
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
        /** The interval contains market time. */
        readonly isRelevant: boolean;
      }
    | {
        readonly time: number;
        readonly removed: true;
      }
  )[];
}

export interface LastBarInput {
  readonly pair: {
    /** Asset id, or `.`, `ADA` or `0x` for the native coin. */
    readonly base: string;
    /** Asset id, or `.`, `ADA` or `0x` for the native coin. */
    readonly quote: string;
  };
  /** UTC; weeks start Monday 00:00, months on the 1st. */
  readonly interval:
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
  readonly fill?: 'none' | 'previous' | '' | null;
  /**
   * `trade` (default): prices of the trades. `spot`: the spot price before and after each
   * trade, so that the bars of a chart connect.
   */
  readonly price?: 'trade' | 'spot' | '' | null;
}

export type MCapBarData = {
  /** `base_quote` */
  readonly pair: string;
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
} | null;

/**
 * Every change that is not of the newest bar: a trade for an older one (`late`), the end of
 * an older one (`final`), a rollback. Put each bar in its place; `{time, removed: true}`
 * takes it away. Ordinary updates never go back in time. Where the newest bar is among
 * those revised, an ordinary update with the same `seq` repeats it, for clients that know
 * no other event.
 */
export interface MCapBarRevised {
  readonly pair: string;
  /** UTC; weeks start Monday 00:00, months on the 1st. */
  readonly interval:
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
  readonly reason: 'rollback' | 'late' | 'final';
  readonly fromSlot: number | null;
  readonly toSlot: number | null;
  readonly bars: readonly (
    | {
        /** `base_quote` */
        readonly pair: string;
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
    | {
        readonly time: number;
        readonly removed: true;
      }
  )[];
}

export interface MCapBarInput {
  readonly pair: {
    /** Asset id, or `.`, `ADA` or `0x` for the native coin. */
    readonly base: string;
    /** Asset id, or `.`, `ADA` or `0x` for the native coin. */
    readonly quote: string;
  };
  /** UTC; weeks start Monday 00:00, months on the 1st. */
  readonly interval:
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
  readonly fill?: 'none' | 'previous' | '' | null;
}

export type PoolFeedData = LiquidityPoolInfo | null;

export interface PoolFeedInput {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
}

export type KOTHData = PoolFeedData;

export type NewData = PoolListUpdate;

export type LatestData = NewData;

export type CompletedCreateOnData = NewData;

export type CompletedMCapData = NewData;

export type MCapDescData = NewData;

export type TrendingData = NewData;

export type LiveOrdersFeedData = {
  /** Changed orders on the chain, newest first. */
  readonly ledger: readonly ApiOrder[];
  /** Changed orders that are in no block. */
  readonly mempool: readonly ApiOrder[];
  /** Neither the chain nor the mempool has them. */
  readonly removed: readonly string[];
  /** Number of all orders on the chain. */
  readonly count: number;
} | null;

export interface LiveOrdersFeedRevised {
  /** Changed orders on the chain, newest first. */
  readonly ledger: readonly ApiOrder[];
  /** Changed orders that are in no block. */
  readonly mempool: readonly ApiOrder[];
  /** Neither the chain nor the mempool has them. */
  readonly removed: readonly string[];
  /** Number of all orders on the chain. */
  readonly count: number;
  readonly reason: 'rollback';
  readonly fromSlot: number | null;
  readonly toSlot: number | null;
}

export interface LiveOrdersFeedInput {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
  /** null or []: everybody. */
  readonly pkhFilter?: null | readonly string[];
  /** The same, by its other name. */
  readonly pkhs?: null | readonly string[];
}

export type UserHistoryByAddressData = LiveOrdersFeedData;

export type UserHistoryByAddressRevised = LiveOrdersFeedRevised;

export interface UserHistoryByAddressInput {
  /** bech32; a base or enterprise key address of this network. */
  readonly address: string;
}

export type UserHistoryByAddressAndAssetData = LiveOrdersFeedData;

export type UserHistoryByAddressAndAssetRevised = LiveOrdersFeedRevised;

export interface UserHistoryByAddressAndAssetInput {
  /** bech32; a base or enterprise key address of this network. */
  readonly address: string;
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
}

/** Newest first; after a rollback also `{id, removed: true}`. */
export type TradesData =
  | readonly (
      | TradeRow
      | {
          /** Place in the chain: slot, transaction, fill. Sorts; unique for the token. */
          readonly id: string;
          readonly removed: true;
        }
    )[]
  | null;

export type TradesInput = PoolFeedInput;

export type InsightsInput = PoolFeedInput;

export interface HealthData {
  /** Name of the log: <n>-<random>. */
  readonly epoch: string;
  /** Newest entry that every answer includes. */
  readonly seq: number;
  readonly node: string;
  /** A reader never leads (ROLE=reader). */
  readonly role: 'leader' | 'follower' | 'reader';
  readonly synced: boolean;
  /** The source of entries is silent: right but old. */
  readonly stale: boolean;
  readonly tip: {
    /** Slot of the newest block; null without a chain. */
    readonly slot: number | null;
    /** Hash of the newest block; null without a chain. */
    readonly hash: string | null;
    /** Market time, Unix seconds. */
    readonly time: number | null;
    /** Milliseconds between the newest entry and now; null where unknown. */
    readonly lagMs: number | null;
    /** Height of the newest block; null without a chain. */
    readonly height: number | null;
  };
  /** The newest rollback that holds; null: there was none. */
  readonly rollback: Rollback | null;
  /** Codes of faults, and of conditions that this node waits for: see /health/ready. */
  readonly reasons: readonly string[];
  /** false: submissions answer 503 NOT_READY for now. */
  readonly submits: boolean;
}

/** By topic. */
export interface Topics {
  LastBar: { input: LastBarInput; data: LastBarData; others: { BarsRevised: LastBarRevised } };
  MCapBar: { input: MCapBarInput; data: MCapBarData; others: { BarsRevised: MCapBarRevised } };
  PoolFeed: { input: PoolFeedInput; data: PoolFeedData; others: Record<never, never> };
  KOTH: { input: undefined; data: KOTHData; others: Record<never, never> };
  New: { input: undefined; data: NewData; others: Record<never, never> };
  Latest: { input: undefined; data: LatestData; others: Record<never, never> };
  CompletedCreateOn: {
    input: undefined;
    data: CompletedCreateOnData;
    others: Record<never, never>;
  };
  CompletedMCap: { input: undefined; data: CompletedMCapData; others: Record<never, never> };
  MCapDesc: { input: undefined; data: MCapDescData; others: Record<never, never> };
  Trending: { input: undefined; data: TrendingData; others: Record<never, never> };
  LiveOrdersFeed: {
    input: LiveOrdersFeedInput;
    data: LiveOrdersFeedData;
    others: { OrdersRevised: LiveOrdersFeedRevised };
  };
  UserHistoryByAddress: {
    input: UserHistoryByAddressInput;
    data: UserHistoryByAddressData;
    others: { OrdersRevised: UserHistoryByAddressRevised };
  };
  UserHistoryByAddressAndAsset: {
    input: UserHistoryByAddressAndAssetInput;
    data: UserHistoryByAddressAndAssetData;
    others: { OrdersRevised: UserHistoryByAddressAndAssetRevised };
  };
  OrderBook: { input: OrderBookInput; data: OrderBookData; others: Record<never, never> };
  Trades: { input: TradesInput; data: TradesData; others: Record<never, never> };
  NewestTrades: { input: NewestTradesInput; data: NewestTradesData; others: Record<never, never> };
  Tickers: { input: TickersInput; data: TickersData; others: Record<never, never> };
  Insights: { input: InsightsInput; data: InsightsData; others: Record<never, never> };
  NewLaunches: { input: NewLaunchesInput; data: NewLaunchesData; others: Record<never, never> };
  Health: { input: undefined; data: HealthData; others: Record<never, never> };
}
