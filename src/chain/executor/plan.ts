/**
 * A transaction as the executor wants it: which inputs with which redeemer, which outputs. Input i
 * of the ledger's order belongs to output i, which is how validators and followers pair them, so
 * the plan holds all inputs there are; a builder that adds one breaks it.
 *
 * Every plan conserves value to the lovelace: checked here, on each.
 */
import { compareRefs, type OutputRef } from '../../cardano/codec/output.ts';
import { addValues, coins, subtractValue, type Value } from '../../cardano/codec/value.ts';
import { assert } from '../../engine/runtime/assert.ts';

/** `index` is the place of input and output alike. */
export type Redeemer =
  | { readonly kind: 'trade' | 'execute' | 'refund' | 'graduate'; readonly index: number }
  | { readonly kind: 'collect'; readonly index: number; readonly payout: number };

export interface PlannedInput {
  readonly ref: OutputRef;
  readonly value: Value;
  /** null: a key spends it. */
  readonly redeemer: Redeemer | null;
}

export interface PlannedOutput {
  /** `pool` carries the datum of the pool's next state; the others carry none. */
  readonly kind: 'pool' | 'payment' | 'refund' | 'fee' | 'payout';
  readonly address: string;
  readonly value: Value;
}

export interface Plan {
  readonly outcome: 'plan';
  readonly inputs: readonly PlannedInput[];
  readonly outputs: readonly PlannedOutput[];
  readonly networkFeeLovelace: bigint;
  /** The transaction's lower bound, rounded up to a slot, is not before this; null: any. */
  readonly validFromMs: bigint | null;
}

/** The fee address gets too little to stand as an output and no float makes up for it. */
export interface FundingNeeded {
  readonly outcome: 'funding needed';
  readonly missingLovelace: bigint;
}

/** A pure ADA output of the fee address, reserved for this lane. */
export interface FundingUtxo {
  readonly ref: OutputRef;
  readonly lovelace: bigint;
}

/** An input and the output it is paired with. */
export interface Pair {
  readonly ref: OutputRef;
  readonly value: Value;
  readonly redeemer: 'trade' | 'execute' | 'refund' | 'graduate' | 'collect' | null;
  readonly output: PlannedOutput;
}

export interface Assembly {
  readonly pairs: readonly Pair[];
  /** Outputs without an input of their own. */
  readonly rest: readonly PlannedOutput[];
  readonly networkFeeLovelace: bigint;
  readonly validFromMs: bigint | null;
}

/** Sorts the inputs as the ledger does and puts every output across from its input. */
export function assemble({ pairs, rest, networkFeeLovelace, validFromMs }: Assembly): Plan {
  const sorted = pairs.toSorted((a, b) => compareRefs(a.ref, b.ref));
  const inputs = sorted.map(({ ref, value, redeemer: kind }, index): PlannedInput => {
    assert(
      index === 0 || compareRefs(sorted[index - 1]?.ref ?? ref, ref) < 0,
      'no input is spent twice',
    );
    if (kind === null) return { ref, value, redeemer: null };
    const redeemer: Redeemer =
      kind === 'collect' ? { kind, index, payout: pairs.length } : { kind, index };
    return { ref, value, redeemer };
  });
  const outputs = [...sorted.map(({ output }) => output), ...rest];
  const plan: Plan = { outcome: 'plan', inputs, outputs, networkFeeLovelace, validFromMs };
  assertConserved(plan);
  return plan;
}

function assertConserved({ inputs, outputs, networkFeeLovelace }: Plan): void {
  const spent = addValues(...inputs.map(({ value }) => value));
  const paid = addValues(coins(networkFeeLovelace), ...outputs.map(({ value }) => value));
  const { lovelace, assets } = subtractValue(spent, paid);
  assert(lovelace === 0n, `inputs are outputs and network fee, not ${lovelace} lovelace off`);
  for (const [asset, amount] of assets) assert(amount === 0n, `${asset} is off by ${amount}`);
}

export function feeOutput(address: string, lovelace: bigint): PlannedOutput {
  return { kind: 'fee', address, value: coins(lovelace) };
}

export function fundingPair({ ref, lovelace }: FundingUtxo, output: PlannedOutput): Pair {
  return { ref, value: coins(lovelace), redeemer: null, output };
}
