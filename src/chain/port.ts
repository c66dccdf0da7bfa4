/**
 * The chain, as the rest of the program sees it: a source of blocks, a place to submit, and a
 * lookup of unspent outputs. Contract suites: test/contracts/chain*.ts, run on every adapter.
 *
 * Source guarantees:
 * - Events come in order. After `back` to a point the next `forward` is the child of that point.
 * - A stream opened at a known point begins with `back` to that point (it changes nothing there).
 * - Blocks come at least once: after a crash the stream is opened at the newest point that was
 *   written down, and what followed it comes again.
 * - `mempool` tells changes of what waits, in the order in which it can be applied. The first one
 *   after opening, and after every fork, is the whole mempool, with `whole: true`: what is neither
 *   in it nor `removed` is being judged again and will be told. A transaction that moves into a
 *   block is not reported as removed.
 *
 * May be lost: what waited in the mempool when the ledger was killed.
 */
import type { OutputRef, Utxo } from '../cardano/codec/output.ts';
import type { Transaction } from '../cardano/codec/transaction.ts';
import type { AssetId } from '../engine/market/asset.ts';

export interface Point {
  readonly slot: number;
  /** Of the block, hex. */
  readonly hash: string;
}

/** The newest block of a chain, as it was told last. */
export interface ChainTip extends Point {
  readonly height: number;
}

export interface Block {
  readonly point: Point;
  readonly height: number;
  /** Start of its slot. */
  readonly timeMs: number;
  /** Those whose scripts failed (`isValid` false) moved only their collateral. */
  readonly transactions: readonly Transaction[];
  /** Position of each of them in the block; absent: all are here. A source may leave out others. */
  readonly places?: readonly number[];
}

export interface Removal {
  readonly id: string;
  readonly reason: RefusalReason;
}

export type ChainEvent =
  | { readonly kind: 'forward'; readonly block: Block }
  /** null: before the first block. */
  | { readonly kind: 'back'; readonly point: Point | null }
  | {
      readonly kind: 'mempool';
      readonly whole: boolean;
      readonly added: readonly Transaction[];
      readonly removed: readonly Removal[];
    };

export interface ChainStream {
  /** The next event, as soon as there is one; null once the stream is closed. */
  next(): Promise<ChainEvent | null>;
  close(): Promise<void>;
}

export interface ChainSource {
  /**
   * Opens at the newest of `points` that is still on the chain (newest first), or at the beginning
   * when the list is empty. null: none of them is on this chain.
   */
  open(points: readonly Point[]): Promise<ChainStream | null>;
}

/** Why a transaction was refused or dropped; `reason` of api.md section 3. */
export const REFUSALS = [
  'MALFORMED',
  'INPUT_SPENT',
  'BAD_SIGNATURE',
  'SIGNATURE_MISSING',
  'SCRIPT_FAILED',
  'EXPIRED',
  'NOT_YET_VALID',
  'VALUE_NOT_CONSERVED',
  'FEE_TOO_SMALL',
  'OUTPUT_TOO_SMALL',
  'LIMITS_EXCEEDED',
  'COLLATERAL',
  'MEMPOOL_FULL',
  'REFUSED',
] as const;
export type RefusalReason = (typeof REFUSALS)[number];

export type SubmitOutcome =
  /** Also for a transaction that waits or is in a block already. */
  | { readonly outcome: 'accepted'; readonly txHash: string }
  | { readonly outcome: 'refused'; readonly reason: RefusalReason; readonly message: string };

export interface Submitter {
  submit(bytes: Uint8Array): Promise<SubmitOutcome>;
}

/**
 * `spendable`: in a block, and spent neither in a block nor in the mempool.
 * `newest`: that, and what the mempool makes and does not spend itself.
 * `wallet`: spendable, and what mempool transactions that spend an output of the same key give
 * back.
 */
export type UtxoView = 'spendable' | 'newest' | 'wallet';

export type UtxoState =
  | { readonly state: 'unspent'; readonly utxo: Utxo }
  | { readonly state: 'spent'; readonly utxo: Utxo | null }
  | { readonly state: 'unknown' };

export interface UtxoLookup {
  /** All addresses with this payment key, ordered by reference, after `after`, at most `limit`. */
  byPaymentKey(
    keyHash: string,
    view: UtxoView,
    page?: { readonly after?: OutputRef; readonly offset?: number; readonly limit?: number },
  ): Promise<readonly Utxo[]>;
  byAsset(asset: AssetId, view: UtxoView): Promise<readonly Utxo[]>;
  /** Content of outputs, unspent in the view `newest` or not; in the order asked. */
  byRefs(refs: readonly OutputRef[]): Promise<readonly UtxoState[]>;
}
