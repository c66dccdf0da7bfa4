/** Wallets: for whose address transactions are built, and who signs them. */
import { type AddressNetwork, Key } from '../../cardano/keys/keys.ts';

export interface TradingWallet {
  /** bech32; change returns here. */
  readonly address: string;
  /** Hash of the wallet's payment key, hex. */
  readonly keyHash: string;
  /** CIP-30 CBOR, hex; null: the server looks them up by the key. */
  utxos(): Promise<readonly string[] | null>;
  /** Signs a transaction (CBOR, hex): CBOR of a witness set, hex. Rejects with `ApiError`. */
  sign(cbor: string): Promise<string>;
}

/** Each 32 bytes, hex. Without a stake secret the address is an enterprise address. */
export interface WalletSecrets {
  readonly payment: string;
  readonly stake: string | null;
}

/** A wallet whose keys are in this process. */
export class KeyWallet implements TradingWallet {
  readonly address: string;
  readonly keyHash: string;
  readonly #key: Key;

  constructor({ payment, stake }: WalletSecrets, network: AddressNetwork) {
    this.#key = new Key(payment);
    this.keyHash = this.#key.hash;
    this.address = this.#key.address(network, stake === null ? null : new Key(stake).hash);
  }

  async utxos(): Promise<null> {
    return null;
  }

  async sign(cbor: string): Promise<string> {
    return this.#key.witness(cbor);
  }
}
