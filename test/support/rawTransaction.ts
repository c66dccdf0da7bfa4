/** Transactions of any shape, well formed or not, for the ledger to judge. */

import {
  array,
  byteString,
  encodeOutput,
  encodeRefs,
  map,
  type NewOutput,
  uint,
} from '../../src/cardano/codec/encode.ts';
import { blake2b256, scriptHash } from '../../src/cardano/codec/hash.ts';
import { fromHex } from '../../src/cardano/codec/hex.ts';
import type { OutputRef } from '../../src/cardano/codec/output.ts';
import type { Key } from '../../src/cardano/keys/keys.ts';
import { PARAMETERS } from './parameters.ts';

/**
 * One layer of CBOR: two PlutusV2 scripts; the first accepts any input, the second always fails.
 */
export const ALWAYS = '480100002221200101';
export const NEVER = '450100002261';
export const ALWAYS_HASH = scriptHash(ALWAYS);

export interface RawRedeemer {
  /** 0 spend, 1 mint. */
  readonly tag: number;
  readonly index: number;
  readonly memory: bigint;
  readonly cpu: bigint;
}

export interface RawPlan {
  readonly inputs?: readonly OutputRef[];
  readonly outputs?: readonly NewOutput[];
  readonly feeLovelace: bigint;
  /** Further fields of the body, or others for those above. */
  readonly fields?: Readonly<Record<number, Uint8Array | null>>;
  readonly redeemers?: readonly RawRedeemer[];
  readonly scripts?: readonly string[];
  /** Datums of the witness set. */
  readonly datums?: readonly Uint8Array[];
  /** Further fields of the witness set. */
  readonly witnesses?: Readonly<Record<number, Uint8Array>>;
  readonly keys?: readonly Pick<Key, 'publicKey' | 'sign'>[];
  readonly isValid?: boolean;
  readonly auxiliary?: Uint8Array;
}

interface RawTransaction {
  readonly id: string;
  readonly bytes: Uint8Array;
}

export function rawTransaction(plan: RawPlan): RawTransaction {
  const { inputs = [], outputs = [], feeLovelace, keys = [], isValid = true } = plan;
  const { redeemers = [], scripts = [], datums = [] } = plan;
  const encodedRedeemers = array(redeemers.map(encodeRedeemer));
  const fields = new Map<number, Uint8Array | null>([
    [0, encodeRefs(inputs)],
    [1, array(outputs.map(encodeOutput))],
    [2, uint(feeLovelace)],
    [11, redeemers.length === 0 ? null : scriptDataHash(encodedRedeemers, datums)],
    ...Object.entries(plan.fields ?? {}).map(([key, value]) => [Number(key), value] as const),
  ]);
  const body = numbered(fields);
  const id = blake2b256(body);
  const witnesses = keys.map((key) =>
    array([byteString(fromHex(key.publicKey)), byteString(key.sign(fromHex(id)))]),
  );
  const witnessSet = numbered(
    new Map([
      [0, witnesses.length === 0 ? null : array(witnesses)],
      [4, datums.length === 0 ? null : array(datums)],
      [5, redeemers.length === 0 ? null : encodedRedeemers],
      [6, scripts.length === 0 ? null : array(scripts.map((hex) => byteString(fromHex(hex))))],
      ...Object.entries(plan.witnesses ?? {}).map(([key, value]) => [Number(key), value] as const),
    ]),
  );
  const validity = Uint8Array.of(isValid ? 0xf5 : 0xf4);
  return { id, bytes: array([body, witnessSet, validity, plan.auxiliary ?? Uint8Array.of(0xf6)]) };
}

function numbered(fields: ReadonlyMap<number, Uint8Array | null>): Uint8Array {
  const present = [...fields].filter((field): field is [number, Uint8Array] => field[1] !== null);
  return map(present.sort(([a], [b]) => a - b).map(([key, value]) => [uint(key), value]));
}

function encodeRedeemer({ tag, index, memory, cpu }: RawRedeemer): Uint8Array {
  return array([uint(tag), uint(index), array([uint(121)]), array([uint(memory), uint(cpu)])]);
}

/** PlutusV2 only. Source: Conway CDDL, script_data_hash. */
function scriptDataHash(redeemers: Uint8Array, datums: readonly Uint8Array[]): Uint8Array {
  const costs = array(PARAMETERS.costModels[1].map((cost) => uint(cost)));
  const data = datums.length === 0 ? [] : [array(datums)];
  const hash = blake2b256(Buffer.concat([redeemers, ...data, map([[uint(1), costs]])]));
  return byteString(fromHex(hash));
}
