// Made from the schemas of the server by scripts/writeWireTypes.ts: not edited by hand.
import type { OrderPage, TradingMetrics } from './shapes.ts';

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
  /** Tokens of all addresses with the author’s payment key. */
  readonly dev: {
    /** The author’s, as of the launch; empty where the launch does not tell. */
    readonly address: string;
    /** Integer. */
    readonly quantity: string;
  };
  /** Number of all holders, the same on every page. */
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

/** Payment key hashes; a repeated hash counts once. */
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

/** Payment key hashes; a repeated hash counts once. */
export type AssetBalanceBody = readonly string[];

export type AssetBalanceAnswer = {
  /** ADA: confirmed tokens × spot price. */
  readonly balance: number;
} | null;

export interface TokenInsightsQuery {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
}

export type TokenInsightsAnswer = Insights;

export interface TokenTradersQuery {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
  /** The largest first; `volume` is spent and received ADA together. Ties: key. */
  readonly sort?: 'realized' | 'unrealized' | 'volume';
  readonly limit?: number;
}

export type TokenTradersAnswer = readonly {
  /** Payment key hash, 56 hex digits. */
  readonly pkh: string;
  readonly buys: number;
  readonly sells: number;
  /** ADA. */
  readonly spentAda: string;
  /** ADA. */
  readonly receivedAda: string;
  /** Confirmed tokens at all addresses with this key, however they came. */
  readonly balance: string;
  /** ADA. */
  readonly realizedPnlAda: string;
  /** ADA. */
  readonly unrealizedPnlAda: string;
}[];

export interface PortfolioQuery {
  /** Rows to skip. */
  readonly offset?: number;
  readonly limit?: number;
}

/** Payment key hashes; a repeated hash counts once. */
export type PortfolioBody = readonly string[];

export interface PortfolioAnswer {
  /** Value of all tokens, without the wallets’ ADA. */
  readonly valueAda: string;
  /** ADA. */
  readonly spentAda: string;
  /** ADA. */
  readonly receivedAda: string;
  /** ADA. */
  readonly realizedPnlAda: string;
  /** ADA. */
  readonly unrealizedPnlAda: string;
  /** Realized and unrealized / spent × 100; null where nothing was spent. */
  readonly pnlPercent: string | null;
  /** Number of all tokens, the same on every page. */
  readonly count: number;
  /** Held, or traded once. The most valuable first; ties by asset id. */
  readonly tokens: readonly {
    /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
    readonly asset: string;
    readonly name: string;
    readonly ticker: string;
    readonly logoCID: string;
    /** Spot, ADA per token. */
    readonly price: string;
    /** Confirmed tokens, however they came. */
    readonly balance: string;
    /** balance × price. */
    readonly valueAda: string;
    readonly buyCount: number;
    readonly sellCount: number;
    /** Integer. */
    readonly boughtTokens: string;
    /** Integer. */
    readonly soldTokens: string;
    /** ADA per token; "0" where there was none. */
    readonly averageBuyPrice: string;
    /** ADA per token; "0" where there was none. */
    readonly averageSellPrice: string;
    /** ADA. */
    readonly spentAda: string;
    /** ADA. */
    readonly receivedAda: string;
    /** ADA. */
    readonly realizedPnlAda: string;
    /** ADA. */
    readonly unrealizedPnlAda: string;
    /** Realized and unrealized / spent × 100; null where nothing was spent. */
    readonly pnlPercent: string | null;
    /** Unix seconds; null without a trade. */
    readonly firstTradeTime: number | null;
    /** Unix seconds; null without a trade. */
    readonly lastTradeTime: number | null;
  }[];
  /** The newest 100 orders that have not ended, and every order in the mempool. */
  readonly openOrders: OrderPage;
  /** Unspent, by reference. */
  readonly locks: readonly {
    /** `<tx>:<index>` */
    readonly id: string;
    /** Unix milliseconds. */
    readonly lockUntil: string;
    /** Payment key hash, 56 hex digits. */
    readonly redeemerVkh: string;
    readonly tokenPolicyId: string;
    /** Hex. */
    readonly tokenAssetName: string;
    /** Integer. */
    readonly totalLocked: string;
    /** bech32 */
    readonly vestingOwnerAddress: string;
    readonly spent: false;
  }[];
}

