import { blake2b } from '@noble/hashes/blake2.js';
import { toHex } from './hex.ts';

/** Of keys, scripts and beacons: 28 bytes, as hex. */
export function blake2b224(bytes: Uint8Array): string {
  return toHex(blake2b(bytes, { dkLen: 28 }));
}

/** Of transactions, datums and launch ids: 32 bytes, as hex. */
export function blake2b256(bytes: Uint8Array): string {
  return toHex(blake2b(bytes, { dkLen: 32 }));
}
