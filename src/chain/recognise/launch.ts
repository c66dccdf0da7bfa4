/**
 * Pools that become known: launched, or adopted because their launch was before following started.
 *
 * A launch counts only if its NFT has the deployment's launch policy, datum and address are the
 * deployment's, and the token's policy is the template applied to that NFT. Anything else that
 * looks like a launch is ignored. Source: onchain.md, section Outputs.
 */
import { formatAddress, parseAddress } from '../../cardano/codec/address.ts';
import { datumOf, type Output, refText } from '../../cardano/codec/output.ts';
import { Constr } from '../../cardano/codec/plutusData.ts';
import type { Transaction } from '../../cardano/codec/transaction.ts';
import {
  type AmmDatum,
  type LaunchId,
  type PoolDatum,
  poolNftName,
  readAmmData,
  readLaunchId,
  readPoolData,
} from '../../cardano/datums/datums.ts';
import {
  capLovelace,
  isExecutor,
  type PartialDeployment,
} from '../../cardano/datums/deployment.ts';
import { readMetadata, type TokenMetadata } from '../../cardano/datums/metadata.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import type { LaunchedToken, MarketEvent } from '../../engine/market/events.ts';
import { reservesOf, stateOf } from './fills.ts';
import type { KnownState } from './knownState.ts';
import { type Rules, scriptOf } from './rules.ts';

interface Launch {
  readonly pool: LaunchedToken;
  /** Index of the output that holds the pool. */
  readonly index: number;
  readonly xLovelace: bigint;
  readonly yTokens: bigint;
}

/** With an NFT that the transaction mints; there may be NFTs of pools that are not followed. */
export function recogniseLaunch(tx: Transaction, rules: Rules): Launch | null {
  const policy = `${rules.deployment.launchPolicyId}.`;
  for (const [asset, amount] of tx.mint) {
    const launch = asset.startsWith(policy) && amount === 1n ? launchOf(tx, asset, rules) : null;
    if (launch !== null) return launch;
  }
  return null;
}

function launchOf(tx: Transaction, nft: AssetId, rules: Rules): Launch | null {
  const { deployment } = rules;
  const index = tx.outputs.findIndex((output) => output.value.assets.get(nft) === 1n);
  const output = tx.outputs[index];
  if (output === undefined || scriptOf(output, rules) !== 'curvePool') return null;
  const datum = readPoolData(datumOf(output));
  if (datum === null || datum.nft !== nft || !isOurs(datum, output, rules)) return null;
  if (tx.mint.get(datum.token) !== deployment.curve.supply) return null;
  if (!isTokenOf(nft, datum.token, rules)) return null;
  return {
    pool: describe(tx, datum, rules),
    index,
    xLovelace: output.value.lovelace - deployment.fees.poolKeepLovelace,
    yTokens: output.value.assets.get(datum.token) ?? 0n,
  };
}

/** Whether the token's policy is the template applied to this NFT. */
function isTokenOf(nft: AssetId, token: AssetId, rules: Rules): boolean {
  const policy = rules.tokenPolicyId(nft.split('.')[1] ?? '');
  return policy === null || policy === token.split('.')[0];
}

/**
 * On mainnet cap and second witness vary from pool to pool and are not compared; our own
 * deployments have no stake part in a pool's address.
 */
function isOurs(datum: PoolDatum, { address }: Output, { deployment }: Rules): boolean {
  const { curve, feeKeyHash, network, scripts, settings } = deployment;
  if (network === 'mainnet') return true;
  return (
    parseAddress(address)?.stake === null &&
    datum.aNum === curve.aNum &&
    datum.bNum === curve.bNum &&
    isExecutor(deployment, datum.executor) &&
    datum.capLovelace === capLovelace(deployment) &&
    datum.witness1 === scripts.ammPool?.hash &&
    datum.witness2 === (settings?.policyId ?? feeKeyHash)
  );
}

function describe(tx: Transaction, datum: PoolDatum, rules: Rules): LaunchedToken {
  const { deployment } = rules;
  const found = metadataOf(tx, datum.token, rules);
  const id = launchIdOf(tx, datum.nft);
  const creator = id === null ? null : { pkh: id.creatorPkh, skh: id.creatorSkh };
  const author = creator ?? found?.metadata.author ?? { pkh: '', skh: '' };
  const plain = withoutMetadata(datum, deployment);
  return {
    ...plain,
    seed: id === null ? null : refText(id.seed),
    author: { ...author, address: addressOf(author, rules) },
    ticker: found?.metadata.ticker ?? '',
    logoCID: found?.metadata.logoCID ?? '',
    description: found?.metadata.description ?? '',
    launchType: found?.metadata.launchType ?? 0,
    socials: found?.metadata.socials ?? plain.socials,
    metadataRef: found?.ref ?? null,
  };
}

/** A token that only its pool's output describes; its name is the asset's name. */
function withoutMetadata(
  datum: Omit<PoolDatum, 'witness1' | 'witness2'>,
  { curve, fees }: PartialDeployment,
): LaunchedToken {
  const [, name = ''] = datum.token.split('.');
  return {
    nft: datum.nft,
    token: datum.token,
    aNum: String(datum.aNum),
    bNum: String(datum.bNum),
    supply: String(curve.supply),
    thresholdLovelace: String(datum.capLovelace - fees.poolKeepLovelace),
    executor: datum.executor,
    seed: null,
    author: { pkh: '', skh: '', address: '' },
    name: Buffer.from(name, 'hex')
      .toString('utf8')
      .replaceAll(/\p{Cc}/gu, ' '),
    ticker: '',
    logoCID: '',
    description: '',
    launchType: 0,
    socials: { twitter: '', discord: '', telegram: '', website: '' },
    metadataRef: null,
  };
}

