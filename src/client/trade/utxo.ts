/** Unspent outputs of a wallet as the API lists them, and as CIP-30 has them. */
import { elementsOf, malformedCbor, readCbor } from '../../cardano/codec/cbor.ts';
import { array, encodeOutput, encodeRef } from '../../cardano/codec/encode.ts';
import { fromHex, toHex } from '../../cardano/codec/hex.ts';
import { type OutputRef, readRef, refText } from '../../cardano/codec/output.ts';
import { addValues, asValue, type Value } from '../../cardano/codec/value.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { ApiError } from '../apiError.ts';
import type { Client } from '../client.ts';
import type { UtxoRow } from '../types.ts';

export interface WalletUtxo {
  readonly ref: OutputRef;
  readonly address: string;
  readonly value: Value;
}

const PAGE_ROWS = 1000;
const MAX_PAGES = 10;

/** All outputs of a payment key, up to ten thousand. */
export async function utxosOf(
  client: Pick<Client, 'utxos'>,
  keyHash: string,
): Promise<readonly WalletUtxo[]> {
  const utxos: WalletUtxo[] = [];
  let after: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { data } = await client.utxos.list({ pkh: keyHash, limit: PAGE_ROWS, after });
    utxos.push(...data.map(walletUtxo));
    const last = utxos.at(-1);
    if (last === undefined || data.length < PAGE_ROWS) break;
    after = refText(last.ref);
  }
  return utxos;
}

export function walletUtxo({ txHash, index, address, value }: UtxoRow): WalletUtxo {
  let lovelace = 0n;
  const assets: [AssetId, bigint][] = [];
  for (const { unit, amount } of value) {
    if (unit === 'lovelace') lovelace += integerOf(amount);
    else assets.push([unit, integerOf(amount)]);
  }
  return { ref: { txHash, index }, address, value: asValue(lovelace, assets) };
}

/** An amount as the API writes it; throws `ApiError` on anything else. */
export function integerOf(text: string | number): bigint {
  if (/^\d{1,40}$/.test(String(text))) return BigInt(text);
  throw new ApiError('BAD_ANSWER', `the server answered ${text} where an amount is`);
}

export function balanceOf(utxos: readonly WalletUtxo[]): Value {
  return addValues(...utxos.map(({ value }) => value));
}

/**
 * Reads hex CBOR of `[input, output]`, the form in which wallets give it. Throws `malformedCbor`.
 */
export function refOfUtxo(cbor: string): OutputRef {
  const bytes = fromHex(cbor);
  const [input] = elementsOf(readCbor(bytes));
  if (input === undefined) throw malformedCbor('an unspent output has an input');
  return readRef(bytes, input);
}

/** Hex CBOR of `[input, output]`. The server reads the reference and looks up the rest itself. */
export function utxoCbor({ ref, address, value }: WalletUtxo): string {
  return toHex(array([encodeRef(ref), encodeOutput({ address, value })]));
}
