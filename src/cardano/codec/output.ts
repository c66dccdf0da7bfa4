/** Outputs and references to them, read from CBOR of any era since Mary. Source: Conway CDDL. */

import { isFault } from '../../engine/runtime/assert.ts';
import { addressText } from './address.ts';
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
  span,
  TAG,
} from './cbor.ts';
import { blake2b256, languageScriptHash } from './hash.ts';
import { fromHex, toHex } from './hex.ts';
import { decodePlutusHex, type PlutusData } from './plutusData.ts';
import { remembered } from './remembered.ts';
import { asValue, type Value } from './value.ts';

export interface OutputRef {
  /** 32 bytes, hex. */
  readonly txHash: string;
  readonly index: number;
}

export interface Output {
  /** bech32 (Byron: hex). */
  readonly address: string;
  readonly value: Value;
  /**
   * Inline datum as CBOR hex; a hash alone counts as no datum, because the launchpad does not use
   * hashes.
   */
  readonly datum: string | null;
  /** Hash of the reference script; null without one. */
  readonly scriptHash: string | null;
  /** CBOR of the output as it stands in its transaction, hex. */
  readonly cbor: string;
}

export interface Utxo {
  readonly ref: OutputRef;
  readonly output: Output;
}

const REF = /^([0-9a-f]{64}):(0|[1-9][0-9]{0,8})$/;

/** `<tx>:<index>`, the form of references in the API and in keys of rows. */
export function refText({ txHash, index }: OutputRef): string {
  return `${txHash}:${index}`;
}

export function parseRef(text: string): OutputRef | null {
  const found = REF.exec(text.toLowerCase());
  if (found === null) return null;
  const [, txHash = '', index = ''] = found;
  return { txHash, index: Number(index) };
}

/** The order of inputs in the ledger: by hash, then index. */
export function compareRefs(a: OutputRef, b: OutputRef): number {
  if (a.txHash === b.txHash) return a.index - b.index;
  return a.txHash < b.txHash ? -1 : 1;
}

export function readRef(bytes: Uint8Array, item: Item): OutputRef {
  const [hash, index, ...more] = elementsOf(item);
  if (hash === undefined || index === undefined || more.length > 0) {
    throw malformedCbor('an input is a pair of hash and index');
  }
  const txHash = toHex(bytesOf(bytes, hash));
  if (txHash.length !== 64) throw malformedCbor('a transaction hash has 32 bytes');
  return { txHash, index: numberOf(bytes, index) };
}

/** Throws `malformedCbor`. */
export function decodeOutput(bytes: Uint8Array): Output {
  return readOutput(bytes, readCbor(bytes));
}

export function readOutput(bytes: Uint8Array, item: Item): Output {
  const fields = item.major === ARRAY ? legacyFields(item) : mapFields(bytes, item);
  const { address, value, datum, script } = fields;
  if (address === undefined || value === undefined) {
    throw malformedCbor('an output has an address and a value');
  }
  return {
    address: addressText(bytesOf(bytes, address)),
    value: readValue(bytes, value),
    datum: datum === undefined ? null : readInlineDatum(bytes, datum),
    scriptHash: script === undefined ? null : readScriptHash(bytes, script),
    cbor: toHex(span(bytes, item)),
  };
}

/** One output's datum is looked at by several readers, one after the other. */
const MAX_KNOWN = 256;

const dataOf = remembered((datum): PlutusData | null => {
  try {
    return decodePlutusHex(datum);
  } catch (error) {
    if (isFault(error, 'malformedCbor')) return null;
    throw error;
  }
}, MAX_KNOWN);

/** The data of an inline datum; null without one or when it is malformed. */
export function datumOf({ datum }: Output): PlutusData | null {
  return datum === null ? null : dataOf(datum);
}

