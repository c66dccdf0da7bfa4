/**
 * The wallet of a devnet: a key made in this browser and kept in its storage, where every script of
 * this page can read it. Coins of a devnet are worth nothing; no other key may be stored here.
 */
import { walletError } from './connectedWallet.ts';

/** Readable for a person who looks into the storage. */
const STORAGE_NAME = 'upcurve.devnet-test-wallet.secret-key';
export const storage = () => localStorage;
const SECRET = /^[0-9a-f]{64}$/;

/** 32 bytes as hex; null where none is kept. Throws `ApiError` where storage is switched off. */
export function keptSecret(storage: () => Storage): string | null {
  const text = reach(() => storage().getItem(STORAGE_NAME));
  return text !== null && SECRET.test(text) ? text : null;
}

export function keepSecret(storage: () => Storage, secret: string): void {
  reach(() => storage().setItem(STORAGE_NAME, secret));
}

export function forgetSecret(storage: () => Storage): void {
  reach(() => storage().removeItem(STORAGE_NAME));
}

/** A key as someone pasted it, or in words why it is none. */
export function readSecret(text: string): { readonly secret: string } | string {
  const bare = text.trim().toLowerCase();
  if (bare === '') return 'Paste a secret key.';
  return SECRET.test(bare) ? { secret: bare } : 'A secret key has 64 hex digits (0 to 9, a to f).';
}

function reach<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw walletError(`This browser keeps nothing for this page: ${why}`);
  }
}
