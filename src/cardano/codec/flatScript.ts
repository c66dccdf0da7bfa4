/**
 * Fills in a script's parameter: `[(program …) (con data …)]` in flat, the bit code of scripts.
 *
 * The term moves by the four bits of an application, and strings in it begin at whole bytes, so the
 * whole term is read; no part of it is executed. Every constant keeps its bytes. Source: the Plutus
 * Core specification, appendix C.
 *
 * Assumes: nothing about the script. Never nests, so a deep one is no danger to the stack.
 */
import { isFault } from '../../engine/runtime/assert.ts';
import { bytesOf, malformedCbor, readCbor } from './cbor.ts';
import { byteString } from './encode.ts';
import { fromHex, toHex } from './hex.ts';
import { encodePlutusData, type PlutusData } from './plutusData.ts';

const TAG_BITS = 4;
const [VARIABLE, DELAY, LAMBDA, APPLY, CONSTANT, FORCE, ERROR, BUILTIN, CONSTR, CASE] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
];
const BUILTIN_BITS = 7;

const [INTEGER, BYTE_STRING, TEXT, UNIT, BOOLEAN, LIST, PAIR, APPLIED, DATA] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8,
];

/** The script with its first parameter filled in; both in two layers of CBOR, hex. */
export function applyDataArgument(doubled: string, data: PlutusData): string {
  const copy = new FlatCopy(unwrapped(unwrapped(fromHex(doubled))));
  for (let part = 0; part < 3; part += 1) copy.natural();
  copy.write(APPLY, TAG_BITS);
  copyTerm(copy);
  copy.readPadding();
  copy.write(CONSTANT, TAG_BITS);
  // The list of the type's tags: one more, this, no more.
  copy.write(1, 1);
  copy.write(DATA, TAG_BITS);
  copy.write(0, 1);
  copy.writeString(encodePlutusData(data));
  copy.writePadding();
  return toHex(byteString(byteString(copy.written)));
}

/** Whether code in one layer of CBOR, as it lies in a witness set or an output, can be read. */
export function isWellFormed(code: Uint8Array): boolean {
  try {
    const copy = new FlatCopy(unwrapped(code));
    for (let part = 0; part < 3; part += 1) copy.natural();
    copyTerm(copy);
    copy.readPadding();
    return true;
  } catch (error) {
    if (isFault(error, 'malformedCbor')) return false;
    throw error;
  }
}

function unwrapped(bytes: Uint8Array): Uint8Array {
  return bytesOf(bytes, readCbor(bytes));
}

/**
 * The elements that are still to be read: a term, or more terms of a list while a bit announces
 * another.
 */
type Awaited = 'term' | 'terms';

function copyTerm(copy: FlatCopy): void {
  const awaited: Awaited[] = ['term'];
  for (let next = awaited.pop(); next !== undefined; next = awaited.pop()) {
    if (next === 'term') awaited.push(...termParts(copy));
    else if (copy.bits(1) === 1) awaited.push('terms', 'term');
  }
}

/** Copies a term but for the terms in it. These are answered, the last one first. */
function termParts(copy: FlatCopy): readonly Awaited[] {
  const tag = copy.bits(TAG_BITS);
  if (tag === DELAY || tag === LAMBDA || tag === FORCE) return ['term'];
  if (tag === APPLY) return ['term', 'term'];
  if (tag === CASE) return ['terms', 'term'];
  if (tag === VARIABLE) copy.natural();
  else if (tag === CONSTANT) copyConstant(copy);
  else if (tag === BUILTIN) copy.bits(BUILTIN_BITS);
  else if (tag === CONSTR) {
    copy.natural();
    return ['terms'];
  } else if (tag !== ERROR) throw malformedCbor(`a script with a term of tag ${tag}`);
  return [];
}

function copyConstant(copy: FlatCopy): void {
  const type: number[] = [];
  while (copy.bits(1) === 1) type.push(copy.bits(TAG_BITS));
  const end = copyValue(copy, type, 0);
  if (end !== type.length) throw malformedCbor('a script with a constant of an unknown type');
}

/** Copies a value of the type that begins at `at`, and answers where that type ends. */
function copyValue(copy: FlatCopy, type: readonly number[], at: number): number {
  const tag = type[at];
  if (tag === INTEGER) copy.natural();
  else if (tag === BYTE_STRING || tag === TEXT || tag === DATA) copy.string();
  else if (tag === BOOLEAN) copy.bits(1);
  else if (tag === APPLIED && type[at + 1] === LIST) {
    while (copy.bits(1) === 1) copyValue(copy, type, at + 2);
    return typeEnd(type, at);
  } else if (tag === APPLIED && type[at + 1] === APPLIED && type[at + 2] === PAIR) {
    return copyValue(copy, type, copyValue(copy, type, at + 3));
  } else if (tag !== UNIT) throw malformedCbor(`a script with a constant of type ${type.join()}`);
  return at + 1;
}

function typeEnd(type: readonly number[], at: number): number {
  if (type[at] !== APPLIED) return at + 1;
  return type[at + 1] === LIST ? typeEnd(type, at + 2) : typeEnd(type, typeEnd(type, at + 3));
}

/** Reads the bits of one script and writes them, and further bits, to another. */
class FlatCopy {
  readonly #from: Uint8Array;
  /** In bits. */
  #at = 0;
  readonly #bytes: number[] = [];
  #byte = 0;
  /** How many bits of `#byte` are written. */
  #filled = 0;

  constructor(from: Uint8Array) {
    this.#from = from;
  }

  get written(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }

  bits(count: number): number {
    const value = this.#read(count);
    this.write(value, count);
    return value;
  }

  /** Groups of seven bits, each after a bit that says whether there are more. */
  natural(): void {
    while (this.bits(8) >= 0x80);
  }

  /** Blocks of at most 255 bytes, each after its length, until an empty block. */
  string(): void {
    this.readPadding();
    this.writePadding();
    for (let length = this.bits(8); length > 0; length = this.bits(8)) {
      for (let at = 0; at < length; at += 1) this.bits(8);
    }
  }

  writeString(content: Uint8Array): void {
    this.writePadding();
    for (let at = 0; at < content.length; at += 255) {
      const block = content.subarray(at, at + 255);
      this.write(block.length, 8);
      for (const byte of block) this.write(byte, 8);
    }
    this.write(0, 8);
  }

  /** Zeros up to a 1 that ends a byte. */
  readPadding(): void {
    while (this.#read(1) === 0);
    if (this.#at % 8 !== 0) throw malformedCbor('a script with padding that ends inside a byte');
  }

  writePadding(): void {
    this.write(1, 8 - this.#filled);
  }

  write(value: number, count: number): void {
    for (let left = count - 1; left >= 0; left -= 1) {
      this.#byte = (this.#byte << 1) | ((value >> left) & 1);
      this.#filled += 1;
      if (this.#filled < 8) continue;
      this.#bytes.push(this.#byte);
      this.#byte = 0;
      this.#filled = 0;
    }
  }

  #read(count: number): number {
    let value = 0;
    for (let left = count; left > 0; left -= 1) {
      const byte = this.#from[this.#at >> 3];
      if (byte === undefined) throw malformedCbor('a script that ends too soon');
      value = (value << 1) | ((byte >> (7 - (this.#at & 7))) & 1);
      this.#at += 1;
    }
    return value;
  }
}
