/** Unspent outputs of the chain in memory, found by reference, payment credential and asset. */

import { assert } from '../../engine/runtime/assert.ts';
import { parseAddress } from '../codec/address.ts';
import { type OutputRef, refText, type Utxo } from '../codec/output.ts';

const NONE: ReadonlyMap<string, Utxo> = new Map();

export class UtxoSet {
  readonly #byRef = new Map<string, Utxo>();
  readonly #byCredential = new Map<string, Map<string, Utxo>>();
  readonly #byAsset = new Map<string, Map<string, Utxo>>();

  get size(): number {
    return this.#byRef.size;
  }

  all(): Iterable<Utxo> {
    return this.#byRef.values();
  }

  get(ref: OutputRef): Utxo | undefined {
    return this.#byRef.get(refText(ref));
  }

  ofCredential(hash: string): Iterable<Utxo> {
    return (this.#byCredential.get(hash) ?? NONE).values();
  }

  ofAsset(asset: string): Iterable<Utxo> {
    return (this.#byAsset.get(asset) ?? NONE).values();
  }

  add(utxo: Utxo): void {
    const name = refText(utxo.ref);
    assert(!this.#byRef.has(name), `output ${name} is made once`);
    this.#byRef.set(name, utxo);
    put(this.#byCredential, credentialOf(utxo), name, utxo);
    for (const asset of utxo.output.value.assets.keys()) put(this.#byAsset, asset, name, utxo);
  }

  remove(ref: OutputRef): Utxo {
    const name = refText(ref);
    const utxo = this.#byRef.get(name);
    assert(utxo !== undefined, `output ${name} is there to be spent`);
    this.#byRef.delete(name);
    drop(this.#byCredential, credentialOf(utxo), name);
    for (const asset of utxo.output.value.assets.keys()) drop(this.#byAsset, asset, name);
    return utxo;
  }
}

const ADDRESSES_KEPT = 50_000;
const credentials = new Map<string, string>();

/**
 * Hash of the payment key or script; empty if the address is not a Shelley address. Addresses
 * recur.
 */
export function credentialOf({
  output: { address },
}: {
  readonly output: { readonly address: string };
}): string {
  const known = credentials.get(address);
  if (known !== undefined) return known;
  if (credentials.size >= ADDRESSES_KEPT) credentials.clear();
  const hash = parseAddress(address)?.payment.hash ?? '';
  credentials.set(address, hash);
  return hash;
}

function put(index: Map<string, Map<string, Utxo>>, key: string, name: string, utxo: Utxo): void {
  const found = index.get(key) ?? new Map<string, Utxo>();
  index.set(key, found.set(name, utxo));
}

function drop(index: Map<string, Map<string, Utxo>>, key: string, name: string): void {
  const found = index.get(key);
  found?.delete(name);
  if (found?.size === 0) index.delete(key);
}
