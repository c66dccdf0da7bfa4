import { blake2b } from '@noble/hashes/blake2.js';
import { bytesOf, readCbor } from './cbor.ts';
import { fromHex, joined, toHex } from './hex.ts';

/** Hashes of keys, scripts and beacons: 28 bytes, as hex. */
export function blake2b224(bytes: Uint8Array): string {
  return toHex(blake2b(bytes, { dkLen: 28 }));
}

/** Hashes of transactions, datums and launch ids: 32 bytes, as hex. */
export function blake2b256(bytes: Uint8Array): string {
  return toHex(blake2b(bytes, { dkLen: 32 }));
}

const PLUTUS_V2 = 2;

/** Hash of a PlutusV2 script in one layer of CBOR, as on the chain and in the blueprint; hex. */
export function scriptHash(code: string): string {
  return languageScriptHash(PLUTUS_V2, fromHex(code));
}

/** The same of code in two layers, as wallets attach it; hex. */
export function doubledScriptHash(doubled: string): string {
  const bytes = fromHex(doubled);
  return languageScriptHash(PLUTUS_V2, bytesOf(bytes, readCbor(bytes)));
}

/** `language`: 0 native, then the versions of Plutus. */
export function languageScriptHash(language: number, code: Uint8Array): string {
  return blake2b224(joined([Uint8Array.of(language), code]));
}
