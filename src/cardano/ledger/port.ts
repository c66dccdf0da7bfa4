/**
 * A ledger, as the rest of the program sees it: a place to submit, and a lookup of unspent outputs.
 * Contract suites: test/contracts/chainSubmitter.ts and chainLookup.ts, run on every adapter.
 */
import type { AssetId } from '../../engine/market/asset.ts';
import type { OutputRef, Utxo } from '../codec/output.ts';

/** Why a transaction was refused or dropped; `reason` of protocol.md section 3. */
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
 * `newest`: spendable, and the mempool's outputs that the mempool does not spend. `wallet`:
 * spendable, and outputs of mempool transactions that spend an output of the same key and pay
 * change back to it.
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
  /**
   * The unspent output with `asset`, of which there is one, the mempool included; `ref` had it in a
   * block. null: there is none.
   */
  newestOf(ref: OutputRef, asset: AssetId): Promise<Utxo | null>;
  /** Content of outputs, unspent in the view `newest` or not; in the order asked. */
  byRefs(refs: readonly OutputRef[]): Promise<readonly UtxoState[]>;
}
