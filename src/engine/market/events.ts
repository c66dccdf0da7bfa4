/**
 * Market events of a block, in the order in which they happened. Recognised once, by the
 * leader, and written into the log; everything downstream folds these and never sees a transaction.
 * Amounts are integer strings, because entries are JSON.
 */
import type { AssetId } from './asset.ts';

/** `<tx>:<index>` */
export type RefText = string;

/** A pool's reserves as after one step. `owed` is 0 on the curve. */
export interface Reserves {
  readonly venue: 'CURVE' | 'AMM';
  readonly x: string;
  readonly y: string;
  readonly owed: string;
  /** The fees of a pool of Splash, each of 100,000; absent in the steps of a batch. */
  readonly splash?: {
    readonly feeNum: string;
    readonly treasuryFee: string;
    readonly royaltyFee: string;
  };
}

export interface LaunchedToken {
  readonly nft: AssetId;
  readonly token: AssetId;
  readonly aNum: string;
  readonly bNum: string;
  readonly supply: string;
  readonly thresholdLovelace: string;
  readonly executor: string;
  /**
   * The output that gives the NFT its name; graduation shows it. null where the launch does not
   * tell.
   */
  readonly seed: RefText | null;
  readonly author: { readonly pkh: string; readonly skh: string; readonly address: string };
  readonly name: string;
  readonly ticker: string;
  readonly logoCID: string;
  readonly description: string;
  readonly launchType: number;
  readonly socials: Readonly<Record<'twitter' | 'discord' | 'telegram' | 'website', string>>;
  /** The metadata output; null if the launch carried no readable metadata. */
  readonly metadataRef: RefText | null;
}

/**
 * Where in the chain something stands, as text that sorts: slot, transaction in the block, and
 * output or fill in the transaction, each padded with zeros.
 */
export type ChainOrder = string;

export function chainOrder(slot: number, txIndex: number, index: number): ChainOrder {
  const parts = [String(slot).padStart(12, '0'), String(txIndex).padStart(6, '0')];
  return [...parts, String(index).padStart(4, '0')].join('.');
}

/** The offer of an order's output; each part that is executed leaves another output. */
export interface OrderRest {
  readonly ref: RefText;
  /** Offered amount: lovelace of a buy, tokens of a sell. */
  readonly amount: string;
  /** Paid when it is executed. */
  readonly feeLovelace: string;
  /**
   * Returned with the proceeds of the execution: the deposit, and the earlier proceeds of a sell.
   */
  readonly depositLovelace: string;
  /** Tokens that parts of a buy have brought; absent: none. */
  readonly heldTokens?: string;
}

/** An order as it was placed. */
export interface PlacedOrder extends OrderRest {
  readonly at: ChainOrder;
  /** The token it buys or sells. */
  readonly token: AssetId;
  readonly side: 'buy' | 'sell';
  readonly worstPrice: { readonly numerator: string; readonly denominator: string };
  /** 0: its owner may take it back at any time; no refund ends it. */
  readonly refundAfterMs: number;
  readonly address: string;
  readonly pkh: string;
  readonly beacon: string;
  /** It may be executed in parts. */
  readonly inParts?: true;
}

export interface VestingLock {
  readonly ref: RefText;
  readonly token: AssetId;
  readonly amount: string;
  readonly unlockMs: string;
  readonly owner: string;
  /** Address of the owner: key hash of the lock with the stake part of its output. */
  readonly ownerAddress: string;
}

/** An event in transaction `tx`. */
export type MarketEvent = { readonly tx: string } & (
  | { readonly kind: 'launched'; readonly pool: LaunchedToken }
  /** A pool whose launch was never seen: known from here on, by what its output tells. */
  | {
      readonly kind: 'adopted';
      readonly pool: LaunchedToken;
      /** Time of its launch; absent: not known. */
      readonly createdMs?: number;
      /** Reserves in its output. */
      readonly to?: Reserves;
    }
  /** One order's fill, or with `order` null a launch's initial buy. */
  | {
      readonly kind: 'filled';
      readonly at: ChainOrder;
      readonly token: AssetId;
      readonly order: RefText | null;
      readonly side: 'buy' | 'sell';
      /** Tokens moved. */
      readonly tokens: string;
      /** Coin moved into or out of the pool's reserve, fees excluded. */
      readonly lovelace: string;
      readonly after: Reserves;
      /** The pool's arithmetic gives other amounts than its batch shows; see recognise/fills. */
      readonly exact?: false;
    }
  /** A pool's output was replaced; comes after the fills of its transaction. */
  | {
      readonly kind: 'moved';
      readonly token: AssetId;
      readonly ref: RefText;
      readonly to: Reserves;
    }
  /** `nft`: of the pool that follows, where it has another one. */
  | { readonly kind: 'graduated'; readonly token: AssetId; readonly nft?: AssetId }
  | { readonly kind: 'collected'; readonly token: AssetId; readonly lovelace: string }
  | { readonly kind: 'placed'; readonly order: PlacedOrder }
  /**
   * The rest of an order was executed; `received` of the order's output asset in this transaction.
   */
  | {
      readonly kind: 'executed';
      readonly order: RefText;
      readonly received: string;
      /**
       * Part of the input asset that came back because the pool was nearly full; absent: nothing.
       */
      readonly unspent?: string;
    }
  /** A part of it, `amount` for `received`; the rest waits in another output. */
  | {
      readonly kind: 'partlyExecuted';
      readonly order: RefText;
      /** The output that held it. */
      readonly from: RefText;
      readonly amount: string;
      readonly received: string;
      readonly feeLovelace: string;
      readonly rest: OrderRest;
    }
  | { readonly kind: 'refunded'; readonly order: RefText }
  | { readonly kind: 'cancelled'; readonly order: RefText }
  | { readonly kind: 'locked'; readonly lock: VestingLock }
  | { readonly kind: 'withdrawn'; readonly lock: RefText }
  /** Executor and fee address from here on, by the output at `ref`. */
  | {
      readonly kind: 'settings';
      readonly ref: RefText;
      readonly executor: string;
      readonly feeAddress: string;
    }
  /** Outputs of the deployment's scripts, and all outputs that hold a launched token. */
  | {
      readonly kind: 'made';
      readonly ref: RefText;
      readonly address: string;
      /** Payment key of the address, hex; null where it has none. */
      readonly pkh: string | null;
      /** An output at a script of the deployment: it belongs to its user, not to the script. */
      readonly isOurs: boolean;
      readonly lovelace: string;
      readonly assets: Readonly<Record<AssetId, string>>;
      readonly datum: string | null;
    }
  | { readonly kind: 'spent'; readonly ref: RefText }
);
