// Made from the schemas of the server by scripts/writeWireTypes.ts: not edited by hand.

export interface LaunchInfo {
  readonly assetType: 'Meme' | 'AI';
  /**
   * 1 to 16 characters, at most 32 bytes of UTF-8. No control, bidirectional or invisible
   * characters; joiners stay where an emoji or a script is written with them.
   */
  readonly name: string;
  readonly ticker: string;
  /** May be empty. No bidirectional control characters. */
  readonly description: string;
  /**
   * An absolute https URL without user, password, spaces and backslashes. It is stored as a
   * URL parser prints it.
   */
  readonly twitter?: string | null;
  /**
   * An absolute https URL without user, password, spaces and backslashes. It is stored as a
   * URL parser prints it.
   */
  readonly discord?: string | null;
  /**
   * An absolute https URL without user, password, spaces and backslashes. It is stored as a
   * URL parser prints it.
   */
  readonly telegram?: string | null;
  /**
   * An absolute https URL without user, password, spaces and backslashes. It is stored as a
   * URL parser prints it.
   */
  readonly website?: string | null;
  readonly launchType?: 'DEFAULT' | 'HYPED' | '' | null;
  /** Lovelace of the initial buy; "0" is none. */
  readonly initialDeposit?: string | null;
  /** bech32; a base or enterprise key address of this network. */
  readonly changeAddress: string;
  /**
   * Outputs to spend, each hex CBOR `[input, output]` (CIP-30). Absent: the server looks up
   * the wallet. Their content is always read from the ledger.
   */
  readonly utxos?: readonly string[] | 'splash-wallet' | '' | null;
  /**
   * Outputs for collateral. Absent: the server adds its own and signs for it; a server
   * without collateral uses an output of the wallet.
   */
  readonly collaterals?: readonly string[] | null;
  readonly ttl?: number | null;
}

export interface LaunchAnswer {
  readonly id: string;
  /** Hex. */
  readonly cbor: string;
  readonly partial: boolean;
  /** Unix ms from which no block takes the transaction; null: it has no end. */
  readonly validUntil: number | null;
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly assetId: string;
  /** The name of the asset, hex. */
  readonly assetSubject: string;
  readonly policyId: string;
  readonly logoCID: string;
  /** Integer. */
  readonly userOutputTokens?: string;
}

export interface CancelBody {
  readonly txHash: string;
  readonly index: string | number;
  /** bech32; a base or enterprise key address of this network. */
  readonly changeAddress: string;
  /**
   * Outputs to spend, each hex CBOR `[input, output]` (CIP-30). Absent: the server looks up
   * the wallet. Their content is always read from the ledger.
   */
  readonly utxos?: readonly string[] | 'splash-wallet' | '' | null;
  /**
   * Outputs for collateral. Absent: the server adds its own and signs for it; a server
   * without collateral uses an output of the wallet.
   */
  readonly collaterals?: readonly string[] | null;
  readonly ttl?: number | null;
}

export interface CancelAnswer {
  readonly id: string;
  /** Hex. */
  readonly cbor: string;
  /** The server has signed for its collateral. */
  readonly partial: boolean;
  /** Unix ms from which no block takes the transaction; null: it has no end. */
  readonly validUntil: number | null;
}

export interface TransferBody {
  /**
   * Outputs to spend, each hex CBOR `[input, output]` (CIP-30). Absent: the server looks up
   * the wallet. Their content is always read from the ledger.
   */
  readonly utxos?: readonly string[] | 'splash-wallet' | '' | null;
  /** bech32; a base or enterprise key address of this network. */
  readonly changeAddress: string;
  /** bech32; a base or enterprise key address of this network. */
  readonly distAddress: string;
  readonly transferAssets: {
    readonly lovelace: string;
    readonly assets?:
      | readonly {
          /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
          readonly unit: string;
          readonly amount: string;
        }[]
      | null;
  };
  readonly ttl?: number | null;
}

export type TransferAnswer = CancelAnswer;

export interface SignBody {
  /** Hex. */
  readonly cbor: string;
  /** Hex. */
  readonly witness: string;
  /** bech32; a base or enterprise key address of this network. */
  readonly changeAddress: string;
}

export interface SignAnswer {
  /** Hex. */
  readonly cbor: string;
}

export interface SignAndSubmitBody {
  /** Hex. */
  readonly cbor: string;
  /** Hex. */
  readonly witness: string;
  /** bech32; a base or enterprise key address of this network. */
  readonly changeAddress: string;
}

export interface SignAndSubmitAnswer {
  readonly txHash: string;
}

export interface SubmitBody {
  /** Hex. */
  readonly cbor: string;
}

export interface SubmitAnswer {
  readonly txHash: string;
}
