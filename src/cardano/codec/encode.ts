/**
 * CBOR that we write ourselves: definite lengths, shortest heads, keys ascending; so a generic
 * library decodes and encodes it to the same bytes. Source: RFC 8949 and the Conway CDDL.
 */
import { assert } from '../../engine/runtime/assert.ts';
import { addressBytes, parseAddress } from './address.ts';
import { ARRAY, BYTES, cborHead, MAP, NEGATIVE, TAG, UNSIGNED } from './cbor.ts';
import { fromHex, joined } from './hex.ts';
import { compareRefs, type OutputRef } from './output.ts';
import type { Value } from './value.ts';

export function uint(value: bigint | number): Uint8Array {
  return cborHead(UNSIGNED, value);
}

export function integer(value: bigint | number): Uint8Array {
  const exact = BigInt(value);
  return exact < 0n ? cborHead(NEGATIVE, -1n - exact) : cborHead(UNSIGNED, exact);
}

export function hexString(hex: string): Uint8Array {
  return byteString(fromHex(hex));
}

export function byteString(content: Uint8Array): Uint8Array {
  return joined([cborHead(BYTES, content.length), content]);
}

export function array(items: readonly Uint8Array[]): Uint8Array {
  return joined([cborHead(ARRAY, items.length), ...items]);
}

export function map(entries: readonly (readonly [Uint8Array, Uint8Array])[]): Uint8Array {
  return joined([cborHead(MAP, entries.length), ...entries.flat()]);
}

/** Fields by number, ascending. */
export function fieldMap(fields: ReadonlyMap<number, Uint8Array>): Uint8Array {
  const sorted = [...fields].sort(([a], [b]) => a - b);
  return map(sorted.map(([key, value]) => [uint(key), value]));
}

export function tagged(tag: number, content: Uint8Array): Uint8Array {
  return joined([cborHead(TAG, tag), content]);
}

export interface NewOutput {
  /** bech32. */
  readonly address: string;
  readonly value: Value;
  /** Inline, CBOR hex. */
  readonly datum?: string | null;
  /** PlutusV2, one layer of CBOR, hex. */
  readonly script?: string;
}

export function encodeRef({ txHash, index }: OutputRef): Uint8Array {
  return array([hexString(txHash), uint(index)]);
}

export function encodeRefs(refs: readonly OutputRef[]): Uint8Array {
  return array([...refs].sort(compareRefs).map(encodeRef));
}

const PLUTUS_V2 = 2;
const CBOR_IN_BYTES = 24;

export function encodeOutput({ address, value, datum, script }: NewOutput): Uint8Array {
  const fields: [Uint8Array, Uint8Array][] = [
    [uint(0), byteString(bytesOfAddress(address))],
    [uint(1), encodeValue(value)],
  ];
  if (datum != null) {
    fields.push([uint(2), array([uint(1), embedded(fromHex(datum))])]);
  }
  if (script !== undefined) {
    const content = array([uint(PLUTUS_V2), hexString(script)]);
    fields.push([uint(3), embedded(content)]);
  }
  return map(fields);
}

/** CBOR inside a byte string. */
function embedded(content: Uint8Array): Uint8Array {
  return tagged(CBOR_IN_BYTES, byteString(content));
}

/** Base or enterprise: nothing else is written here. */
function bytesOfAddress(text: string): Uint8Array {
  const address = parseAddress(text);
  assert(address !== null && !address.pointer, 'outputs go to base or enterprise addresses');
  return addressBytes(address);
}

/** Policies and names ascending by length, then bytes, as canonical CBOR has them. */
function encodeValue({ lovelace, assets }: Value): Uint8Array {
  if (assets.size === 0) return uint(lovelace);
  return array([uint(lovelace), encodeAssets(assets)]);
}

/** Encodes the assets of a value or a mint; only mints may have negative amounts. */
export function encodeAssets(assets: ReadonlyMap<string, bigint>): Uint8Array {
  const policies = new Map<string, Map<string, bigint>>();
  for (const [asset, amount] of assets) {
    const [policy = '', name = ''] = asset.split('.');
    const names = policies.get(policy) ?? new Map<string, bigint>();
    policies.set(policy, names.set(name, amount));
  }
  return map(
    sorted(policies).map(([policy, names]) => [
      hexString(policy),
      map(sorted(names).map(([name, amount]) => [hexString(name), integer(amount)])),
    ]),
  );
}

function sorted<T>(entries: ReadonlyMap<string, T>): [string, T][] {
  const order = (a: string, b: string) => a.length - b.length || (a < b ? -1 : 1);
  return [...entries].sort(([a], [b]) => order(a, b));
}

/** `Map[input, output]`, the form in which Scalus takes unspent outputs. */
export function encodeUtxoMap(
  utxos: readonly { readonly ref: OutputRef; readonly output: { readonly cbor: string } }[],
): Uint8Array {
  return map(utxos.map(({ ref, output }) => [encodeRef(ref), fromHex(output.cbor)]));
}
