/**
 * A generic CBOR library, as a foreign wallet has one: it reads any item, forgets how it was
 * written, and writes it again with definite lengths and shortest heads. A set (tag 258) would lose
 * its order, which is why we write none.
 */
import {
  BYTES,
  cborHead,
  type Item,
  MAP,
  NEGATIVE,
  readCbor,
  SIMPLE,
  TAG,
  TEXT,
  UNSIGNED,
} from '../../../src/cardano/codec/cbor.ts';

const INDEFINITE = -1n;
const SET = 258n;

export function genericCopy(bytes: Uint8Array): Buffer {
  return copy(bytes, readCbor(bytes));
}

function copy(bytes: Uint8Array, item: Item): Buffer {
  const { major, argument, items } = item;
  if (major === UNSIGNED || major === NEGATIVE) return Buffer.from(cborHead(major, argument));
  if (major === SIMPLE) return Buffer.from(bytes.subarray(item.start, item.end));
  if (major === BYTES || major === TEXT) {
    const content =
      argument === INDEFINITE
        ? Buffer.concat(items.map((chunk) => bytes.subarray(chunk.contentStart, chunk.end)))
        : bytes.subarray(item.contentStart, item.end);
    return Buffer.concat([cborHead(major, content.length), content]);
  }
  const content = items.map((each) => copy(bytes, each));
  if (major === TAG) {
    const tag = argument === SET ? [] : [cborHead(TAG, argument)];
    return Buffer.concat([...tag, ...content]);
  }
  const count = major === MAP ? items.length / 2 : items.length;
  return Buffer.concat([cborHead(major, count), ...content]);
}
