// Made from the schemas of the server by scripts/writeWireTypes.ts: not edited by hand.

export interface ItemError {
  readonly error: {
    /** For a machine; see the list of causes. */
    readonly cause: string;
    /** For a person: what happened and what to do. */
    readonly message: string;
    /** Which item: `body.3`. */
    readonly path: string;
  };
}

export interface AssetInfo {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
  readonly name: string;
  readonly ticker: string;
  readonly logoCID: string;
  readonly description: string;
  /** 0: DEFAULT, 1: HYPED. */
  readonly launchType: number;
  readonly poolAuthor: {
    readonly pkh: string;
    readonly skh: string;
  };
  readonly socials: {
    readonly twitter: string | null;
    readonly telegram: string | null;
    readonly discord: string | null;
    readonly website: string | null;
  };
  /** `<tx>:<index>` of the metadata; null where the launch carried none. */
  readonly outputId: string | null;
  readonly assetType: string;
}

export interface LiquidityPoolInfo {
  readonly pool: {
    /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
    readonly id: string;
    readonly x: {
      readonly asset: '.';
      /** Integer. */
      readonly amount: string;
    };
    readonly y: {
      /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
      readonly asset: string;
      /** Integer. */
      readonly amount: string;
    };
    readonly outputId: {
      readonly transactionId: string;
      readonly transactionIndex: number;
    };
    readonly aNum: number;
    readonly bNum: number;
    /** Lovelace. */
    readonly adaCapThreshold: number;
    readonly poolAuthor: string;
    readonly launchType: '';
    /**
     * Time of the launch. null: following began later, and Kupo does not have it. Last in
     * lists.
     */
    readonly createdOn: number | null;
    /** Payment key hash, 56 hex digits. */
    readonly permittedExecutor: string;
    /** Set by graduation. */
    readonly cpmmPoolId: string | null;
    readonly version: 'v1';
    /** Unix seconds. */
    readonly timestamp: number;
  };
  readonly metrics: {
    /** Lovelace. */
    readonly marketCap: number;
    /** Lovelace. */
    readonly totalVolumeAda: number;
    readonly totalTxCount: number;
    /** null: it was never on top, or its history is not whole (`since`). */
    readonly crowned: number | null;
    readonly sequentialOrderingEnabled: boolean;
    /**
     * null: its history is whole. Else the slot with which this node’s history of it begins,
     * because following began after its launch: earlier trades, volume and holders are missing.
     */
    readonly since: number | null;
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
  };
  readonly info: AssetInfo;
}

export interface TradingMetrics {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
  /** Payment key hash, 56 hex digits. */
  readonly pkh: string;
  readonly buyCount: number;
  readonly sellCount: number;
  /** Integer. */
  readonly boughtTokens: string;
  /** Integer. */
  readonly soldTokens: string;
  /** ADA. */
  readonly spentAda: string;
  /** ADA. */
  readonly receivedAda: string;
  /** Confirmed tokens at all addresses with this key, however they came. */
  readonly balance: string;
  /** ADA per token; "0" where there was none. */
  readonly averageBuyPrice: string;
  /** ADA per token; "0" where there was none. */
  readonly averageSellPrice: string;
  /** ADA. */
  readonly realizedPnlAda: string;
  /** ADA. */
  readonly unrealizedPnlAda: string;
  /** Unix seconds, of the block. */
  readonly firstTradeTime: number;
  /** Unix seconds, of the block. */
  readonly lastTradeTime: number;
}

export interface ApiOrder {
  /** `<tx>:<index>` of the order output. */
  readonly entityId: string;
  readonly beacon: string;
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly from: string;
  /** Integer. */
  readonly fromAmount: string;
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly to: string;
  /**
   * Received in all. Before that the least that the worst price accepts; 0 when given back or
   * dropped.
   */
  readonly toAmount: string;
  /** Part of `fromAmount` that was executed, in blocks. */
  readonly filledAmount: string;
  /** Part of `fromAmount` that was not executed. */
  readonly remaining: string;
  /** Where the output is paid to, bech32. */
  readonly address: string;
  /** Output per input. */
  readonly worstPrice: {
    /** Integer. */
    readonly numerator: string;
    /** Integer. */
    readonly denominator: string;
  };
  /** Placed it. */
  readonly pendingTransactionId: string;
  /** Executed (the newest part of) it, refunded or cancelled it, in a block or in the mempool. */
  readonly evaluatedTransactionId: string | null;
  /** Unix seconds of the block that placed it, or when the mempool first showed it. */
  readonly timestamp: number;
  /** State of the order in chain and mempool; see the states of an order. */
  readonly status:
    | 'Pending'
    | 'Evaluated'
    | 'Refunded'
    | 'Dropped'
    | 'MempoolPending'
    | 'MempoolEvaluated'
    | 'MempoolRefunded';
  /** Spot on the curve, CFMM on the AMM: of the fill, until then as expected. */
  readonly orderType: 'Spot' | 'CFMM';
  /** Payment key hash, 56 hex digits. */
  readonly pkh: string;
  readonly venue: 'CURVE' | 'AMM';
  /** Unix seconds of the block that ended it. */
  readonly evaluatedAt: number | null;
  /**
   * Unix milliseconds from which on it may be refunded. 0: it never is, and its owner may
   * cancel it at any time.
   */
  readonly expiresAt: number;
  /** cancelled by its owner, or expired. */
  readonly refundReason: 'cancelled' | 'expired' | null;
  /**
   * Lovelace that its executions, in blocks, paid to the executor beside `fromAmount`. It
   * does not include what a refund keeps; fees in percent are in the amounts.
   */
  readonly feeLovelace: string;
}