/** A field of an output that `Output` leaves out, from its bytes; null where it is not there. */
function outputField(output: Output, key: number): { bytes: Uint8Array; item: Item } | null {
  if (output.cbor === '') return null;
  const bytes = fromHex(output.cbor);
  const root = readCbor(bytes);
  if (root.major !== MAP) {
    // Before Babbage a third element is the hash of the datum.
    const third = elementsOf(root)[2];
    return key === 2 && third !== undefined ? { bytes, item: third } : null;
  }
  const found = mapField(bytes, root, key);
  return found === undefined ? null : { bytes, item: found };
}

/** Hash of the datum, inline or not; null without one. */
export function datumHashOf(output: Output): string | null {
  if (output.datum !== null) return blake2b256(fromHex(output.datum));
  const field = outputField(output, 2);
  return field === null ? null : toHex(bytesOf(field.bytes, field.item.items[1] ?? field.item));
}

export interface ReferenceScriptItem {
  /** 0 native, then the versions of Plutus. */
  readonly language: number;
  readonly script: Item;
  /** Where `script` lies. */
  readonly bytes: Uint8Array;
}

/** The reference script of an output; null without one. */
export function referenceScriptOf(output: Output): ReferenceScriptItem | null {
  const field = output.scriptHash === null ? null : outputField(output, 3);
  const [content] = field?.item.items ?? [];
  if (field === null || content === undefined) return null;
  const bytes = bytesOf(field.bytes, content);
  const [language, script] = elementsOf(readCbor(bytes));
  if (language === undefined || script === undefined) return null;
  return { language: numberOf(bytes, language), script, bytes };
}

interface OutputFields {
  readonly address: Item | undefined;
  readonly value: Item | undefined;
  readonly datum?: Item | undefined;
  readonly script?: Item | undefined;
}

function legacyFields(item: Item): OutputFields {
  const [address, value] = item.items;
  return { address, value };
}

function mapFields(bytes: Uint8Array, item: Item): OutputFields {
  const fields = new Map(entriesOf(item).map(([key, value]) => [numberOf(bytes, key), value]));
  return {
    address: fields.get(0),
    value: fields.get(1),
    datum: fields.get(2),
    script: fields.get(3),
  };
}

export function readValue(bytes: Uint8Array, item: Item): Value {
  if (item.major !== ARRAY) return asValue(integerOf(bytes, item), []);
  const [coin, bundle] = item.items;
  if (coin === undefined || bundle === undefined) throw malformedCbor('a value of one part');
  return asValue(integerOf(bytes, coin), readAssets(bytes, bundle));
}

/** A bundle of assets, as in values and in mints (where amounts may be negative). */
export function readAssets(bytes: Uint8Array, bundle: Item): [string, bigint][] {
  return entriesOf(bundle).flatMap(([policy, names]) =>
    entriesOf(names).map(([name, amount]): [string, bigint] => [
      `${toHex(bytesOf(bytes, policy))}.${toHex(bytesOf(bytes, name))}`,
      integerOf(bytes, amount),
    ]),
  );
}

/** `[1, 24(bytes)]`; `[0, hash]` is no inline datum. */
function readInlineDatum(bytes: Uint8Array, item: Item): string | null {
  const [kind, content] = elementsOf(item);
  if (kind === undefined || content === undefined) throw malformedCbor('half a datum option');
  if (integerOf(bytes, kind) !== 1n) return null;
  return toHex(wrapped(bytes, content));
}

/** Hash over the language tag and the script. Native scripts have tag 0. */
function readScriptHash(bytes: Uint8Array, item: Item): string {
  const inner = wrapped(bytes, item);
  const [language, script] = elementsOf(readCbor(inner));
  if (language === undefined || script === undefined) throw malformedCbor('half a script');
  const tag = numberOf(inner, language);
  const content = tag === 0 ? span(inner, script) : bytesOf(inner, script);
  return languageScriptHash(tag, content);
}

/** Content of tag 24: CBOR inside a byte string. */
function wrapped(bytes: Uint8Array, item: Item): Uint8Array {
  const [content] = item.items;
  if (item.major !== TAG || item.argument !== 24n || content === undefined) {
    throw malformedCbor(`CBOR in bytes was expected at byte ${item.start}`);
  }
  return bytesOf(bytes, content);
}
