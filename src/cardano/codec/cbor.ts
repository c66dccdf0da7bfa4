/**
 * A reader of CBOR that keeps where each item lies, because ids are hashes over the original bytes.
 * The `cborg` package gives no positions and refuses byte strings in chunks, which every long
 * Plutus string is; hence this one. Source: RFC 8949.
 *
 * Assumes: nothing about the input. Never reads past it, never nests deeper than MAX_DEPTH and
 *          never believes an announced length before the bytes are there.
 */
import { Fault } from '../../engine/runtime/assert.ts';
import { fromHex, joined, toHex } from './hex.ts';

export const UNSIGNED = 0;
export const NEGATIVE = 1;
export const BYTES = 2;
export const TEXT = 3;
export const ARRAY = 4;
export const MAP = 5;
export const TAG = 6;
export const SIMPLE = 7;

export interface Item {
  readonly major: number;
  /** Number, length, tag or simple value of the head; -1 where the length is indefinite. */
  readonly argument: bigint;
  /** Elements; keys and values of a map in turns; the one content of a tag; chunks of a string. */
  readonly items: readonly Item[];
  readonly start: number;
  readonly contentStart: number;
  readonly end: number;
}

const MAX_DEPTH = 128;
const INDEFINITE = -1n;
const BREAK = 0xff;

/** Reads exactly one item. Throws `malformedCbor`. */
export function readCbor(bytes: Uint8Array): Item {
  const item = readItem(bytes, 0, 0);
  if (item.end !== bytes.length) throw malformedCbor(`${bytes.length - item.end} bytes too many`);
  return item;
}

export function span(bytes: Uint8Array, item: Item): Uint8Array {
  return bytes.subarray(item.start, item.end);
}

/** An integer, bignums included. */
export function integerOf(bytes: Uint8Array, item: Item): bigint {
  if (item.major === UNSIGNED) return item.argument;
  if (item.major === NEGATIVE) return -1n - item.argument;
  const [content] = item.items;
  if (
    item.major === TAG &&
    content !== undefined &&
    (item.argument === 2n || item.argument === 3n)
  ) {
    const magnitude = bigintOf(bytesOf(bytes, content));
    return item.argument === 2n ? magnitude : -1n - magnitude;
  }
  throw malformedCbor(`an integer was expected at byte ${item.start}`);
}

/** An integer that counts or points; throws beyond 2^53. */
export function numberOf(bytes: Uint8Array, item: Item): number {
  const value = Number(integerOf(bytes, item));
  if (!Number.isSafeInteger(value)) throw malformedCbor(`number too large at ${item.start}`);
  return value;
}

/** A byte string, in one piece or in chunks. */
export function bytesOf(bytes: Uint8Array, item: Item): Uint8Array {
  if (item.major !== BYTES) throw malformedCbor(`bytes were expected at byte ${item.start}`);
  if (item.argument !== INDEFINITE) return bytes.subarray(item.contentStart, item.end);
  return joined(item.items.map((chunk) => bytesOf(bytes, chunk)));
}

/** A text, in one piece or in chunks. */
export function textOf(bytes: Uint8Array, item: Item): string {
  if (item.major !== TEXT) throw malformedCbor(`a text was expected at byte ${item.start}`);
  if (item.argument === INDEFINITE) return item.items.map((each) => textOf(bytes, each)).join('');
  return new TextDecoder().decode(bytes.subarray(item.contentStart, item.end));
}

export function elementsOf(item: Item): readonly Item[] {
  if (item.major !== ARRAY) throw malformedCbor(`an array was expected at byte ${item.start}`);
  return item.items;
}

/** As `elementsOf`, also for an array under the tag of a set (258). */
export function setElementsOf(item: Item): readonly Item[] {
  const [content] = item.items;
  const isSet = item.major === TAG && item.argument === 258n && content !== undefined;
  return elementsOf(isSet ? content : item);
}

