/** Transaction metadata in Kupo's JSON: each label as a tree that keeps the types of CBOR. */
import {
  ARRAY,
  bytesOf,
  elementsOf,
  entriesOf,
  type Item,
  integerOf,
  MAP,
  numberOf,
  readCbor,
  span,
  TEXT,
  textOf,
} from '../../cardano/codec/cbor.ts';
import { blake2b256 } from '../../cardano/codec/hash.ts';
import { toHex } from '../../cardano/codec/hex.ts';
import type { Transaction } from '../../cardano/codec/transaction.ts';

/** null: the transaction has none. */
export function metadataJson({ bytes }: Transaction) {
  const auxiliary = elementsOf(readCbor(bytes))[3];
  const labels = auxiliary === undefined ? undefined : labelsOf(bytes, auxiliary);
  if (auxiliary === undefined || labels === undefined) return null;
  const raw = span(bytes, auxiliary);
  const schema = entriesOf(labels).map(([label, content]) => {
    return [String(integerOf(bytes, label)), treeOf(bytes, content)] as const;
  });
  return { hash: blake2b256(raw), raw: toHex(raw), schema: Object.fromEntries(schema) };
}

/** A plain map (Shelley), the first of a pair (Mary), or member 0 under tag 259 (Alonzo). */
function labelsOf(bytes: Uint8Array, auxiliary: Item): Item | undefined {
  if (auxiliary.major === MAP) return auxiliary;
  if (auxiliary.major === ARRAY) return auxiliary.items[0];
  const [content] = auxiliary.items;
  if (content?.major !== MAP) return undefined;
  return entriesOf(content).find(([key]) => numberOf(bytes, key) === 0)?.[1];
}

function treeOf(bytes: Uint8Array, item: Item): unknown {
  if (item.major <= 1) return { int: integerOf(bytes, item) };
  if (item.major === TEXT) return { string: textOf(bytes, item) };
  if (item.major === ARRAY) return { list: elementsOf(item).map((each) => treeOf(bytes, each)) };
  if (item.major === MAP) {
    const pair = ([k, v]: readonly [Item, Item]) => ({ k: treeOf(bytes, k), v: treeOf(bytes, v) });
    return { map: entriesOf(item).map(pair) };
  }
  return { bytes: toHex(bytesOf(bytes, item)) };
}
