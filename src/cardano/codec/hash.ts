import { blake2b } from '@noble/hashes/blake2.js';
import { bytesOf, readCbor } from './cbor.ts';
import { fromHex, toHex } from './hex.ts';

/** Of keys, scripts and beacons: 28 bytes, as hex. */
export function blake2b224(bytes: Uint8Array): string {
  return toHex(blake2b(bytes, { dkLen: 28 }));
}

/** Of transactions, datums and launch ids: 32 bytes, as hex. */
export function blake2b256(bytes: Uint8Array): string {
  return toHex(blake2b(bytes, { dkLen: 32 }));
}

/** Hashes of PlutusV2 scripts: over the language and the code in one layer of CBOR. */
const PLUTUS_V2 = 2;

/** Of code in one layer of CBOR, as it lies on the chain and in the blueprint; hex. */
export function scriptHash(code: string): string {
  return plutusV2Hash(fromHex(code));
}

/** Of code in two layers, as parameters are applied to it and wallets attach it; hex. */
export function doubledScriptHash(doubled: string): string {
  const bytes = fromHex(doubled);
  return plutusV2Hash(bytesOf(bytes, readCbor(bytes)));
}

function plutusV2Hash(code: Uint8Array): string {
  const tagged = new Uint8Array(1 + code.length);
  tagged[0] = PLUTUS_V2;
  tagged.set(code, 1);
  return blake2b224(tagged);
}