export function entriesOf(item: Item): (readonly [Item, Item])[] {
  if (item.major !== MAP) throw malformedCbor(`a map was expected at byte ${item.start}`);
  const entries: [Item, Item][] = [];
  for (let at = 0; at + 1 < item.items.length; at += 2) {
    const [key, value] = item.items.slice(at, at + 2);
    if (key !== undefined && value !== undefined) entries.push([key, value]);
  }
  return entries;
}

/** The value under a number in a map; undefined where it is not there. */
export function mapField(bytes: Uint8Array, map: Item, key: number): Item | undefined {
  return entriesOf(map).find(([name]) => numberOf(bytes, name) === key)?.[1];
}

function bigintOf(bytes: Uint8Array): bigint {
  const hex = toHex(bytes);
  return hex === '' ? 0n : BigInt(`0x${hex}`);
}

function readItem(bytes: Uint8Array, start: number, depth: number): Item {
  if (depth > MAX_DEPTH) throw malformedCbor(`nested deeper than ${MAX_DEPTH}`);
  const head = byteAt(bytes, start);
  const major = head >> 5;
  const [argument, contentStart] = readArgument(bytes, start, head & 31);
  if (argument === INDEFINITE) {
    if (major < BYTES || major === TAG || major === SIMPLE) {
      throw malformedCbor(`no item can begin with 0x${head.toString(16)}`);
    }
    return readUntilBreak(bytes, { major, argument, start, contentStart }, depth);
  }
  if (major === BYTES || major === TEXT) {
    const end = contentStart + Number(argument);
    if (end > bytes.length) throw malformedCbor('a string ends past the end');
    return { major, argument, items: [], start, contentStart, end };
  }
  const count =
    major === ARRAY ? argument : major === MAP ? 2n * argument : major === TAG ? 1n : 0n;
  const items: Item[] = [];
  let end = contentStart;
  for (let index = 0n; index < count; index += 1n) {
    const item = readItem(bytes, end, depth + 1);
    items.push(item);
    end = item.end;
  }
  return { major, argument, items, start, contentStart, end };
}

function readUntilBreak(
  bytes: Uint8Array,
  header: Pick<Item, 'major' | 'argument' | 'start' | 'contentStart'>,
  depth: number,
): Item {
  const items: Item[] = [];
  let end = header.contentStart;
  while (byteAt(bytes, end) !== BREAK) {
    const item = readItem(bytes, end, depth + 1);
    const isString = header.major === BYTES || header.major === TEXT;
    if (isString && (item.major !== header.major || item.argument === INDEFINITE)) {
      throw malformedCbor(`a chunk of another kind at byte ${item.start}`);
    }
    items.push(item);
    end = item.end;
  }
  if (header.major === MAP && items.length % 2 === 1) throw malformedCbor('a key without value');
  return { ...header, items, end: end + 1 };
}

function readArgument(bytes: Uint8Array, start: number, short: number): [bigint, number] {
  if (short < 24) return [BigInt(short), start + 1];
  if (short === 31) return [INDEFINITE, start + 1];
  if (short > 27) throw malformedCbor(`reserved length at byte ${start}`);
  const size = 1 << (short - 24);
  let argument = 0n;
  for (let at = start + 1; at <= start + size; at += 1) {
    argument = (argument << 8n) | BigInt(byteAt(bytes, at));
  }
  return [argument, start + 1 + size];
}

function byteAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw malformedCbor('the input ends too early');
  return byte;
}

/**
 * The head of an item with the shortest length, for what we write ourselves. An amount beyond 64
 * bits, which no wallet covers, is as long as the longest: it is measured before it is refused.
 */
export function cborHead(major: number, argument: bigint | number): Uint8Array {
  const value = BigInt(argument);
  const lead = major << 5;
  if (value < 24n) return Uint8Array.of(lead | Number(value));
  const sizes = [1, 2, 4, 8] as const;
  const size = sizes.find((bytes) => value < 1n << BigInt(8 * bytes)) ?? 8;
  const rest = fromHex(
    BigInt.asUintN(64, value)
      .toString(16)
      .padStart(2 * size, '0'),
  );
  return joined([Uint8Array.of(lead | (24 + sizes.indexOf(size))), rest]);
}

export function malformedCbor(message: string): Fault {
  return new Fault('malformedCbor', message);
}
