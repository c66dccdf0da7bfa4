/**
 * Plutus data and its CBOR. Byte strings are lower-case hex text.
 *
 * Written as the chain's own `serialiseData` writes it (non-empty lists indefinite, long strings in
 * chunks of 64 bytes), because launch ids are hashes over that form.
 * Source: CIP-42 and the Plutus Core specification, appendix B.
 */
import {
  ARRAY,
  BYTES,
  bytesOf,
  cborHead,
  elementsOf,
  entriesOf,
  type Item,
  integerOf,
  MAP,
  malformedCbor,
  NEGATIVE,
  readCbor,
  TAG,
  UNSIGNED,
} from './cbor.ts';
import { fromHex, joined, toHex } from './hex.ts';

const MAX_INDEX = (1n << 64n) - 1n;

export class Constr {
  /** A bigint where a number would round it: from 2^53 on. */
  readonly index: number | bigint;
  readonly fields: readonly PlutusData[];

  constructor(index: number | bigint, fields: readonly PlutusData[]) {
    this.index = index;
    this.fields = fields;
  }
}

export class PlutusMap {
  readonly entries: readonly (readonly [PlutusData, PlutusData])[];

  constructor(entries: readonly (readonly [PlutusData, PlutusData])[]) {
    this.entries = entries;
  }
}

/** Integer, bytes (hex), list, constructor or map. */
export type PlutusData = bigint | string | readonly PlutusData[] | Constr | PlutusMap;

const CHUNK_BYTES = 64;
const SHORT_TAGS = 121;
const LONG_TAGS = 1280;
const GENERAL_TAG = 102;
const WORD = 1n << 64n;

/** Throws `malformedCbor`. */
export function decodePlutusData(bytes: Uint8Array): PlutusData {
  return dataOf(bytes, readCbor(bytes));
}

/** The same from CBOR as hex. */
export function decodePlutusHex(hex: string): PlutusData {
  return decodePlutusData(fromHex(hex));
}

function dataOf(bytes: Uint8Array, item: Item): PlutusData {
  const { major, items } = item;
  if (major === BYTES) return toHex(bytesOf(bytes, item));
  if (major === ARRAY) return items.map((each) => dataOf(bytes, each));
  if (major === UNSIGNED || major === NEGATIVE) return integerOf(bytes, item);
  if (major === MAP) {
    return new PlutusMap(
      entriesOf(item).map(([key, value]) => [dataOf(bytes, key), dataOf(bytes, value)]),
    );
  }
  const [content] = items;
  if (major !== TAG || content === undefined) {
    throw malformedCbor(`no Plutus data at byte ${item.start}`);
  }
  return tagged(bytes, item, content);
}

function tagged(bytes: Uint8Array, item: Item, content: Item): PlutusData {
  const tag = Number(item.argument);
  if (tag === 2 || tag === 3) return integerOf(bytes, item);
  const fields = () => elementsOf(content).map((each) => dataOf(bytes, each));
  if (tag >= SHORT_TAGS && tag < SHORT_TAGS + 7) return new Constr(tag - SHORT_TAGS, fields());
  if (tag >= LONG_TAGS && tag <= LONG_TAGS + 120) {
    return new Constr(tag - LONG_TAGS + 7, fields());
  }
  if (tag !== GENERAL_TAG) throw malformedCbor(`tag ${tag} is no constructor`);
  const [index, list, ...more] = fields();
  if (typeof index !== 'bigint' || !Array.isArray(list) || more.length > 0) {
    throw malformedCbor('a constructor is a pair of index and fields');
  }
  if (index < 0n || index > MAX_INDEX) throw malformedCbor('a constructor of that index');
  return new Constr(index > Number.MAX_SAFE_INTEGER ? index : Number(index), list);
}

export function encodePlutusData(data: PlutusData): Uint8Array {
  const parts: Uint8Array[] = [];
  write(data, parts);
  return joined(parts);
}

function write(data: PlutusData, parts: Uint8Array[]): void {
  if (typeof data === 'bigint') writeInteger(data, parts);
  else if (typeof data === 'string') writeBytes(fromHex(data), parts);
  else if (data instanceof PlutusMap) {
    parts.push(cborHead(MAP, data.entries.length));
    for (const [key, value] of data.entries) {
      write(key, parts);
      write(value, parts);
    }
  } else if (data instanceof Constr) writeConstr(data, parts);
  else writeList(data, parts);
}

function writeConstr({ index, fields }: Constr, parts: Uint8Array[]): void {
  if (index < 7) parts.push(cborHead(TAG, SHORT_TAGS + Number(index)));
  else if (index < 128) parts.push(cborHead(TAG, LONG_TAGS + Number(index) - 7));
  else parts.push(cborHead(TAG, GENERAL_TAG), cborHead(ARRAY, 2), cborHead(UNSIGNED, index));
  writeList(fields, parts);
}

function writeList(list: readonly PlutusData[], parts: Uint8Array[]): void {
  if (list.length === 0) {
    parts.push(cborHead(ARRAY, 0));
    return;
  }
  parts.push(Uint8Array.of(0x9f));
  for (const each of list) write(each, parts);
  parts.push(Uint8Array.of(0xff));
}

function writeInteger(value: bigint, parts: Uint8Array[]): void {
  const magnitude = value < 0n ? -1n - value : value;
  if (magnitude < WORD) {
    parts.push(cborHead(value < 0n ? NEGATIVE : UNSIGNED, magnitude));
    return;
  }
  const hex = magnitude.toString(16);
  parts.push(cborHead(TAG, value < 0n ? 3 : 2));
  writeBytes(fromHex(hex.length % 2 === 0 ? hex : `0${hex}`), parts);
}

function writeBytes(bytes: Uint8Array, parts: Uint8Array[]): void {
  if (bytes.length <= CHUNK_BYTES) {
    parts.push(cborHead(BYTES, bytes.length), bytes);
    return;
  }
  parts.push(Uint8Array.of(0x5f));
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    const chunk = bytes.subarray(at, at + CHUNK_BYTES);
    parts.push(cborHead(BYTES, chunk.length), chunk);
  }
  parts.push(Uint8Array.of(0xff));
}
