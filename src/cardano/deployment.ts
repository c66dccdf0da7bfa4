/**
 * A deployment: which scripts and addresses count on one network, and its parameters. Everything
 * that recognises or builds a transaction takes one; nothing else knows a hash by heart.
 * Source: onchain.md.
 */
import type { CurveParameters } from '../market/curve.ts';
import type { FeeParameters } from '../market/fees.ts';
import type { Address } from './address.ts';
import type { OutputRef } from './output.ts';

/** Where a script lies on the chain to be referred to, and its hash. */
export interface ReferenceScript {
  readonly hash: string;
  readonly ref: OutputRef;
}

export interface Deployment {
  readonly network: 'devnet' | 'preprod' | 'preview' | 'mainnet';
  /** Of addresses. */
  readonly addressNetwork: Address['network'];
  readonly curve: CurveParameters;
  readonly fees: FeeParameters;
  /** Reserve at which a pool graduates, without the lovelace that keep its output alive. */
  readonly thresholdLovelace: bigint;
  readonly refundAfterMs: number;
  /** Payment key hashes of the executor and of the fee address. */
  readonly executorKeyHash: string;
  readonly feeKeyHash: string;
  readonly feeAddress: string;
  readonly metadataAddress: string;
  /** Payment key hash of the outputs that serve as collateral. */
  readonly collateralKeyHash: string;
  /** Policy of pool NFTs. */
  readonly launchPolicyId: string;
  /** Template of token policies, double-CBOR hex, to be applied to (launch policy, NFT name). */
  readonly tokenPolicyTemplate: string;
  readonly scripts: {
    readonly launchPolicy: ReferenceScript;
    readonly curvePool: ReferenceScript;
    readonly order: ReferenceScript;
    readonly ammPool: ReferenceScript;
    readonly vesting: ReferenceScript;
  };
}

/** Coin in a pool's datum at which it graduates: the threshold and what keeps its output alive. */
export function capLovelace({ thresholdLovelace, fees }: Deployment): bigint {
  return thresholdLovelace + fees.poolKeepLovelace;
}
