/**
 * Ed25519 keys of wallets and of the server, on Node's own crypto. A key is 32 secret bytes; who
 * holds one of these objects can sign, so it is never logged and never leaves the process.
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { blake2b224 } from '../codec/hash.ts';
import { fromHex, toHex } from '../codec/hex.ts';

/** DER around 32 raw bytes. Source: RFC 8410, section 7 and 4. */
const PRIVATE_DER = '302e020100300506032b657004220420';
const PUBLIC_DER = '302a300506032b6570032100';

export interface Key {
  /** 32 bytes, hex. */
  readonly publicKey: string;
  /** Of the public key, hex. */
  readonly hash: string;
  sign(message: Uint8Array): Uint8Array;
}

/** `secret` is 32 bytes as hex. */
export function keyOf(secret: string): Key {
  const der = Buffer.from(PRIVATE_DER + secret, 'hex');
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const publicKey = rawPublic(createPublicKey(privateKey));
  return {
    publicKey: toHex(publicKey),
    hash: blake2b224(publicKey),
    sign: (message) => sign(null, message, privateKey),
  };
}

function rawPublic(key: KeyObject): Uint8Array {
  return key.export({ format: 'der', type: 'spki' }).subarray(PUBLIC_DER.length / 2);
}

export function keyHash(publicKey: string): string {
  return blake2b224(fromHex(publicKey));
}

export function isSignedBy(publicKey: string, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 64 || signature.length !== 64) return false;
  const der = Buffer.from(PUBLIC_DER + publicKey, 'hex');
  return verify(
    null,
    message,
    createPublicKey({ key: der, format: 'der', type: 'spki' }),
    signature,
  );
}
