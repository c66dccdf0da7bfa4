/**
 * The transaction of a pool's next step: made from ledger and mempool, then built.
 * `fundedStep.ts` decides inputs and payments; this file looks up the other outputs that it needs.
 */

import { formatAddress, scriptAddress } from '../../cardano/codec/address.ts';
import { parseRef, type Utxo } from '../../cardano/codec/output.ts';
import type { SlotConfig } from '../../cardano/codec/slots.ts';
import type { LaunchId } from '../../cardano/datums/datums.ts';
import { capLovelace, type Deployment } from '../../cardano/datums/deployment.ts';
import type { UtxoLookup } from '../../cardano/ledger/port.ts';
import { lookUpCollateral, lookUpReferences } from '../../cardano/transactions/chainData.ts';
import { type NextPool, planStep } from '../../cardano/transactions/paired.ts';
import type { Builder, BuildOutcome } from '../../cardano/transactions/port.ts';
import { assert } from '../../engine/runtime/assert.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { NewestPool } from '../newestPool.ts';
import {
  batchStep,
  collectStep,
  type FundedStep,
  type FundingNeeded,
  graduationStep,
} from './fundedStep.ts';
import type { NextStep, OpenOrder } from './matching.ts';
import type { PoolView } from './poolView.ts';

export type Action = Exclude<NextStep, { step: 'wait' }>;

/** A pool as it is now, with executor and fee address of the newest settings. */
export interface Situation extends Pick<PoolView, 'pool' | 'orderUtxos'> {
  readonly deployment: Deployment;
  /** null: they are not where they count. */
  readonly settings: Utxo | null;
  readonly mayTrade: boolean;
}

interface StepDeps {
  readonly utxos: UtxoLookup;
  readonly slots: SlotConfig;
  readonly builder: Builder;
}

/** More than any batch costs; the build replaces it with the real fee. */
const GUESSED_FEE_LOVELACE = 1_200_000n;
/** Share of the limits that a batch may use before it is halved. Source: onchain.md, Executor. */
const MAX_PERCENT = 60;

export function stepFor(
  action: Action,
  { pool, deployment }: Situation,
  funding: readonly Utxo[],
): FundedStep | FundingNeeded {
  const request = {
    pool,
    fees: deployment.fees,
    feeAddress: deployment.feeAddress,
    networkFeeLovelace: GUESSED_FEE_LOVELACE,
    funding: funding.map(({ ref, output }) => ({ ref, lovelace: output.value.lovelace })),
  };
  if (action.step === 'batch') return batchStep({ ...request, batch: action.batch });
  if (action.step === 'graduate') return graduationStep(request, ammAddress(deployment));
  return collectStep(request, creatorAddress(pool, deployment));
}

export async function buildAction(
  { utxos, slots, builder }: StepDeps,
  step: FundedStep,
  action: Action,
  view: Situation,
  funding: readonly Utxo[],
): Promise<BuildOutcome | Failure> {
  const { deployment } = view;
  const collateral = await lookUpCollateral(utxos, deployment.collateralKeyHash, deployment);
  if (collateral instanceof Failure) return collateral;
  const references = await referencesOf(action, view, utxos);
  if (references instanceof Failure) return references;
  const transaction = planStep(step, {
    utxos: [view.pool.utxo, ...view.orderUtxos.values(), ...funding],
    references,
    collateral,
    slots,
    executorKeyHash: view.mayTrade ? deployment.executorKeyHash : null,
    feeAddress: deployment.feeAddress,
    nextPool: nextPoolOf(action, view.pool, deployment),
    launchId: launchIdOf(view.pool),
  });
  const maxPercent = ordersOf(action).length > 1 ? MAX_PERCENT : transaction.maxPercent;
  return builder.build({ ...transaction, maxPercent }, { urgent: true });
}

export function spendsPool(action: Action): boolean {
  return action.step !== 'batch' || action.batch.fills.length > 0;
}

/** Orders that the action fills or refunds. */
export function ordersOf(action: Action): readonly OpenOrder[] {
  if (action.step !== 'batch') return [];
  const { fills, refunds } = action.batch;
  return [...fills.map(({ order }) => order), ...refunds];
}

/** Where a pool graduates to; without a stake part (onchain.md). */
function ammAddress({ addressNetwork, scripts }: Deployment): string {
  return scriptAddress(addressNetwork, scripts.ammPool.hash, null);
}

function creatorAddress(
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

function launchIdOf({ record: { seed, author } }: NewestPool): LaunchId | null {
  const ref = seed === null ? null : parseRef(seed);
  return ref === null ? null : { seed: ref, creatorPkh: author.pkh, creatorSkh: author.skh };
}

/** Reference inputs: the validators of the step's inputs, and the settings that a pool reads. */
async function referencesOf(
  action: Action,
  { pool: { state }, deployment, settings }: Situation,
  utxos: UtxoLookup,
): Promise<readonly Utxo[] | Failure> {
  const { curvePool, order, ammPool } = deployment.scripts;
  const pool = state.venue === 'CURVE' ? curvePool : ammPool;
  if (!spendsPool(action)) return lookUpReferences(utxos, [order]);
  assert(settings !== null, 'a pool moves only where the settings are');
  const found = await lookUpReferences(utxos, action.step === 'batch' ? [order, pool] : [pool]);
  return found instanceof Failure ? found : [...found, settings];
}

/** Datum of the pool after the step; null where the step does not spend the pool. */
function nextPoolOf(action: Action, pool: NewestPool, deployment: Deployment): NextPool | null {
  const { nft, token, state } = pool;
  const { author, executor } = pool.record;
  const { fees, settings } = deployment;
  if (action.step === 'batch' && action.batch.fills.length === 0) return null;
  if (action.step === 'batch' && state.venue === 'CURVE') {
    const { aNum, bNum } = state.curve;
    const witnesses = {
      witness1: deployment.scripts.ammPool.hash,
      witness2: settings.policyId,
    };
    const cap = capLovelace(deployment);
    const datum = { nft, token, aNum, bNum, executor, capLovelace: cap, ...witnesses };
    return { venue: 'CURVE', datum };
  }
  const next = action.step === 'batch' ? action.batch.next : null;
  const owedLovelace = next?.venue === 'AMM' ? next.owed : 0n;
  const creator = { creatorPkh: author.pkh, creatorSkh: author.skh };
  const terms = { lpFeePer10k: fees.lpFeePer10k, executor, settings: settings.policyId };
  const datum = { nft, token, ...terms, ...creator, owedLovelace };
  return { venue: 'AMM', datum };
}