/** From the redeemer of the launch policy; it must hash to the NFT's name. */
function launchIdOf(tx: Transaction, nft: AssetId): LaunchId | null {
  for (const { purpose, data } of tx.redeemers) {
    if (purpose !== 'mint' || !(data instanceof Constr)) continue;
    const id = readLaunchId(data.fields[0]);
    if (id !== null && poolNftName(id) === nft.split('.')[1]) return id;
  }
  return null;
}

function metadataOf(
  tx: Transaction,
  token: AssetId,
  { deployment }: Rules,
): { readonly metadata: TokenMetadata; readonly ref: string } | null {
  const { metadataAddress } = deployment;
  // Where the metadata address is unknown, any output of the launch may hold the metadata.
  const addressHash = metadataAddress === null ? null : parseAddress(metadataAddress)?.payment.hash;
  const isThere = ({ address }: Output) =>
    addressHash === null || parseAddress(address)?.payment.hash === addressHash;
  for (const [index, output] of tx.outputs.entries()) {
    if (!isThere(output)) continue;
    const metadata = readMetadata(datumOf(output));
    if (metadata?.asset === token) return { metadata, ref: refText({ txHash: tx.id, index }) };
  }
  return null;
}

function addressOf(author: { pkh: string; skh: string }, { deployment }: Rules): string {
  if (author.pkh.length !== 56) return '';
  return formatAddress({
    network: deployment.addressNetwork,
    payment: { kind: 'key', hash: author.pkh },
    stake: author.skh.length === 56 ? { kind: 'key', hash: author.skh } : null,
    pointer: false,
  });
}

/**
 * Pools that are adopted with this transaction; `known` already has the pools that it launches.
 * The first output of an adopted pool gives its token, curve and state. The transaction is no fill,
 * because the pool's earlier state is unknown. A pool is checked like a launch, and a refused
 * launch stays refused.
 */
export function adoptedPools(tx: Transaction, known: KnownState, rules: Rules): MarketEvent[] {
  const { network, launchPolicyId } = rules.deployment;
  // A devnet is followed from its first block: no launch was missed.
  if (network === 'devnet') return [];
  const policy = `${launchPolicyId}.`;
  return tx.outputs.flatMap((output, index): MarketEvent[] => {
    const nft = [...output.value.assets.keys()].find((asset) => asset.startsWith(policy));
    if (nft === undefined || tx.mint.has(nft)) return [];
    const pool = poolOf(nft, output, rules);
    // Most pools are known; checking a token's policy costs a script hash, so it comes last.
    if (pool === null || known.pool(pool.token) !== null) return [];
    if (!isTokenOf(nft, pool.token, rules)) return [];
    const state = stateOf(output, pool.token, { nft }, rules);
    if (state === null) return [];
    const { token } = pool;
    const to = reservesOf(state);
    const ref = refText({ txHash: tx.id, index });
    const isGraduated = state.venue === 'AMM';
    return [
      { tx: tx.id, kind: 'adopted', pool, to },
      ...(isGraduated ? [{ tx: tx.id, kind: 'graduated', token } as const] : []),
      { tx: tx.id, kind: 'moved', token, ref, to },
    ];
  });
}

function poolOf(nft: AssetId, output: Output, rules: Rules): LaunchedToken | null {
  const pool =
    scriptOf(output, rules) === 'ammPool' ? ammOf(output, rules) : curveOf(output, rules);
  if (pool === null || pool.nft !== nft) return null;
  return output.value.assets.get(nft) === 1n ? pool : null;
}

function curveOf(output: Output, rules: Rules): LaunchedToken | null {
  if (scriptOf(output, rules) !== 'curvePool') return null;
  const datum = readPoolData(datumOf(output));
  if (datum === null || !isOurs(datum, output, rules)) return null;
  return withoutMetadata(datum, rules.deployment);
}

/** An AMM's datum has the creator but no curve: that is the deployment's. */
function ammOf(output: Output, rules: Rules): LaunchedToken | null {
  const { deployment } = rules;
  const datum = readAmmData(datumOf(output));
  if (datum === null || !isAmmOfOurs(datum, output, rules)) return null;
  const curve = { ...deployment.curve, capLovelace: capLovelace(deployment) };
  const author = { pkh: datum.creatorPkh, skh: datum.creatorSkh };
  return {
    ...withoutMetadata({ ...datum, ...curve }, deployment),
    author: { ...author, address: addressOf(author, rules) },
  };
}

function isAmmOfOurs(datum: AmmDatum, { address }: Output, { deployment }: Rules): boolean {
  return (
    parseAddress(address)?.stake === null &&
    datum.lpFeePer10k === deployment.fees.lpFeePer10k &&
    datum.settings === (deployment.settings?.policyId ?? null) &&
    isExecutor(deployment, datum.executor)
  );
}
