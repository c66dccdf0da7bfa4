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

export class Constr {
  readonly index: number;
  readonly fields: readonly PlutusData[];

  constructor(index: number, fields: readonly PlutusData[]) {
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
  return readData(bytes, readCbor(bytes));
}

export function readData(bytes: Uint8Array, item: Item): PlutusData {
  const { major, argument } = item;
  if (major === UNSIGNED || major === NEGATIVE) return integerOf(bytes, item);
  if (major === BYTES) return toHex(bytesOf(bytes, item));
  if (major === ARRAY) return item.items.map((each) => readData(bytes, each));
  if (major === MAP) {
    return new PlutusMap(
      entriesOf(item).map(([key, value]) => [readData(bytes, key), readData(bytes, value)]),
    );
  }
  if (major !== TAG) throw malformedCbor(`no Plutus data at byte ${item.start}`);
  if (argument === 2n || argument === 3n) return integerOf(bytes, item);
  const [content] = item.items;
  if (content === undefined) throw malformedCbor('a tag without content');
  return readConstr(bytes, Number(argument), content);
}

function readConstr(bytes: Uint8Array, tag: number, content: Item): Constr {
  if (content.major !== ARRAY) throw malformedCbor('a constructor without list of fields');
  const fields = (list: Item) => list.items.map((each) => readData(bytes, each));
  if (tag >= SHORT_TAGS && tag < SHORT_TAGS + 7) {
    return new Constr(tag - SHORT_TAGS, fields(content));
  }
  if (tag >= LONG_TAGS && tag <= LONG_TAGS + 120) {
    return new Constr(tag - LONG_TAGS + 7, fields(content));
  }
  const [index, list] = content.items;
  if (tag !== GENERAL_TAG || index === undefined || list?.major !== ARRAY) {
    throw malformedCbor(`tag ${tag} is no constructor`);
  }
  return new Constr(Number(integerOf(bytes, index)), fields(list));
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
  if (index < 7) parts.push(cborHead(TAG, SHORT_TAGS + index));
  else if (index < 128) parts.push(cborHead(TAG, LONG_TAGS + index - 7));
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
