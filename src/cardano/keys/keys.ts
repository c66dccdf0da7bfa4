/**
 * Ed25519 keys that sign transactions, of wallets and of the server. On @noble/ed25519, so the same
 * code runs in browsers and in Node. Code that has such an object can sign: it is never logged, and
 * its secret never leaves the process.
 */
import { getPublicKey, hashes, sign, utils } from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';
import { formatAddress } from '../codec/address.ts';
import { elementsOf, readCbor, span } from '../codec/cbor.ts';
import { array, byteString, map, uint } from '../codec/encode.ts';
import { blake2b224, blake2b256 } from '../codec/hash.ts';
import { fromHex, isHex, toHex } from '../codec/hex.ts';

hashes.sha512 = sha512;

export type AddressNetwork = 'mainnet' | 'testnet';

const SECRET_HEX = 64;
const KEY_WITNESSES = 0;

/** 32 random bytes of the system, hex: a new key. */
export function newSecret(): string {
  return toHex(utils.randomSecretKey());
}

export class Key {
  /** 32 bytes, hex. */
  readonly publicKey: string;
  /** Hash of the public key, 28 bytes, hex: the payment key hash (pkh) of its addresses. */
  readonly hash: string;
  readonly #secret: Uint8Array;

  /** `secret`: 32 bytes, hex, as `newSecret` makes them. Throws on anything else. */
  constructor(secret: string) {
    if (!isHex(secret) || secret.length !== SECRET_HEX) {
      throw new TypeError('a secret is 32 bytes as 64 hex digits');
    }
    this.#secret = fromHex(secret);
    const publicKey = getPublicKey(this.#secret);
    this.publicKey = toHex(publicKey);
    this.hash = blake2b224(publicKey);
  }

  /** An enterprise address; with the hash of a stake key (28 bytes, hex) a base address. */
  address(network: AddressNetwork, stakeKeyHash: string | null = null): string {
    const part = (hash: string) => ({ kind: 'key', hash }) as const;
    const stake = stakeKeyHash === null ? null : part(stakeKeyHash);
    return formatAddress({ network, payment: part(this.hash), stake, pointer: false });
  }

  /** 64 bytes. */
  sign(message: Uint8Array): Uint8Array {
    return sign(message, this.#secret);
  }

  /**
   * Signs a transaction (CBOR, hex) as the server built it: the witness set, CBOR hex, as
   * `signAndSubmit` takes it. Throws `malformedCbor` if the text is not a transaction.
   */
  witness(cbor: string): string {
    return this.witnessOf(transactionId(cbor));
  }

  /** The same for the hash of a body (32 bytes, hex). */
  witnessOf(bodyHash: string): string {
    const witness = [byteString(fromHex(this.publicKey)), byteString(this.sign(fromHex(bodyHash)))];
    return toHex(map([[uint(KEY_WITNESSES), array([array(witness)])]]));
  }
}

/**
 * The hash of a transaction's body, over its bytes as they are: the key signs this hash, and it is
 * the transaction's id.
 */
export function transactionId(cbor: string): string {
  const bytes = fromHex(cbor);
  const [body] = elementsOf(readCbor(bytes));
  if (body === undefined) throw new TypeError('a transaction has a body');
  return blake2b256(span(bytes, body));
}
