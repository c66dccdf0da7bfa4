/**
 * The parts of a transaction that the program reads. The bytes are kept: ids are hashes over the
 * body as it came, never over a re-encoding. Source: Conway CDDL.
 */
import {
  ARRAY,
  bytesOf,
  elementsOf,
  entriesOf,
  type Item,
  integerOf,
  MAP,
  malformedCbor,
  mapField,
  numberOf,
  readCbor,
  SIMPLE,
  setElementsOf,
  span,
} from './cbor.ts';
import { blake2b256 } from './hash.ts';
import { toHex } from './hex.ts';
import {
  compareRefs,
  type Output,
  type OutputRef,
  readAssets,
  readOutput,
  readRef,
} from './output.ts';
import { decodePlutusData, type PlutusData } from './plutusData.ts';

export const PURPOSES = ['spend', 'mint', 'certificate', 'reward', 'vote', 'propose'] as const;

export interface Redeemer extends Units {
  readonly purpose: (typeof PURPOSES)[number];
  /** Position among the sorted inputs, policies, … that it is for. */
  readonly index: number;
  readonly data: PlutusData;
}

export interface KeyWitness {
  /** 32 bytes, hex. */
  readonly publicKey: string;
  readonly signature: Uint8Array;
}

export interface Transaction {
  /** Hash of the body, hex. */
  readonly id: string;
  readonly bytes: Uint8Array;
  readonly body: Uint8Array;
  readonly witnessSet: Uint8Array;
  /** Scripts were announced to succeed; else only the collateral moves. */
  readonly isValid: boolean;
  /** In the order of the ledger. */
  readonly inputs: readonly OutputRef[];
  readonly referenceInputs: readonly OutputRef[];
  readonly collateralInputs: readonly OutputRef[];
  readonly outputs: readonly Output[];
  readonly collateralReturn: Output | null;
  readonly totalCollateralLovelace: bigint | null;
  readonly feeLovelace: bigint;
  readonly mint: ReadonlyMap<string, bigint>;
  /** First slot in which it is valid, and the first in which it is not any more. */
  readonly validFromSlot: number | null;
  readonly validToSlot: number | null;
  /** Key hashes, hex. */
  readonly requiredSigners: readonly string[];
  readonly hasCertificates: boolean;
  readonly hasWithdrawals: boolean;
  readonly redeemers: readonly Redeemer[];
  readonly keyWitnesses: readonly KeyWitness[];
}

/** Execution units of scripts. */
export interface Units {
  readonly memory: bigint;
  readonly cpu: bigint;
}

export function totalUnits(units: readonly Units[]): Units {
  let [memory, cpu] = [0n, 0n];
  for (const each of units) {
    memory += each.memory;
    cpu += each.cpu;
  }
  return { memory, cpu };
}

type Refs = Pick<Transaction, 'inputs' | 'referenceInputs' | 'collateralInputs'>;

/** Every output that a transaction names, in any role: perhaps twice. */
export function namedRefs({ inputs, referenceInputs, collateralInputs }: Refs): OutputRef[] {
  return [...inputs, ...referenceInputs, ...collateralInputs];
}

/** Field of the body. */
const AUXILIARY_HASH = 7;
const MAX_BYTES = 1 << 20;
const NEVER_SLOT = BigInt(Number.MAX_SAFE_INTEGER);

/** Throws `malformedCbor`. */
export function decodeTransaction(bytes: Uint8Array): Transaction {
  if (bytes.length > MAX_BYTES) throw malformedCbor('no transaction is that long');
  const parts = elementsOf(readCbor(bytes));
  const [body, witnesses, valid] = parts;
  if (
    parts.length !== 4 ||
    body?.major !== MAP ||
    witnesses?.major !== MAP ||
    valid === undefined
  ) {
    throw malformedCbor('a transaction is an array of body, witnesses, validity, auxiliary data');
  }
  const bodyBytes = span(bytes, body);
  return {
    id: blake2b256(bodyBytes),
    bytes,
    body: bodyBytes,
    witnessSet: span(bytes, witnesses),
    isValid: readBoolean(valid),
    ...readBody(bytes, body),
    ...readWitnesses(bytes, witnesses),
  };
}

function readBoolean(item: Item): boolean {
  if (item.major !== SIMPLE || (item.argument !== 20n && item.argument !== 21n)) {
    throw malformedCbor(`true or false was expected at byte ${item.start}`);
  }
  return item.argument === 21n;
}

function numbered(bytes: Uint8Array, map: Item): Map<number, Item> {
  const fields = new Map<number, Item>();
  for (const [key, value] of entriesOf(map)) {
    const name = numberOf(bytes, key);
    if (fields.has(name)) throw malformedCbor(`key ${name} twice`);
    fields.set(name, value);
  }
  return fields;
}

