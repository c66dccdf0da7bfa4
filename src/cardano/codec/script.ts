/** Hashes of PlutusV2 scripts: over the language and the code in one layer of CBOR. */
import { bytesOf, readCbor } from './cbor.ts';
import { blake2b224 } from './hash.ts';
import { fromHex } from './hex.ts';

const PLUTUS_V2 = 2;

/** Of code in one layer of CBOR, as it lies on the chain and in the blueprint; hex. */
export function scriptHash(code: string): string {
  return blake2b224(Buffer.concat([Uint8Array.of(PLUTUS_V2), fromHex(code)]));
}

/** Of code in two layers, as parameters are applied to it and wallets attach it; hex. */
export function doubledScriptHash(doubled: string): string {
  const bytes = fromHex(doubled);
  const code = bytesOf(bytes, readCbor(bytes));
  return blake2b224(Buffer.concat([Uint8Array.of(PLUTUS_V2), code]));
}
