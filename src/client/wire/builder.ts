// Made from the schemas of the server by scripts/writeWireTypes.ts: not edited by hand.
import type { ItemError } from './shapes.ts';

export interface OrderBody {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly assetId: string;
  /** Lovelace of a BUY; tokens of BUY_WITH_OUTPUT and SELL. */
  readonly amount: string;
  readonly side: 'BUY' | 'BUY_WITH_OUTPUT' | 'SELL';
  /** Percent below the quoted output; `infinity` accepts any output of at least 1. */
  readonly slippage: '15' | '30' | '50' | '75' | 'infinity';
  readonly minOutput?: string | null;
  readonly waitFor?: number | null;
  readonly ttl?: number | null;
  /** bech32; a base or enterprise key address of this network. */
  readonly changeAddress: string;
  /**
   * Outputs to spend, each hex CBOR `[input, output]` (CIP-30). Absent: the server looks up
   * the wallet. Their content is always read from the ledger.
   */
  readonly utxos?: readonly string[] | 'splash-wallet' | '' | null;
}

export interface OrderAnswer extends QuoteAnswer {
  readonly id: string;
  /** Hex. */
  readonly cbor: string;
  /** 56 hex digits; the name of the order. */
  readonly beacon: string;
  readonly txHash: string;
  /** `<tx>:<index>` */
  readonly entityId: string;
  /** Integer. */
  readonly networkFee: string;
}

export interface QuoteQuery {
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly assetId: string;
  /** Lovelace of a BUY; tokens of BUY_WITH_OUTPUT and SELL. */
  readonly amount: string;
  readonly side: 'BUY' | 'BUY_WITH_OUTPUT' | 'SELL';
  /** Percent below the quoted output; `infinity` accepts any output of at least 1. */
  readonly slippage: '15' | '30' | '50' | '75' | 'infinity';
  /**
   * The least output that the order takes: an integer from 1 to the quoted output, or more
   * with `waitFor`. It replaces the bound of `slippage`. Compute it from the quote that you
   * show, so that the order is bound to it: max(1, ⌈output × (100 − slippage) / 100⌉), and
   * `amount` for BUY_WITH_OUTPUT. Where the pool gives less by now and nothing waits: 409
   * `PRICE_MOVED`, and nothing is built.
   */
  readonly minOutput?: string;
  /**
   * Seconds that a limit order waits for the pool to give `minOutput`, which may be more than
   * it gives now; afterwards the order may be refunded. Absent: the deployment’s time. An
   * order for a pool of Splash waits until it is filled or cancelled.
   */
  readonly waitFor?: number;
  /**
   * Seconds for which the transaction may enter a block: 60 to 86400, or 0 for no end.
   * Absent: 7200. An order’s end lies at least two minutes before it may be refunded, also
   * with 0.
   */
  readonly ttl?: number;
}

export interface QuoteAnswer {
  readonly price: {
    /** Integer. */
    readonly numerator: string;
    /** Integer. */
    readonly denominator: string;
  };
  /** The pool's newest output, mempool included; the quote is for it. */
  readonly pool: string;
  readonly priceQuote: '.';
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly priceBase: string;
  /** Integer. */
  readonly outputAmount: string;
  /** Integer. */
  readonly inputAmount: string;
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly outputAsset: string;
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly inputAsset: string;
  readonly worstPrice: {
    /** Integer. */
    readonly numerator: string;
    /** Integer. */
    readonly denominator: string;
  };
  /** Integer. */
  readonly minimumOutput: string;
  /** Hash of the script that holds such an order: compare it before you sign. */
  readonly orderScript: string;
  /**
   * Unix ms from which the order may be refunded. 0: it never is, and its owner may cancel it
   * at any time.
   */
  readonly expiresAt: number;
  /** Unix ms from which no block takes the transaction; null: it has no end. */
  readonly validUntil: number | null;
  readonly fees: {
    /** Integer. */
    readonly percentFee: string;
    /** Integer. */
    readonly platform: string;
    /** Integer. */
    readonly creator: string;
    /** Integer. */
    readonly executorFee: string;
    /** Comes back with the fill. */
    readonly deposit: string;
  };
  readonly venue: 'CURVE' | 'AMM';
}

/** 1 to 50 orders. */
export type QuotesBody = readonly QuoteQuery[];

export type QuotesAnswer = readonly (QuoteAnswer | ItemError)[];

export interface ParametersAnswer {
  /** Integer. */
  readonly tokenEmission: string;
  /** Integer. */
  readonly aNum: string;
  /** Integer. */
  readonly aDenom: string;
  /** Integer. */
  readonly bNum: string;
  /** Integer. */
  readonly bDenom: string;
  /** Integer. */
  readonly adaThreshold: string;
  /** Integer. */
  readonly fixedFee: string;
  /** Integer. */
  readonly minTradeAda: string;
  readonly percentFee: number;
  /** Policy of pool NFTs, under which tokens launch. */
  readonly deployScript: string;
}

export interface ProtocolConfigAnswer {
  /** Version of this shape. */
  readonly version: 2;
  /** Network in addresses: mainnet or testnet. */
  readonly network: string;
  readonly environment: string;
  readonly addresses: {
    /** bech32; a base or enterprise key address of this network. */
    readonly fee: string;
    /** bech32; a base or enterprise key address of this network. */
    readonly metadata: string;
    /** Payment key hash, 56 hex digits. */
    readonly executor: string;
    /** Hash of a script. */
    readonly launchPolicy: string;
    readonly scripts: Readonly<
      Record<
        string,
        {
          /** Hash of a script. */
          readonly hash: string;
          /** `<tx>:<index>` of the output that holds it. */
          readonly reference: string;
        }
      >
    >;
  };
  readonly parameters: {
    readonly tokenEmission: {
      /** In display units: ADA, or tokens. */
      readonly human: string;
      /** Integer. */
      readonly raw: string;
    };
    /** Integer. */
    readonly aNum: string;
    /** Integer. */
    readonly aDenom: string;
    /** Integer. */
    readonly bNum: string;
    /** Integer. */
    readonly bDenom: string;
    readonly adaThreshold: {
      /** In display units: ADA, or tokens. */
      readonly human: string;
      /** Integer. */
      readonly raw: string;
    };
    readonly executorFee: {
      /** In display units: ADA, or tokens. */
      readonly human: string;
      /** Integer. */
      readonly raw: string;
    };
    readonly fixedFee: {
      /** In display units: ADA, or tokens. */
      readonly human: string;
      /** Integer. */
      readonly raw: string;
    };
    readonly orderDeposit: {
      /** In display units: ADA, or tokens. */
      readonly human: string;
      /** Integer. */
      readonly raw: string;
    };
    readonly minTradeAda: {
      /** In display units: ADA, or tokens. */
      readonly human: string;
      /** Integer. */
      readonly raw: string;
    };
    readonly poolKeep: {
      /** In display units: ADA, or tokens. */
      readonly human: string;
      /** Integer. */
      readonly raw: string;
    };
    readonly refundFee: {
      /** In display units: ADA, or tokens. */
      readonly human: string;
      /** Integer. */
      readonly raw: string;
    };
    readonly percentFee: number;
    readonly creatorFeePer10k: number;
    readonly platformFeePer10k: number;
    readonly lpFeePer10k: number;
    /** An order may be refunded so long after it. */
    readonly refundAfterMs: number;
  };
}
