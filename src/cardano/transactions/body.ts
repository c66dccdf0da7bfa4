/**
 * Body and witness set of a transaction from their parts. Everything that hangs together lies here:
 * sorted inputs and policies give redeemers their index, redeemers and cost model the hash of the
 * script data. Source: Conway CDDL.
 */

import { assert } from '../../engine/runtime/assert.ts';
import {
  array,
  encodeAssets,
  encodeOutput,
  encodeRefs,
  fieldMap,
  hexString,
  integer,
  map,
  tagged,
} from '../codec/encode.ts';
import { blake2b256 } from '../codec/hash.ts';
import { fromHex } from '../codec/hex.ts';
import { compareRefs, type Utxo } from '../codec/output.ts';
import { Constr, decodePlutusHex, type PlutusData, PlutusMap } from '../codec/plutusData.ts';
import type { Units } from '../codec/transaction.ts';
import type { ProtocolParameters } from '../ledger/parameters.ts';
import { integrityHash } from './integrityHash.ts';
import type { PlannedInput, PlannedOutput, TransactionPlan } from './plan.ts';

/** Languages are numbered from PlutusV1 = 0. */
const PLUTUS_V2 = 2;
const EMPTY_MAP = map([]);
const TRUE = Uint8Array.of(0xf5);
const NULL = Uint8Array.of(0xf6);
const PURPOSE_NUMBERS = { spend: 0, mint: 1 } as const;

interface IndexedRedeemer {
  readonly purpose: keyof typeof PURPOSE_NUMBERS;
  readonly index: number;
  /** CBOR hex of its data. */
  readonly data: string;
}

export interface TransactionContent {
  readonly plan: TransactionPlan;
  /** In the order of the ledger. */
  readonly inputs: readonly PlannedInput[];
  /** Planned ones and change. */
  readonly outputs: readonly PlannedOutput[];
  readonly feeLovelace: bigint;
  readonly redeemers: readonly IndexedRedeemer[];
  /** Per redeemer. */
  readonly units: readonly Units[];
  readonly collateralLovelace: bigint;
  readonly collateralReturn: PlannedOutput | null;
}

export function sortedInputs(
  inputs: readonly PlannedInput[],
  chosen: readonly Utxo[],
): PlannedInput[] {
  const signed = chosen.map((utxo): PlannedInput => ({ utxo, redeemer: null }));
  return [...inputs, ...signed].sort((a, b) => compareRefs(a.utxo.ref, b.utxo.ref));
}

/** In the order in which they are written: spending before minting, by index. */
export function indexRedeemers(
  inputs: readonly PlannedInput[],
  { mints }: TransactionPlan,
): IndexedRedeemer[] {
  const spends = inputs.flatMap(({ redeemer: data }, index): IndexedRedeemer[] =>
    data === null ? [] : [{ purpose: 'spend', index, data }],
  );
  const policies = mints.map(({ policyId }) => policyId).sort();
  const mintPlaces = mints.map(
    ({ policyId, redeemer: data }): IndexedRedeemer => ({
      purpose: 'mint',
      index: policies.indexOf(policyId),
      data,
    }),
  );
  return [...spends, ...mintPlaces.sort((a, b) => a.index - b.index)];
}

/** The whole transaction without signatures. */
export function transactionCbor(
  parts: TransactionContent,
  parameters: ProtocolParameters,
): Uint8Array {
  const { mints } = parts.plan;
  const redeemers = redeemersCbor(parts);
  const witnesses = new Map<number, Uint8Array>();
  const { native } = parts.plan;
  if (native !== null) witnesses.set(1, array([fromHex(native.script)]));
  if (parts.redeemers.length > 0) witnesses.set(5, redeemers);
  const scripts = mints.flatMap(({ script }) => (script === null ? [] : [script]));
  if (scripts.length > 0) witnesses.set(6, array(scripts.map(fromHex)));
  // Our datums are inline, and our scripts of one language.
  const runs = { redeemers, datums: null, languages: [PLUTUS_V2] };
  const dataHash = parts.redeemers.length === 0 ? null : integrityHash(runs, parameters.costModels);
  const { auxiliaryData } = parts.plan;
  const auxiliary = auxiliaryData === null ? NULL : fromHex(auxiliaryData);
  return array([bodyCbor(parts, dataHash), fieldMap(witnesses), TRUE, auxiliary]);
}

function bodyCbor(parts: TransactionContent, dataHash: string | null): Uint8Array {
  const { plan, inputs, outputs, feeLovelace } = parts;
  const fields = new Map<number, Uint8Array>([
    [0, encodeRefs(inputs.map(({ utxo }) => utxo.ref))],
    [1, array(outputs.map(encodeOutput))],
    [2, integer(feeLovelace)],
  ]);
  const field = (key: number, value: Uint8Array) => fields.set(key, value);
  if (plan.validToSlot !== null) field(3, integer(plan.validToSlot));
  if (plan.auxiliaryData !== null) field(7, hexString(blake2b256(fromHex(plan.auxiliaryData))));
  if (plan.validFromSlot !== null) field(8, integer(plan.validFromSlot));
  if (plan.mints.length > 0) field(9, encodeAssets(new Map(minted(plan))));
  if (dataHash !== null) field(11, hexString(dataHash));
  if (plan.collateral !== null) {
    field(13, encodeRefs(plan.collateral.utxos.map(({ ref }) => ref)));
    if (parts.collateralReturn !== null) field(16, encodeOutput(parts.collateralReturn));
    field(17, integer(parts.collateralLovelace));
  }
  if (plan.signers.length > 0) field(14, array([...new Set(plan.signers)].sort().map(hexString)));
  if (plan.references.length > 0) field(18, encodeRefs(plan.references.map(({ ref }) => ref)));
  return fieldMap(fields);
}

/** By asset id. */
export function minted({ mints }: TransactionPlan): [string, bigint][] {
  return mints.flatMap(({ policyId, amounts }) =>
    [...amounts].map(([name, amount]): [string, bigint] => [`${policyId}.${name}`, amount]),
  );
}

function redeemersCbor({ redeemers, units }: TransactionContent): Uint8Array {
  if (redeemers.length === 0) return EMPTY_MAP;
  return map(
    redeemers.map(({ purpose, index, data }, at) => {
      const { memory, cpu } = units[at] ?? { memory: 0n, cpu: 0n };
      return [
        array([integer(PURPOSE_NUMBERS[purpose]), integer(index)]),
        array([dataCbor(decodePlutusHex(data)), array([integer(memory), integer(cpu)])]),
      ];
    }),
  );
}

const LONGEST_CHUNK_BYTES = 64;
const FIRST_CONSTRUCTOR_TAG = 121;

/** A redeemer's data: lists are definite here, as foreign libraries write them again. */
function dataCbor(data: PlutusData): Uint8Array {
  if (typeof data === 'bigint') return integer(data);
  if (typeof data === 'string') {
    assert(data.length <= 2 * LONGEST_CHUNK_BYTES, 'our redeemers hold hashes and names');
    return hexString(data);
  }
  assert(!(data instanceof PlutusMap), 'our redeemers hold no maps');
  if (!(data instanceof Constr)) return array(data.map(dataCbor));
  assert(data.index < 7, 'our redeemers have few constructors');
  return tagged(FIRST_CONSTRUCTOR_TAG + Number(data.index), array(data.fields.map(dataCbor)));
}
