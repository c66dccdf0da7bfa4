/** A wallet that is connected: whose address transactions are built for, and who signs them. */
export interface ConnectedWallet {
  /** `test`: its key lies in this browser. `extension`: a CIP-30 wallet. */
  readonly kind: 'test' | 'extension';
  readonly name: string;
  /** A data URI of an image. */
  readonly icon: string | null;
  /** bech32; change returns here. */
  readonly address: string;
  /** Of its payment key, hex. */
  readonly keyHash: string;
  /** As CIP-30 gives them; null: the server looks them up by the key. */
  utxos(): Promise<readonly string[] | null>;
  /** What it says it holds; null: the server is asked. */
  holdings(): Promise<Holdings | null>;
  /** CBOR of a witness set, hex. Rejects with `WalletError`. */
  sign(cbor: string): Promise<string>;
}

export interface Holdings {
  readonly lovelace: bigint;
  /** By asset id. */
  readonly tokens: ReadonlyMap<string, bigint>;
}

export function amountHeld(holdings: Holdings | null, asset: string): bigint {
  if (holdings === null) return 0n;
  return asset === '.' ? holdings.lovelace : (holdings.tokens.get(asset) ?? 0n);
}

/** Something that the wallet, or the browser's storage, did not do. For a person. */
export class WalletError extends Error {}
