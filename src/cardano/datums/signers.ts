/** A native script that k of n keys unlock, in any combination. Source: Conway CDDL. */
import { array, byteString, uint } from '../codec/encode.ts';
import { languageScriptHash } from '../codec/hash.ts';
import { fromHex } from '../codec/hex.ts';

export interface Signers {
  readonly required: number;
  readonly keyHashes: readonly string[];
}

const NATIVE = 0;
const KEY = 0;
const AT_LEAST = 3;

export function signersScript({ required, keyHashes }: Signers): Uint8Array {
  const keys = keyHashes.map((hash) => array([uint(KEY), byteString(fromHex(hash))]));
  return array([uint(AT_LEAST), uint(required), array(keys)]);
}

export function signersHash(signers: Signers): string {
  return languageScriptHash(NATIVE, signersScript(signers));
}