function readBody(bytes: Uint8Array, item: Item) {
  const fields = numbered(bytes, item);
  const each = <T>(key: number, read: (bytes: Uint8Array, item: Item) => T): T[] => {
    const list = fields.get(key);
    return list === undefined ? [] : setElementsOf(list).map((element) => read(bytes, element));
  };
  const one = <T>(key: number, read: (bytes: Uint8Array, item: Item) => T): T | null => {
    const value = fields.get(key);
    return value === undefined ? null : read(bytes, value);
  };
  const fee = one(2, integerOf);
  if (fee === null || !fields.has(0) || !fields.has(1)) {
    throw malformedCbor('a body has inputs, outputs and a fee');
  }
  return {
    inputs: each(0, readRef).sort(compareRefs),
    outputs: each(1, readOutput),
    feeLovelace: fee,
    validToSlot: one(3, slotOf),
    hasCertificates: fields.has(4),
    hasWithdrawals: fields.has(5),
    validFromSlot: one(8, slotOf),
    mint: new Map(one(9, readAssets) ?? []),
    collateralInputs: each(13, readRef),
    requiredSigners: each(14, (source, hash) => toHex(bytesOf(source, hash))),
    collateralReturn: one(16, readOutput),
    totalCollateralLovelace: one(17, integerOf),
    referenceInputs: each(18, readRef),
  };
}

const MAX_UNSIGNED = (1n << 64n) - 1n;

/** Some write 2^64 − 1 for "never": a slot from 2^53 on never comes, so all are one. */
function slotOf(bytes: Uint8Array, item: Item): number {
  const slot = integerOf(bytes, item);
  if (slot > MAX_UNSIGNED) throw malformedCbor(`no slot at byte ${item.start}`);
  return Number(slot < NEVER_SLOT ? slot : NEVER_SLOT);
}

function readWitnesses(bytes: Uint8Array, item: Item) {
  const fields = numbered(bytes, item);
  const keys = fields.get(0);
  const redeemers = fields.get(5);
  return {
    keyWitnesses: keys === undefined ? [] : readKeyWitnesses(bytes, keys),
    redeemers: redeemers === undefined ? [] : readRedeemers(bytes, redeemers),
  };
}

/** Datums of a witness set, by hash: an output may name one by its hash alone. */
export function witnessDatums(bytes: Uint8Array, set: Item): (readonly [string, Uint8Array])[] {
  const datums = mapField(bytes, set, 4);
  if (datums === undefined) return [];
  return setElementsOf(datums).map((datum) => {
    const content = span(bytes, datum);
    return [blake2b256(content), content] as const;
  });
}

/** Numbers of the fields that a body has. */
export function bodyFields(body: Uint8Array): readonly number[] {
  return [...numbered(body, readCbor(body)).keys()];
}

/** The metadata as it came, and the hash that the body names; the ledger takes both or neither. */
export function auxiliaryOf({ bytes, body }: Pick<Transaction, 'bytes' | 'body'>): {
  readonly data: Uint8Array | null;
  readonly hash: string | null;
} {
  const part = elementsOf(readCbor(bytes))[3];
  const hash = mapField(body, readCbor(body), AUXILIARY_HASH);
  return {
    data: part === undefined || part.major === SIMPLE ? null : span(bytes, part),
    hash: hash === undefined ? null : toHex(bytesOf(body, hash)),
  };
}

/** Labels: a plain map (Shelley), the first of a pair (Mary), member 0 under a tag (Alonzo). */
export function metadataLabels(bytes: Uint8Array, auxiliary: Item): Item | undefined {
  if (auxiliary.major === MAP) return auxiliary;
  if (auxiliary.major === ARRAY) return auxiliary.items[0];
  const [content] = auxiliary.items;
  return content?.major === MAP ? mapField(bytes, content, 0) : undefined;
}

export function readKeyWitnesses(bytes: Uint8Array, list: Item): KeyWitness[] {
  return setElementsOf(list).map((pair) => {
    const [key, signature] = elementsOf(pair);
    if (key === undefined || signature === undefined) throw malformedCbor('half a witness');
    return { publicKey: toHex(bytesOf(bytes, key)), signature: bytesOf(bytes, signature) };
  });
}

/** Both forms: a list of four-tuples, and a map from (purpose, index) to (data, units). */
function readRedeemers(bytes: Uint8Array, item: Item): Redeemer[] {
  const flat =
    item.major === ARRAY
      ? item.items.map((tuple) => elementsOf(tuple))
      : entriesOf(item).map(([key, value]) => [...elementsOf(key), ...elementsOf(value)]);
  return flat.map(([tag, index, data, units]) => {
    if (tag === undefined || index === undefined || data === undefined || units === undefined) {
      throw malformedCbor('part of a redeemer is missing');
    }
    const purpose = PURPOSES[numberOf(bytes, tag)];
    const [memory, cpu] = elementsOf(units);
    if (purpose === undefined || memory === undefined || cpu === undefined) {
      throw malformedCbor('a redeemer of unknown kind');
    }
    return {
      purpose,
      index: numberOf(bytes, index),
      data: decodePlutusData(span(bytes, data)),
      memory: integerOf(bytes, memory),
      cpu: integerOf(bytes, cpu),
    };
  });
}