export interface PortfolioHistoryQuery {
  /** Points a minute, 5 minutes, an hour or a day apart, UTC. */
  readonly resolution: 'min1' | 'min5' | 'hour1' | 'day1';
  /** Only from this moment on, Unix seconds. */
  readonly from?: number;
  /** Only before this moment, Unix seconds. */
  readonly to?: number;
  readonly limit?: number;
  /** `csv`: the rows as CSV (RFC 4180) with a header row; also by `Accept: text/csv`. */
  readonly format?: 'json' | 'csv';
}

/** Payment key hashes; a repeated hash counts once. */
export type PortfolioHistoryBody = readonly string[];

export type PortfolioHistoryAnswer = readonly {
  /** Start of the interval, Unix seconds. */
  readonly time: number;
  /** At its end: tokens bought and not sold again, at their spot price. */
  readonly valueAda: string;
  /** Cost of these tokens. */
  readonly costAda: string;
  /** Since the first trade. */
  readonly realizedPnlAda: string;
  /** valueAda − costAda. */
  readonly unrealizedPnlAda: string;
  /** The interval has ended. */
  readonly final: boolean;
}[];

export interface Insights {
  /** Payment keys, and addresses without one, that hold tokens. */
  readonly holders: number;
  /** Tokens of the ten largest holders, in percent of the supply outside the pool. */
  readonly top10Percent: string;
  /** Tokens of the largest holder, in percent of the supply outside the pool. */
  readonly largestPercent: string;
  /** The same as `largestPercent`, in percent of the supply outside the pool. */
  readonly topHolderPercent: string;
  /** Tokens in vesting locks, in percent of the supply outside the pool. */
  readonly lockedPercent: string;
  readonly author: {
    /**
     * Tokens that the author’s payment key holds now, in percent of the supply outside the
     * pool.
     */
    readonly percent: string;
    /** Tokens that its filled sells ever sold. */
    readonly sold: string;
    /** Other tokens that this key launched. */
    readonly launches: number;
    /** How many of them have graduated. */
    readonly graduated: number;
  };
  /** The same as `author.percent`, in percent of the supply outside the pool. */
  readonly authorPercent: string;
  /** A sell of the author’s payment key was filled. */
  readonly authorSold: boolean;
  /** The same as `author.sold`. */
  readonly authorSoldTokens: string;
  /**
   * Keys other than the author’s with a filled buy that was placed in the block of the
   * launch, behind it. The key of an order is the one that its payment goes to. null where
   * the launch came before the first block followed here.
   */
  readonly bundlers: {
    /** Distinct payment keys. */
    readonly keys: number;
    /** Their present holdings, in percent of the supply outside the pool. */
    readonly percent: string;
  } | null;
  /**
   * The same for the three blocks after the launch block; a bundler is no sniper. null where
   * the launch came before the first block followed here.
   */
  readonly snipers: {
    /** Distinct payment keys. */
    readonly keys: number;
    /** Their present holdings, in percent of the supply outside the pool. */
    readonly percent: string;
  } | null;
  /**
   * Payment keys other than the author’s that the launch transaction paid tokens to, or that
   * gained tokens in a transaction in which the author’s key lost some. Tokens from fills of
   * orders and from withdrawn locks do not count. null where the launch came before the first
   * block followed here.
   */
  readonly insiders: {
    /** Distinct payment keys. */
    readonly keys: number;
    /** Their present holdings, in percent of the supply outside the pool. */
    readonly percent: string;
  } | null;
  /**
   * Buys that were **filled** in the block of the launch by other keys than the author’s.
   * null where the launch came before the first block followed here.
   */
  readonly bundled: {
    /** Distinct payment keys. */
    readonly keys: number;
    /**
     * Tokens that these buys brought; above 100 where much was sold back, in percent of the
     * supply outside the pool.
     */
    readonly percent: string;
  } | null;
}

export type InsightsData = Insights | null;
