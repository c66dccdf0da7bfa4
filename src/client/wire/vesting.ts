// Made from the schemas of the server by scripts/writeWireTypes.ts: not edited by hand.

export interface LocksByOwnerQuery {
  /** Payment key hash, 56 hex digits. */
  readonly redeemerVkhs: string;
}

export interface LocksByOwnerAnswer {
  readonly vestings: readonly {
    /** `<tx>:<index>` */
    readonly id: string;
    /** Unix milliseconds. */
    readonly lockUntil: string;
    /** Payment key hash, 56 hex digits. */
    readonly redeemerVkh: string;
    readonly tokenPolicyId: string;
    /** Hex. */
    readonly tokenAssetName: string;
    /** Integer. */
    readonly totalLocked: string;
    /** bech32 */
    readonly vestingOwnerAddress: string;
    readonly spent: false;
  }[];
}

export interface LocksByAssetAnswer {
  readonly vestings: readonly {
    /** `<tx>:<index>` */
    readonly id: string;
    /** Unix milliseconds. */
    readonly lockUntil: string;
    /** Payment key hash, 56 hex digits. */
    readonly redeemerVkh: string;
    readonly tokenPolicyId: string;
    /** Hex. */
    readonly tokenAssetName: string;
    /** Integer. */
    readonly totalLocked: string;
    /** bech32 */
    readonly vestingOwnerAddress: string;
    readonly spent: false;
  }[];
}

export interface CreateLockBody {
  /** bech32; a base or enterprise key address of this network. */
  readonly address: string;
  /** Asset id: `<56 hex policy>.<0..64 hex name>`, or `.` for the native coin. */
  readonly assetId: string;
  /** Tokens in all. */
  readonly amount: string;
  /** Unix ms at which the last stage unlocks. */
  readonly lockEnd: number;
  readonly stagesCount: number;
  readonly ttl?: number | null;
}

export interface CreateLockAnswer {
  /** Hex. */
  readonly cbor: string;
  /** Unix ms from which no block takes the transaction; null: it has no end. */
  readonly validUntil: number | null;
}

export interface WithdrawBody {
  /** An output: `<transaction hash>:<index>`. */
  readonly id: string;
  /** bech32; a base or enterprise key address of this network. */
  readonly address: string;
  readonly ttl?: number | null;
}

export interface WithdrawAnswer {
  /** Hex. */
  readonly cbor: string;
  /** Unix ms from which no block takes the transaction; null: it has no end. */
  readonly validUntil: number | null;
}
