/**
 * A wallet: keys made from secrets, one address, and witnesses for transactions. It signs only what
 * `inspect.ts` found to do what was asked; a caller cannot sign without having said what that is.
 */
import { formatAddress } from '../../cardano/codec/address.ts';
import { ARRAY, BYTES, cborHead, MAP, MalformedCbor, UNSIGNED } from '../../cardano/codec/cbor.ts';
import { blake2b256 } from '../../cardano/codec/hash.ts';
import { fromHex, isHex, toHex } from '../../cardano/codec/hex.ts';
import { decodeTransaction, type Transaction } from '../../cardano/codec/transaction.ts';
import { type Key, keyOf } from '../../cardano/keys/keys.ts';
import { ApiFailure } from './failure.ts';
import { type Intent, objectionTo } from './inspect.ts';

export type AddressNetwork = 'mainnet' | 'testnet';

/** Each 32 bytes, hex. Without a stake secret the address is an enterprise address. */
export interface Secrets {
  readonly payment: string;
  readonly stake: string | null;
}

export interface Signed {
  readonly transaction: Transaction;
  /** CBOR hex of a witness set with one key witness. */
  readonly witness: string;
}

export class Wallet {
  readonly address: string;
  readonly keyHash: string;
  readonly #key: Key;

  constructor({ payment, stake }: Secrets, network: AddressNetwork) {
    this.#key = keyOf(payment);
    this.keyHash = this.#key.hash;
    const part = (hash: string) => ({ kind: 'key', hash }) as const;
    this.address = formatAddress({
      network,
      payment: part(this.keyHash),
      stake: stake === null ? null : part(keyOf(stake).hash),
      pointer: false,
    });
  }

  /** Signs the body bytes as they came, if they do what `intent` says and nothing else. */
  sign(cbor: string, intent: Intent): Signed | ApiFailure {
    const transaction = read(cbor);
    if (transaction === null) {
      return new ApiFailure('BAD_TRANSACTION', 'the server sent no readable transaction');
    }
    const objection = objectionTo(transaction, this, intent);
    if (objection !== null) {
      return new ApiFailure('NOT_WHAT_WAS_ASKED', `not signed: ${objection}`);
    }
    const hash = blake2b256(transaction.body);
    return { transaction, witness: toHex(this.#witnessSet(fromHex(hash))) };
  }

  #witnessSet(bodyHash: Uint8Array): Uint8Array {
    const bytes = (content: Uint8Array) => [cborHead(BYTES, content.length), content];
    return Buffer.concat([
      cborHead(MAP, 1),
      cborHead(UNSIGNED, 0),
      cborHead(ARRAY, 1),
      cborHead(ARRAY, 2),
      ...bytes(fromHex(this.#key.publicKey)),
      ...bytes(this.#key.sign(bodyHash)),
    ]);
  }
}

function read(cbor: string): Transaction | null {
  if (!isHex(cbor)) return null;
  try {
    return decodeTransaction(fromHex(cbor));
  } catch (error) {
    if (error instanceof MalformedCbor) return null;
    throw error;
  }
}
