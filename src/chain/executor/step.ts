/** What a step of the executor needs of the deployment: scripts, addresses, datums. */

import { lookUpReferences } from '../../cardano/build/chainData.ts';
import type { NextPool } from '../../cardano/build/paired.ts';
import { formatAddress, scriptAddress } from '../../cardano/codec/address.ts';
import { parseRef, type Utxo } from '../../cardano/codec/output.ts';
import type { LaunchId } from '../../cardano/datums/datums.ts';
import { capLovelace, type Deployment } from '../../cardano/datums/deployment.ts';
import type { UtxoLookup } from '../../cardano/ledger/port.ts';
import type { Failure } from '../../engine/runtime/errors.ts';
import type { NewestPool } from '../newestPool.ts';
import type { NextStep } from './matching.ts';

type Action = Exclude<NextStep, { step: 'wait' }>;

/** Where a pool graduates to: no stake part (onchain.md). */
export function ammAddress({ addressNetwork, scripts }: Deployment): string {
  return scriptAddress(addressNetwork, scripts.ammPool.hash, null);
}

export function creatorAddress(
  { record: { author } }: NewestPool,
  { addressNetwork }: Deployment,
): string {
  return formatAddress({
    network: addressNetwork,
    payment: { kind: 'key', hash: author.pkh },
    stake: author.skh === '' ? null : { kind: 'key', hash: author.skh },
    pointer: false,
  });
}

export function launchIdOf({ record: { seed, author } }: NewestPool): LaunchId | null {
  const ref = seed === null ? null : parseRef(seed);
  return ref === null ? null : { seed: ref, creatorPkh: author.pkh, creatorSkh: author.skh };
}

/** The outputs that hold the validators which the step's inputs run. */
export async function scriptsOf(
  action: Action,
  { state }: NewestPool,
  utxos: UtxoLookup,
  deployment: Deployment,
): Promise<readonly Utxo[] | Failure> {
  const { curvePool, order, ammPool } = deployment.scripts;
  const pool = state.venue === 'CURVE' ? curvePool : ammPool;
  if (action.step !== 'batch') return lookUpReferences(utxos, [pool]);
  const isRefund = action.batch.fills.length === 0;
  return lookUpReferences(utxos, isRefund ? [order] : [order, pool]);
}

/** Datum of the pool after the step; null where the pool takes no part. */
export function nextPoolOf(
  action: Action,
  pool: NewestPool,
  deployment: Deployment,
): NextPool | null {
  const { nft, token, state } = pool;
  const { author } = pool.record;
  const { executorKeyHash: executor, fees } = deployment;
  if (action.step === 'batch' && action.batch.fills.length === 0) return null;
  if (action.step === 'batch' && state.venue === 'CURVE') {
    const { aNum, bNum } = state.curve;
    const witnesses = {
      witness1: deployment.scripts.ammPool.hash,
      witness2: deployment.feeKeyHash,
    };
    const cap = capLovelace(deployment);
    const datum = { nft, token, aNum, bNum, executor, capLovelace: cap, ...witnesses };
    return { venue: 'CURVE', datum };
  }
  const next = action.step === 'batch' ? action.batch.next : null;
  const owedLovelace = next?.venue === 'AMM' ? next.owed : 0n;
  const creator = { creatorPkh: author.pkh, creatorSkh: author.skh };
  const datum = { nft, token, lpFeePer10k: fees.lpFeePer10k, executor, ...creator, owedLovelace };
  return { venue: 'AMM', datum };
}
