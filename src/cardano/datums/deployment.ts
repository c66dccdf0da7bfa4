/**
 * A deployment: which scripts and addresses count on one network, and its parameters. Everything
 * that recognises or builds a transaction takes one; nothing else knows a hash by heart.
 * Source: onchain.md.
 */

import type { AssetId } from '../../engine/market/asset.ts';
import type { CurveParameters } from '../../engine/market/curve.ts';
import type { FeeParameters } from '../../engine/market/fees.ts';
import { type Address, formatAddress, scriptAddress } from '../codec/address.ts';
import type { OutputRef } from '../codec/output.ts';
import { namesPool, type OrderLayout } from './datums.ts';
import { type Signers, signersHash } from './signers.ts';

/** A script's hash, and where it lies on the chain to be referred to. */
export interface ReferenceScript {
  readonly hash: string;
  readonly ref: OutputRef;
}

/**
 * The location of the script may be unknown (null): then the program recognises the script, but
 * builds no transaction that runs it.
 */
export interface KnownScript extends Pick<ReferenceScript, 'hash'> {
  readonly ref: OutputRef | null;
}

/**
 * The known part of a deployment: our own deployment is complete, a foreign one may not be. null
 * means not known. Recognition works with this much; building works where its fields are known.
 */
export interface PartialDeployment {
  readonly network: 'devnet' | 'preprod' | 'preview' | 'mainnet';
  /** The network in the header of addresses. */
  readonly addressNetwork: Address['network'];
  readonly curve: CurveParameters;
  readonly fees: FeeParameters;
  /** Reserve at which a pool graduates, without the lovelace that keep its output alive. */
  readonly thresholdLovelace: bigint;
  /** An order that is built now may be refunded so long after. */
  readonly refundAfterMs: number;
  /** Layout of the orders' datums: 02 names the market that may fill an order, 01 does not. */
  readonly orderLayout: OrderLayout;
  /** Payment key hashes of the executor and of the fee address; with settings, the first ones. */
  readonly executorKeyHash: string | null;
  readonly feeKeyHash: string | null;
  /** Payment key hash of the outputs that serve as collateral. */
  readonly collateralKeyHash: string | null;
  /**
   * The current executor and the current address for fees; absent: each pool's datum says it, as on
   * mainnet.
   */
  readonly settings?: SettingsPlace;
  /**
   * For launchpads whose executors change over time: all valid key hashes, null for any. Absent:
   * the one above.
   */
  readonly executors?: readonly string[] | null;
  readonly metadataAddress: string | null;
  /** Policy of pool NFTs. */
  readonly launchPolicyId: string;
  /** Template of token policies, double-CBOR hex, to be applied to (launch policy, NFT name). */
  readonly tokenPolicyTemplate: string | null;
  /** The payments and the executor of orders for a pool of Splash; absent: not known. */
  readonly splashOrder?: SplashOrderTerms;
  readonly scripts: {
    readonly curvePool: KnownScript;
    readonly order: KnownScript;
    readonly ammPool: KnownScript | null;
    readonly vesting: KnownScript | null;
    /** Earlier order validators of mainnet; their orders may be executed in parts. */
    readonly limitOrder?: KnownScript | null;
    readonly firstInstantOrder?: KnownScript | null;
    /** A pool of another protocol, into which the tokens of mainnet graduate. */
    readonly splashPool?: KnownScript | null;
  };
}

/**
 * Where the settings are: an output with an NFT, at the script of the keys that may change them.
 */
export interface SettingsPlace extends Signers {
  /** Its policy; its name is the hash of the script. */
  readonly policyId: string;
  /** Spent when the NFT was minted: the parameter of its policy. */
  readonly seed: OutputRef;
  /** The first output; each rotation makes another. */
  readonly ref: OutputRef;
}

export interface SplashOrderTerms {
  readonly executor: string;
  /** For the one step in which it is executed, and on top of that. */
  readonly stepLovelace: bigint;
  readonly feeLovelace: bigint;
}

export type ScriptName = keyof PartialDeployment['scripts'];

