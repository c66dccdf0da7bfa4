/** The owner of a transaction, and the addresses that belong to the owner. */
import { type Address, parseAddress } from '../../cardano/codec/address.ts';

export interface Owner {
  readonly address: string;
  readonly keyHash: string;
}

/** A script's address with the owner's stake part; `hash`: of the script, null where unknown. */
export function isScriptOf(text: string, own: Address, hash: string | null): boolean {
  const address = parseAddress(text);
  if (address === null || address.payment.kind !== 'script') return false;
  if (hash !== null && address.payment.hash !== hash) return false;
  return address.network === own.network && address.stake?.hash === own.stake?.hash;
}

export function isSame(a: Address, b: Address): boolean {
  return a.payment.kind === b.payment.kind
    ? a.payment.hash === b.payment.hash && a.stake?.hash === b.stake?.hash
    : false;
}
