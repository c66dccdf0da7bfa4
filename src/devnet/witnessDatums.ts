/** Datums in the witness set of a transaction: an output may name one by its hash alone. */
import {
  elementsOf,
  entriesOf,
  numberOf,
  readCbor,
  setElementsOf,
  span,
} from '../cardano/codec/cbor.ts';
import { blake2b256 } from '../cardano/codec/hash.ts';

const DATUMS = 4;

/** Pairs of hash and bytes. */
export function witnessDatums(bytes: Uint8Array): (readonly [string, Uint8Array])[] {
  const witnesses = elementsOf(readCbor(bytes))[1];
  if (witnesses === undefined) return [];
  const found = entriesOf(witnesses).find(([key]) => numberOf(bytes, key) === DATUMS);
  if (found === undefined) return [];
  return setElementsOf(found[1]).map((datum) => {
    const content = span(bytes, datum);
    return [blake2b256(content), content] as const;
  });
}
