// Made from the schemas of the server by scripts/writeWireTypes.ts: not edited by hand.

export interface GetUtxosBody {
  /** Payment key hash, 56 hex digits. */
  readonly pkh: string;
  readonly offset?: number | null;
  readonly limit?: number | null;
  readonly query?: 'unspent' | '' | null;
  readonly after?: string | '' | null;
}

export type GetUtxosAnswer = readonly {
  readonly txHash: string;
  readonly index: number;
  /** bech32 */
  readonly address: string;
  readonly value: readonly {
    /** `lovelace` or an asset id */
    readonly unit: string;
    /** Integer. */
    readonly amount: string;
  }[];
}[];
