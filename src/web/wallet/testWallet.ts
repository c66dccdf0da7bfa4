/**
 * The wallets of a devnet: keys made in this browser and kept in its storage, where every script of
 * this page can read them. Coins of a devnet are worth nothing; no other key may be stored here.
 */
import { t } from '../messages.ts';
import { walletError } from './connectedWallet.ts';

/** In a form that a person can read in the browser's storage. */
const STORAGE_NAME = 'upcurve.devnet-test-wallet.secret-key';
const MOST = 20;
export const storage = () => localStorage;
const SECRET = /^[0-9a-f]{64}$/;

/** 32 bytes as hex, the one used last first. Throws `ApiError` where storage is switched off. */
export function keptSecrets(storage: () => Storage): readonly string[] {
  const text = reach(() => storage().getItem(STORAGE_NAME)) ?? '';
  return text.split(' ').filter((each) => SECRET.test(each));
}

/** It is the first from now on. */
export function keepSecret(storage: () => Storage, secret: string): void {
  const others = keptSecrets(storage).filter((each) => each !== secret);
  if (others.length >= MOST) {
    throw walletError(t.keys.tooMany({ most: MOST }));
  }
  write(storage, [secret, ...others]);
}

export function forgetSecret(storage: () => Storage, secret: string): void {
  write(
    storage,
    keptSecrets(storage).filter((each) => each !== secret),
  );
}

function write(storage: () => Storage, secrets: readonly string[]): void {
  reach(() => {
    if (secrets.length === 0) storage().removeItem(STORAGE_NAME);
    else storage().setItem(STORAGE_NAME, secrets.join(' '));
  });
}

/** A key as someone pasted it, or in words why it is none. */
export function readSecret(text: string): { readonly secret: string } | string {
  const bare = text.trim().toLowerCase();
  if (bare === '') return t.keys.none;
  return SECRET.test(bare) ? { secret: bare } : t.keys.unreadable;
}

function reach<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw walletError(t.keys.noStorage({ why }));
  }
}
