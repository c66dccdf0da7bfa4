/**
 * The CBOR that we write ourselves: definite lengths, shortest integers, no tag for sets, map keys
 * ascending; so a generic library decodes and encodes it to the same bytes. Source: Conway CDDL.
 */
import { addressBytes, parseAddress } from '../cardano/address.ts';
import { ARRAY, BYTES, cborHead, MAP, NEGATIVE, TAG, UNSIGNED } from '../cardano/cbor.ts';
import { fromHex } from '../cardano/hex.ts';
import type { OutputRef } from '../cardano/output.ts';
import { Constr, type PlutusData, PlutusMap } from '../cardano/plutusData.ts';
import type { Value } from '../cardano/value.ts';
import { assert } from '../runtime/assert.ts';
import type { PlannedOutput } from './plan.ts';

const WORD = 1n << 64n;
const CBOR_IN_BYTES = 24;
const LONGEST_CHUNK_BYTES = 64;

export function integer(value: bigint | number): Uint8Array {
  const exact = BigInt(value);
  assert(exact < WORD && exact >= -WORD, 'amounts and indexes fit in 64 bits');
  return exact < 0n ? cborHead(NEGATIVE, -1n - exact) : cborHead(UNSIGNED, exact);
}

export function byteString(content: Uint8Array): Uint8Array {
  return Buffer.concat([cborHead(BYTES, content.length), content]);
}

export function hexString(hex: string): Uint8Array {
  return byteString(fromHex(hex));
}

export function array(items: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat([cborHead(ARRAY, items.length), ...items]);
}

/** Keys are sorted by their bytes, which for integers and names is their order. */
export function map(entries: readonly (readonly [Uint8Array, Uint8Array])[]): Uint8Array {
  const sorted = [...entries].sort(([a], [b]) => Buffer.compare(a, b));
  return Buffer.concat([cborHead(MAP, entries.length), ...sorted.flat()]);
}

export function reference({ txHash, index }: OutputRef): Uint8Array {
  return array([hexString(txHash), integer(index)]);
}

export function tagged(tag: number, content: Uint8Array): Uint8Array {
  return Buffer.concat([cborHead(TAG, tag), content]);
}

/** Amounts by policy and name, as in values and mints. */
export function bundle(assets: Iterable<readonly [string, bigint]>): Uint8Array {
  const policies = new Map<string, [Uint8Array, Uint8Array][]>();
  for (const [asset, amount] of assets) {
    const [policy = '', name = ''] = asset.split('.');
    const names = policies.get(policy) ?? [];
    names.push([hexString(name), integer(amount)]);
    policies.set(policy, names);
  }
  return map([...policies].map(([policy, names]) => [hexString(policy), map(names)]));
}

export function valueCbor({ lovelace, assets }: Value): Uint8Array {
  return assets.size === 0 ? integer(lovelace) : array([integer(lovelace), bundle(assets)]);
}

export function outputCbor({ address, value, datum }: PlannedOutput): Uint8Array {
  const parsed = parseAddress(address);
  assert(parsed !== null && !parsed.pointer, `an address we can write: ${address}`);
  const fields: [Uint8Array, Uint8Array][] = [
    [integer(0), byteString(addressBytes(parsed))],
    [integer(1), valueCbor(value)],
  ];
  if (datum !== null) {
    fields.push([integer(2), array([integer(1), tagged(CBOR_IN_BYTES, hexString(datum))])]);
  }
  return map(fields);
}

/** Plutus data outside of datums: lists are definite here, for foreign libraries. */
export function dataCbor(data: PlutusData): Uint8Array {
  if (typeof data === 'bigint') return integer(data);
  if (typeof data === 'string') {
    assert(data.length <= 2 * LONGEST_CHUNK_BYTES, 'our redeemers hold hashes and names');
    return hexString(data);
  }
  assert(!(data instanceof PlutusMap), 'our redeemers hold no maps');
  if (!(data instanceof Constr)) return array(data.map(dataCbor));
  assert(data.index < 7, 'our redeemers have few constructors');
  return tagged(121 + data.index, array(data.fields.map(dataCbor)));
}
