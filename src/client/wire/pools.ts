// Made from the schemas of the server by scripts/writeWireTypes.ts: not edited by hand.
import type { AssetInfo, LiquidityPoolInfo } from './shapes.ts';

export interface PoolListQuery {
  /**
   * New: by launch. Latest: by last trade. MCapDesc: not graduated, by market cap.
   * CompletedCreateOn, CompletedMCap: graduated, by launch and by market cap. Trending: by
   * volume in 24 hours, graduated included, ties by market cap.
   */
  readonly filter:
    | 'New'
    | 'Latest'
    | 'CompletedCreateOn'
    | 'CompletedMCap'
    | 'MCapDesc'
    | 'Trending';
}

export type PoolListAnswer = readonly LiquidityPoolInfo[];

export type TopPoolAnswer = LiquidityPoolInfo;

export interface SearchPoolsQuery {
  /** Search text: more than space, at most 128 code points, no backslash. */
  readonly pattern: string;
  readonly offset?: number;
  readonly limit?: number;
}

export interface SearchPoolsAnswer {
  /** How many there are, on this page or not. */
  readonly count: number;
  readonly items: readonly LiquidityPoolInfo[];
}

export interface FollowingQuery {
  readonly offset?: number;
  readonly limit?: number;
}

/** Asset ids of tokens. */
export type FollowingBody = readonly string[];

export interface FollowingAnswer {
  /** How many there are, on this page or not. */
  readonly count: number;
  readonly items: readonly LiquidityPoolInfo[];
}

/** Asset ids of tokens. */
export type FollowingListBody = readonly string[];

export interface FollowingListAnswer {
  /** How many there are, on this page or not. */
  readonly count: number;
  readonly items: readonly LiquidityPoolInfo[];
}

export interface PoolQuery {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
}

export type PoolAnswer = LiquidityPoolInfo;

export interface CurveProgressQuery {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
}

export interface CurveProgressAnswer {
  /** Percent of the cap, cut to 2 decimals. */
  readonly percent: string;
}

export interface AssetInfoQuery {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
}

export type AssetInfoAnswer = AssetInfo;

export interface Launch extends AssetInfo {
  /** Asset id of the pool’s NFT. */
  readonly poolId: string;
  /** The launch. */
  readonly txHash: string;
  /** Unix seconds: of its block; while it is pending, when it was seen. */
  readonly time: number;
  /** In the mempool, in no block yet. */
  readonly pending: boolean;
}

export type NewLaunchesData = readonly (
  | Launch
  | {
      /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
      readonly asset: string;
      readonly removed: true;
    }
)[];

export interface NewLaunchesInput {
  /** Payment key hash of the author: only its launches. */
  readonly author?: string;
  /** Only tokens with this `assetType`. The chain does not say it: every token has `Meme`. */
  readonly assetType?: string;
}