export interface OrderPage {
  readonly ledger: {
    /** Number of orders on all pages, within `from` and `to`. */
    readonly count: number;
    /** On the chain, newest first. */
    readonly items: readonly ApiOrder[];
  };
  /** Every order that is in no block yet, newest first. */
  readonly mempool: readonly ApiOrder[];
}

export interface OrderTrades extends ApiOrder {
  /** closed: executed. cancelled: given back, or dropped. mempool: may change. */
  readonly orderStatus: 'open' | 'closed' | 'cancelled' | 'mempool';
  /** Integer. */
  readonly inputAmount: string;
  /** Integer. */
  readonly outputAmount: string;
  /** ADA per token: of the trade (percent fee left out), else the worst one. */
  readonly price: string;
  /** Filled percent of the offered amount, cut to 2 decimals. */
  readonly filled: string;
  readonly fills: readonly {
    readonly txHash: string;
    /** Unix seconds. */
    readonly time: number;
    /** Integer. */
    readonly fromAmount: string;
    /** Integer. */
    readonly toAmount: string;
    /** ADA per token. */
    readonly price: string;
  }[];
}

export interface TradeRow {
  /** Place in the chain: slot, transaction, fill. Sorts; unique for the token. */
  readonly id: string;
  /** Unix seconds. */
  readonly time: number;
  readonly side: 'buy' | 'sell';
  /** ADA per token: coin over tokens moved, percent fee left out. */
  readonly price: string;
  /** Tokens moved. */
  readonly baseAmount: string;
  /** Lovelace moved. */
  readonly quoteAmount: string;
  readonly txHash: string;
  /** Payment key of the trader; empty where it cannot be told. */
  readonly pkh: string;
  /** ADA per token. */
  readonly spotAfter: string;
}

/**
 * Where a change counts from something else than the price at the start of its window:
 * `{"24h": {"since": "launch"}}` of a token younger than 24 hours, whose change counts from
 * the price of its launch.
 */
export interface ChangeBasis {
  readonly '5m'?: {
    readonly since: 'launch';
  };
  readonly '1h'?: {
    readonly since: 'launch';
  };
  readonly '6h'?: {
    readonly since: 'launch';
  };
  readonly '24h'?: {
    readonly since: 'launch';
  };
}

export interface StreamSubscription {
  /** A topic of the socket; AsyncAPI lists them. */
  readonly topic: string;
  /** As the topic takes it. */
  readonly data?: unknown;
  /** Names the subscription in its events; its index where it is left out. */
  readonly requestId?: string | number;
  /** Continue from here; `Last-Event-ID` goes before it. */
  readonly since?: {
    readonly epoch: string;
    readonly seq: number;
  };
  /** false: changes only. */
  readonly snapshot?: boolean;
  /** Events a second, rounded down to 1, 2, 5, 10 or 20. */
  readonly maxHz?: number;
}

export interface PoolListUpdate {
  /** Pools that changed or are new on the page; a snapshot has every pool. */
  readonly items: readonly LiquidityPoolInfo[];
  /**
   * Asset ids of the page in their order. The pool of each is in `items`, or was in an
   * earlier update’s; a pool that is not named has left the page.
   */
  readonly order: readonly string[];
  /** Unsigned IEEE CRC-32 of the asset ids of `order` joined by commas. */
  readonly crc32: number;
}

export interface MarketTrade extends TradeRow {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly asset: string;
  readonly ticker: string;
}

export interface Rollback {
  /** The entry that it was: another one is another rollback. */
  readonly seq: number;
  /** Slot of the newest block that it left; null: none, or no chain. */
  readonly toSlot: number | null;
  /** How many blocks it took away; null without a chain. */
  readonly blocks: number | null;
}
