/**
 * A step of the executor as a plan of exact inputs: input i belongs to output i, the transaction
 * spends no other input, and the fee output pays the actual network fee.
 * `chain/executor/fundedStep.ts` decides the shape of the step; its network fee is a guess that the
 * build replaces.
 */

import { assert } from '../../engine/runtime/assert.ts';
import { type OutputRef, refText, type Utxo } from '../codec/output.ts';
import { Constr, type PlutusData } from '../codec/plutusData.ts';
import { type SlotConfig, slotFrom } from '../codec/slots.ts';
import { addValues, coins, type Value } from '../codec/value.ts';
import {
  type AmmDatum,
  ammData,
  type LaunchId,
  launchIdData,
  type PoolDatum,
  poolData,
} from '../datums/datums.ts';
import {
  dataHex,
  type PlannedCollateral,
  type PlannedInput,
  type PlannedOutput,
  planOf,
  type TransactionPlan,
} from './plan.ts';

/** `index`: of the input; its output has the same one. */
export type StepRedeemer =
  | { readonly kind: 'refund' | 'graduate'; readonly index: number }
  /** `orders`: their inputs, in the order in which they are executed. */
  | { readonly kind: 'trade'; readonly index: number; readonly orders: readonly number[] }
  /** `pool`: the input that trades. */
  | { readonly kind: 'execute'; readonly index: number; readonly pool: number }
  | { readonly kind: 'collect'; readonly index: number; readonly payout: number };

export interface StepOutput {
  /** `pool` carries the datum of the pool's next state; the others carry none. */
  readonly kind: 'pool' | 'payment' | 'refund' | 'fee' | 'payout';
  readonly address: string;
  readonly value: Value;
}

export interface Step {
  /** In the order of the ledger; `redeemer` null: a key spends it. */
  readonly inputs: readonly {
    readonly ref: OutputRef;
    readonly redeemer: StepRedeemer | null;
  }[];
  readonly outputs: readonly StepOutput[];
  readonly networkFeeLovelace: bigint;
  /** The transaction's lower bound, rounded up to a slot, is not before this; null: any. */
  readonly validFromMs: bigint | null;
}

export type NextPool =
  | { readonly venue: 'CURVE'; readonly datum: PoolDatum }
  | { readonly venue: 'AMM'; readonly datum: AmmDatum };

interface StepData {
  /** Content of all inputs, in any order. */
  readonly utxos: readonly Utxo[];
  /** Hold the validators of the inputs. */
  readonly references: readonly Utxo[];
  readonly collateral: PlannedCollateral;
  readonly slots: SlotConfig;
  /** null: a refund, which anybody may send. */
  readonly executorKeyHash: string | null;
  readonly feeAddress: string;
  /** Datum of the pool output of this step; null where the pool takes no part. */
  readonly nextPool: NextPool | null;
  /** Launch id of the pool, for graduation. */
  readonly launchId: LaunchId | null;
}

export function planStep(step: Step, data: StepData): TransactionPlan {
  const held = new Map(data.utxos.map((utxo) => [refText(utxo.ref), utxo]));
  const inputs = step.inputs.map(({ ref, redeemer }): PlannedInput => {
    const utxo = held.get(refText(ref));
    assert(utxo !== undefined, `the content of ${refText(ref)} is there`);
    if (redeemer === null) return { utxo, redeemer: null };
    return { utxo, redeemer: dataHex(redeemerData(redeemer, data.launchId)) };
  });
  const feeFrom = step.outputs.findIndex(({ kind }) => kind === 'fee');
  assert(feeFrom >= 0, 'one output pays the fee');
  const outputs = step.outputs.map(({ kind, address, value }, index): PlannedOutput => {
    const gross = index === feeFrom ? addValues(value, coins(step.networkFeeLovelace)) : value;
    const datum = kind === 'pool' ? dataHex(poolDatum(data.nextPool)) : null;
    return { address, value: gross, datum };
  });
  const { validFromMs } = step;
  return planOf({
    inputs,
    outputs,
    references: data.references,
    validFromSlot:
      validFromMs === null
        ? null
        : Math.max(data.slots.zeroSlot, slotFrom(data.slots, Number(validFromMs))),
    signers: data.executorKeyHash === null ? [] : [data.executorKeyHash],
    collateral: data.collateral,
    changeAddress: data.feeAddress,
    feeFrom,
  });
}

function poolDatum(next: NextPool | null): PlutusData {
  assert(next !== null, 'the pool takes part and has a datum');
  return next.venue === 'CURVE' ? poolData(next.datum) : ammData(next.datum);
}

function redeemerData(redeemer: StepRedeemer, launchId: LaunchId | null): PlutusData {
  const index = BigInt(redeemer.index);
  switch (redeemer.kind) {
    case 'trade':
      return new Constr(0, [index, redeemer.orders.map(BigInt)]);
    case 'execute':
      return new Constr(1, [index, BigInt(redeemer.pool)]);
    case 'refund':
      return new Constr(2, [index]);
    case 'graduate':
      assert(launchId !== null, 'graduation shows the launch id');
      return new Constr(1, [index, launchIdData(launchId)]);
    case 'collect':
      return new Constr(1, [index, BigInt(redeemer.payout)]);
  }
}
