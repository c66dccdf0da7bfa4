/**
 * Pools whose launch was never seen, because following began later. The first output of such a pool
 * tells its token, its curve and its state: these are taken over, and from then on it is a pool as
 * any other. No trade is made up for the transaction itself: what the pool was before is not known,
 * and what a batch paid does not tell it.
 *
 * It is believed no more than a launch is: the NFT has the launch policy, datum and address are the
 * deployment's, the token's policy belongs to that NFT. A launch that was refused stays refused.
 */
import { parseAddress } from '../../cardano/codec/address.ts';
import { datumOf, type Output, refText } from '../../cardano/codec/output.ts';
import type { Transaction } from '../../cardano/codec/transaction.ts';
import { type AmmDatum, readAmmData, readPoolData } from '../../cardano/datums/datums.ts';
import { capLovelace, isExecutor } from '../../cardano/datums/deployment.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import type { LaunchedToken, MarketEvent } from '../../engine/market/events.ts';
import { reservesOf, stateOf } from './fills.ts';
import type { KnownMarket } from './knownMarket.ts';
import { addressOf, isOurs, isTokenOf, withoutMetadata } from './launch.ts';
import { type Rules, scriptOf } from './rules.ts';

/** The pools that become known with this transaction; those that it launches are known already. */
export function adoptedPools(tx: Transaction, market: KnownMarket, rules: Rules): MarketEvent[] {
  const { network, launchPolicyId } = rules.deployment;
  // A chain of our own is followed from its first block: there nothing has been missed.
  if (network === 'devnet') return [];
  const policy = `${launchPolicyId}.`;
  return tx.outputs.flatMap((output, index): MarketEvent[] => {
    const nft = [...output.value.assets.keys()].find((asset) => asset.startsWith(policy));
    if (nft === undefined || tx.mint.has(nft)) return [];
    const pool = poolOf(nft, output, rules);
    // Most are known; judging a token's policy takes a script and its hash, and comes last.
    if (pool === null || market.pool(pool.token) !== null) return [];
    if (!isTokenOf(nft, pool.token, rules)) return [];
    const state = stateOf(output, pool.token, { nft }, rules);
    if (state === null) return [];
    const { token } = pool;
    const ref = refText({ txHash: tx.id, index });
    const isGraduated = state.venue === 'AMM';
    return [
      { tx: tx.id, kind: 'adopted', pool },
      ...(isGraduated ? [{ tx: tx.id, kind: 'graduated', token } as const] : []),
      { tx: tx.id, kind: 'moved', token, ref, to: reservesOf(state) },
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

/** An AMM's datum names its creator, but no curve any more: that of the deployment. */
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
    isExecutor(deployment, datum.executor)
  );
}
