/**
 * A transaction to be made, as plain data that survives a thread border: the inputs that it must
 * spend, the outputs that it must pay, the inputs that it may spend in addition, and the source of
 * the network fee. Planners make plans from a request and chain data; `assemble` makes bytes of
 * them and decides nothing else.
 *
 * Inputs are sorted by the ledger; a planner that pairs input i with output i sorts them first.
 */

import { toHex } from '../codec/hex.ts';
import type { Utxo } from '../codec/output.ts';
import { encodePlutusData, type PlutusData } from '../codec/plutusData.ts';
import type { Value } from '../codec/value.ts';

export interface PlannedInput {
  readonly utxo: Utxo;
  /** CBOR hex of the redeemer; null for an output of a key. */
  readonly redeemer: string | null;
}

export interface PlannedOutput {
  /** bech32. */
  readonly address: string;
  readonly value: Value;
  /** Inline datum, CBOR hex. */
  readonly datum: string | null;
  /** To be referred to: PlutusV2 in one layer of CBOR, hex. */
  readonly script?: string;
}

export interface PlannedMint {
  readonly policyId: string;
  /** By name, hex. */
  readonly amounts: ReadonlyMap<string, bigint>;
  readonly redeemer: string;
  /** PlutusV2 in two layers of CBOR, hex, to be attached; null: it lies in a reference. */
  readonly script: string | null;
}

export interface PlannedCollateral {
  readonly utxos: readonly Utxo[];
  readonly returnAddress: string;
}

export interface TransactionPlan {
  readonly inputs: readonly PlannedInput[];
  /** May be spent where `inputs` do not suffice; `exact`: nothing else is spent. */
  readonly wallet: readonly Utxo[] | 'exact';
  readonly outputs: readonly PlannedOutput[];
  readonly mints: readonly PlannedMint[];
  /** Outputs that hold the scripts of inputs and mints. */
  readonly references: readonly Utxo[];
  /** Metadata, CBOR hex; null: none. */
  readonly auxiliaryData: string | null;
  /** First slot in which it is valid, and the first in which it is not any more. */
  readonly validFromSlot: number | null;
  readonly validToSlot: number | null;
  /** Key hashes that scripts ask for. */
  readonly signers: readonly string[];
  /** A native script that inputs are spent by, CBOR hex, and the keys that may sign for it. */
  readonly native: { readonly script: string; readonly keyHashes: readonly string[] } | null;
  /** Null where no script runs. */
  readonly collateral: PlannedCollateral | null;
  /** The remaining value goes to this address, in outputs after the planned ones. */
  readonly changeAddress: string;
  /** The source of the fee: the change, or the planned output with this index, which shrinks. */
  readonly feeFrom: 'change' | number;
  /** Percent of a transaction's limits (bytes, memory, CPU); above it the build is TOO_LARGE. */
  readonly maxPercent: number;
}

/** A plan with everything absent that a request leaves out. */
export function planOf(
  given: Pick<TransactionPlan, 'changeAddress'> & Partial<TransactionPlan>,
): TransactionPlan {
  return {
    inputs: [],
    wallet: 'exact',
    outputs: [],
    mints: [],
    references: [],
    auxiliaryData: null,
    validFromSlot: null,
    validToSlot: null,
    signers: [],
    native: null,
    collateral: null,
    feeFrom: 'change',
    maxPercent: 100,
    ...given,
  };
}

export function dataHex(data: PlutusData): string {
  return toHex(encodePlutusData(data));
}
