import type { OutputRef, Utxo } from '../codec/output.ts';
import type { Transaction } from '../codec/transaction.ts';

export interface Effects {
  readonly spent: readonly OutputRef[];
  readonly made: readonly Utxo[];
}

/** What a transaction takes and makes; with failed scripts, its collateral and the rest of it. */
export function effectsOf(tx: Transaction): Effects {
  if (tx.isValid) {
    const made = tx.outputs.map((output, index) => ({ ref: { txHash: tx.id, index }, output }));
    return { spent: tx.inputs, made };
  }
  const ref = { txHash: tx.id, index: tx.outputs.length };
  const made = tx.collateralReturn === null ? [] : [{ ref, output: tx.collateralReturn }];
  return { spent: tx.collateralInputs, made };
}
