/**
 * The CBOR that we write ourselves: definite lengths, shortest integers, no tag for sets, map keys
 * ascending; so a generic library decodes and encodes it to the same bytes. Source: Conway CDDL.
 */

import { assert } from '../../engine/runtime/assert.ts';
import { cborHead, NEGATIVE, UNSIGNED } from '../codec/cbor.ts';
import { array, byteString, encodeOutput, map, tagged } from '../codec/encode.ts';
import { fromHex } from '../codec/hex.ts';
import { Constr, type PlutusData, PlutusMap } from '../codec/plutusData.ts';
import type { PlannedOutput } from './plan.ts';

const WORD = 1n << 64n;
const LONGEST_CHUNK_BYTES = 64;
const FIRST_CONSTRUCTOR_TAG = 121;

export function integer(value: bigint | number): Uint8Array {
  const exact = BigInt(value);
  assert(exact < WORD && exact >= -WORD, 'amounts and indexes fit in 64 bits');
  return exact < 0n ? cborHead(NEGATIVE, -1n - exact) : cborHead(UNSIGNED, exact);
}

export function hexString(hex: string): Uint8Array {
  return byteString(fromHex(hex));
}

/** Fields by number, ascending. */
export function fieldMap(fields: ReadonlyMap<number, Uint8Array>): Uint8Array {
  const sorted = [...fields].sort(([a], [b]) => a - b);
  return map(sorted.map(([key, value]) => [integer(key), value]));
}

export function outputCbor({ datum, ...output }: PlannedOutput): Uint8Array {
  return encodeOutput(datum === null ? output : { ...output, datum });
}

/** Plutus data outside of datums: lists are definite here, for foreign libraries. */
export function dataCbor(data: PlutusData): Uint8Array {
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
