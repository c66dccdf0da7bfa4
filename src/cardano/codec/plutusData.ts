/**
 * Plutus data and its CBOR. Byte strings are lower-case hex text.
 *
 * Written as the chain's own `serialiseData` writes it (non-empty lists indefinite, long strings in
 * chunks of 64 bytes), because launch ids are hashes over that form.
 * Source: CIP-42 and the Plutus Core specification, appendix B.
 */
import {
  ARRAY,
  BREAK,
  BYTES,
  cborHead,
  MAP,
  MAX_DEPTH,
  malformedCbor,
  NEGATIVE,
  TAG,
  UNSIGNED,
} from './cbor.ts';
import { fromHex, joined, toHex } from './hex.ts';

const MOST_INDEX = (1n << 64n) - 1n;

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
  return decodePlutusHex(toHex(bytes));
}

/** The same from CBOR as lower-case hex. */
export function decodePlutusHex(hex: string): PlutusData {
  const reader = new DataReader(hex);
  const data = reader.read(0);
  reader.end();
  return data;
}

/** Sizes of the arguments of heads, in hex characters, from the short argument 24 on. */
const SIZES = [2, 4, 8, 16] as const;
const INDEFINITE = 31;
/** Below that a head's argument is exact as a number. */
const EXACT_CHARACTERS = 8;

/**
 * Reads data from hex text, of which byte strings are parts: every order and every pool of a block
 * is read so. The limits are those that `readCbor` has; `readCbor` also returns the position of
 * each item.
 */
class DataReader {
  readonly #hex: string;
  #at = 0;

  constructor(hex: string) {
    this.#hex = hex;
  }

  end(): void {
    const more = this.#hex.length - this.#at;
    if (more !== 0) throw malformedCbor(`${more / 2} bytes too many`);
  }

  read(depth: number): PlutusData {
    const head = this.#head(depth);
    const [major, short] = [head >> 5, head & 31];
    if (major === UNSIGNED) return this.#integer(short);
    if (major === NEGATIVE) return -1n - this.#integer(short);
    if (major === BYTES) return this.#bytes(short, depth);
    if (major === ARRAY) return this.#list(short, depth);
    if (major === MAP) return this.#map(short, depth);
    if (major !== TAG) throw malformedCbor(`no Plutus data at byte ${this.#at / 2 - 1}`);
    return this.#tagged(this.#count(short), depth);
  }

  #head(depth: number): number {
    if (depth > MAX_DEPTH) throw malformedCbor(`nested deeper than ${MAX_DEPTH}`);
    const head = byteOf(this.#hex, this.#at);
    this.#at += 2;
    return head;
  }

  /** Characters of an argument of this size, which must be there. */
  #take(characters: number): string {
    const start = this.#at;
    this.#at = start + characters;
    if (this.#at > this.#hex.length) throw malformedCbor('the input ends too early');
    return this.#hex.slice(start, this.#at);
  }

  #argument(short: number): string {
    const size = SIZES[short - 24];
    if (size === undefined) throw malformedCbor(`no item can begin with ${short}`);
    return this.#take(size);
  }

  #integer(short: number): bigint {
    if (short < 24) return BigInt(short);
    const digits = this.#argument(short);
    return digits.length > EXACT_CHARACTERS ? BigInt(`0x${digits}`) : BigInt(Number(`0x${digits}`));
  }

  #count(short: number): number {
    return short < 24 ? short : Number(`0x${this.#argument(short)}`);
  }

  #bytes(short: number, depth: number): string {
    if (short !== INDEFINITE) return this.#take(2 * this.#count(short));
    let bytes = '';
    while (!this.#isOver()) {
      const head = this.#head(depth + 1);
      if (head >> 5 !== BYTES || (head & 31) === INDEFINITE) {
        throw malformedCbor(`a chunk of another kind at byte ${this.#at / 2 - 1}`);
      }
      bytes += this.#bytes(head & 31, depth + 1);
    }
    return bytes;
  }

  /** Items of a list or map without an announced length; consumes the break byte. */
  #isOver(): boolean {
    if (byteOf(this.#hex, this.#at) !== BREAK) return false;
    this.#at += 2;
    return true;
  }

  #list(short: number, depth: number): PlutusData[] {
    const list: PlutusData[] = [];
    if (short === INDEFINITE) while (!this.#isOver()) list.push(this.read(depth + 1));
    else for (let left = this.#count(short); left > 0; left -= 1) list.push(this.read(depth + 1));
    return list;
  }

  #map(short: number, depth: number): PlutusMap {
    const entries: [PlutusData, PlutusData][] = [];
    const add = () => entries.push([this.read(depth + 1), this.read(depth + 1)]);
    if (short === INDEFINITE) while (!this.#isOver()) add();
    else for (let left = this.#count(short); left > 0; left -= 1) add();
    return new PlutusMap(entries);
  }

  #tagged(tag: number, depth: number): PlutusData {
    const head = this.#head(depth + 1);
    const [major, short] = [head >> 5, head & 31];
    if (tag === 2 || tag === 3) {
      if (major !== BYTES) throw malformedCbor('an integer of many bytes has bytes');
      const hex = this.#bytes(short, depth + 1);
      const magnitude = hex === '' ? 0n : BigInt(`0x${hex}`);
      return tag === 2 ? magnitude : -1n - magnitude;
    }
    if (major !== ARRAY) throw malformedCbor('a constructor without list of fields');
    if (tag >= SHORT_TAGS && tag < SHORT_TAGS + 7) {
      return new Constr(tag - SHORT_TAGS, this.#list(short, depth + 1));
    }
    if (tag >= LONG_TAGS && tag <= LONG_TAGS + 120) {
      return new Constr(tag - LONG_TAGS + 7, this.#list(short, depth + 1));
    }
    if (tag !== GENERAL_TAG) throw malformedCbor(`tag ${tag} is no constructor`);
    const [index, fields, ...more] = this.#list(short, depth + 1);
    if (typeof index !== 'bigint' || !Array.isArray(fields) || more.length > 0) {
      throw malformedCbor('a constructor is a pair of index and fields');
    }
    if (index < 0n || index > MOST_INDEX) throw malformedCbor('a constructor of that index');
    return new Constr(index > Number.MAX_SAFE_INTEGER ? index : Number(index), fields);
  }
}

/** The byte at this character; throws where there is none. */
function byteOf(hex: string, at: number): number {
  const high = DIGITS[hex.charCodeAt(at)];
  const low = DIGITS[hex.charCodeAt(at + 1)];
  if (high === undefined || low === undefined) throw malformedCbor('the input ends too early');
  return (high << 4) | low;
}

/** Value of a lower-case digit, by character code. */
const DIGITS: (number | undefined)[] = [];
for (let digit = 0; digit < 16; digit += 1) DIGITS[digit.toString(16).charCodeAt(0)] = digit;

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
