/** Unspent outputs of a wallet as the API lists them, and back as CIP-30 has them. */
import { addressBytes, parseAddress } from '../../cardano/codec/address.ts';
import { ARRAY, BYTES, cborHead, MAP, UNSIGNED } from '../../cardano/codec/cbor.ts';
import { fromHex, toHex } from '../../cardano/codec/hex.ts';
import type { OutputRef } from '../../cardano/codec/output.ts';
import { addValues, asValue, type Value } from '../../cardano/codec/value.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { assert } from '../../engine/runtime/assert.ts';
import type { UtxoRow } from './answers.ts';

export interface OwnUtxo {
  readonly ref: OutputRef;
  readonly address: string;
  readonly value: Value;
}

export function ownUtxo({ txHash, index, address, value }: UtxoRow): OwnUtxo {
  let lovelace = 0n;
  const assets: [AssetId, bigint][] = [];
  for (const { unit, amount } of value) {
    if (unit === 'lovelace') lovelace += BigInt(amount);
    else assets.push([unit, BigInt(amount)]);
  }
  return { ref: { txHash, index }, address, value: asValue(lovelace, assets) };
}

export function balanceOf(utxos: readonly OwnUtxo[]): Value {
  return addValues(...utxos.map(({ value }) => value));
}

/** Hex CBOR of `[input, output]`. The server reads the reference and looks up the rest itself. */
export function cip30({ ref, address, value }: OwnUtxo): string {
  const parsed = parseAddress(address);
  assert(parsed !== null, 'the wallet of a key has a key address');
  const input = [cborHead(ARRAY, 2), bytes(fromHex(ref.txHash)), cborHead(UNSIGNED, ref.index)];
  const output = [cborHead(ARRAY, 2), bytes(addressBytes(parsed)), encodeValue(value)];
  return toHex(Buffer.concat([cborHead(ARRAY, 2), ...input, ...output]));
}

function encodeValue({ lovelace, assets }: Value): Uint8Array {
  const coin = cborHead(UNSIGNED, lovelace);
  if (assets.size === 0) return coin;
  const policies = new Map<string, [string, bigint][]>();
  for (const [asset, amount] of assets) {
    const [policy = '', name = ''] = asset.split('.');
    policies.set(policy, [...(policies.get(policy) ?? []), [name, amount]]);
  }
  const bundle = Array.from(policies, ([policy, names]) => [
    bytes(fromHex(policy)),
    cborHead(MAP, names.length),
    ...names.flatMap(([name, amount]) => [bytes(fromHex(name)), cborHead(UNSIGNED, amount)]),
  ]);
  return Buffer.concat([cborHead(ARRAY, 2), coin, cborHead(MAP, policies.size), ...bundle.flat()]);
}

function bytes(content: Uint8Array): Uint8Array {
  return Buffer.concat([cborHead(BYTES, content.length), content]);
}