/** A script that is missing here does not compile: following would drop its transactions. */
const BY_NAME: { readonly [Name in ScriptName]-?: Name } = {
  curvePool: 'curvePool',
  ammPool: 'ammPool',
  order: 'order',
  vesting: 'vesting',
  limitOrder: 'limitOrder',
  firstInstantOrder: 'firstInstantOrder',
  splashPool: 'splashPool',
};
/** Scripts whose outputs count. */
export const SCRIPT_NAMES: readonly ScriptName[] = Object.values(BY_NAME);
/** Scripts whose orders may be executed in parts. */
export const PARTIAL_ORDER_SCRIPTS: readonly ScriptName[] = ['limitOrder', 'firstInstantOrder'];
/** Scripts that hold orders and pools of other markets too. */
export const SHARED_SCRIPTS: readonly ScriptName[] = [...PARTIAL_ORDER_SCRIPTS, 'splashPool'];

/** A deployment of which everything is known: launching and executing need that. */
export interface Deployment extends PartialDeployment {
  readonly executorKeyHash: string;
  readonly feeKeyHash: string;
  readonly feeAddress: string;
  readonly metadataAddress: string;
  readonly collateralKeyHash: string;
  readonly settings: SettingsPlace;
  readonly tokenPolicyTemplate: string;
  readonly scripts: {
    readonly launchPolicy: ReferenceScript;
    readonly curvePool: ReferenceScript;
    readonly order: ReferenceScript;
    readonly ammPool: ReferenceScript;
    readonly vesting: ReferenceScript;
  };
}

/** The known part of a network's deployment; on public ones from `config/<network>.json`. */
export interface NetworkDeployment {
  readonly network: PartialDeployment['network'];
  /** Where following begins when there is no state; null: at the chain's first block. */
  readonly start: { readonly slot: number; readonly hash: string } | null;
  /** null: nothing is deployed there yet. */
  readonly partial: PartialDeployment | null;
  /**
   * null: the server follows it, and builds the transactions whose fields are known; `missing`
   * names the unknown fields.
   */
  readonly complete: Deployment | null;
  /** Fields of the file that are null and that `complete` would need. */
  readonly missing: readonly string[];
  /** The file, or an address in it, is another network's; null: all is well. */
  readonly mismatch:
    | 'PROTOCOL_CONFIG_NETWORK_MISMATCH'
    | 'CONTRACTS_CONFIG_NETWORK_MISMATCH'
    | null;
}

/** Coin in a pool's datum at which it graduates: the threshold and what keeps its output alive. */
export function capLovelace({ thresholdLovelace, fees }: PartialDeployment): bigint {
  return thresholdLovelace + fees.poolKeepLovelace;
}

/** Where the settings count; anywhere else trading stops. */
export function settingsAddress(
  settings: Signers,
  network: PartialDeployment['addressNetwork'],
): string {
  return scriptAddress(network, signersHash(settings), null);
}

/**
 * Where the collateral for callers' transactions lies: at the collateral key, with that key as the
 * stake part. The executor's collateral lies elsewhere, so neither set takes from the other.
 */
export function callersCollateralAddress(
  keyHash: string,
  network: PartialDeployment['addressNetwork'],
): string {
  const key = { kind: 'key', hash: keyHash } as const;
  return formatAddress({ network, payment: key, stake: key, pointer: false });
}

export function settingsNft(settings: SettingsPlace): AssetId {
  return `${settings.policyId}.${signersHash(settings)}`;
}

/**
 * The fields that a deployment of an earlier version lacks, so that this version cannot fill its
 * orders.
 */
export function lackingForFills({
  executors,
  orderLayout,
  settings,
}: Pick<PartialDeployment, 'executors' | 'orderLayout' | 'settings'>): readonly string[] {
  if (executors !== undefined) return [];
  return [
    ...(namesPool(orderLayout) ? [] : ['orderLayout']),
    ...(settings === undefined ? ['settings'] : []),
  ];
}

/** Whether orders and pools of this executor count. With settings a datum's one is informative. */
export function isExecutor(
  { executors, executorKeyHash, settings }: PartialDeployment,
  hash: string,
): boolean {
  if (settings !== undefined) return true;
  if (executors === undefined) return hash === executorKeyHash;
  return executors === null || executors.includes(hash);
}
