/** A pool with open orders on the ledger, as the executor finds it. */
import assert from 'node:assert/strict';
import { formatAddress, parseAddress, scriptAddress } from '../../../src/cardano/codec/address.ts';
import { datumOf, type Utxo } from '../../../src/cardano/codec/output.ts';
import { asValue } from '../../../src/cardano/codec/value.ts';
import { ammData, poolData, readOrderData } from '../../../src/cardano/datums/datums.ts';
import { capLovelace } from '../../../src/cardano/datums/deployment.ts';
import { planOrder } from '../../../src/cardano/transactions/order.ts';
import { type NextPool, planStep } from '../../../src/cardano/transactions/paired.ts';
import { dataHex, type TransactionPlan } from '../../../src/cardano/transactions/plan.ts';
import type { FundedStep, PoolOutput } from '../../../src/chain/executor/fundedStep.ts';
import type { OpenOrder } from '../../../src/chain/executor/matching.ts';
import { costOf } from '../../../src/engine/market/curve.ts';
import type { Kind } from '../../../src/engine/market/exchange.ts';
import { type PoolState, poolLovelace } from '../../../src/engine/market/pool.ts';
import {
  ADA,
  ada,
  COLLATERAL,
  DEPLOYMENT,
  EXECUTOR,
  LAUNCH_ID,
  NFT,
  NOW_MS,
  orderOf,
  type Person,
  PLATFORM,
  REFERENCES,
  SETTINGS,
  SLOTS,
  TOKEN,
  utxo,
} from './world.ts';

const SUPPLY = DEPLOYMENT.curve.supply;

export function curveSold(sold: bigint, extra = 0n): PoolState {
  const { curve, thresholdLovelace } = DEPLOYMENT;
  const x = costOf(curve, 0n, sold) + extra;
  return { venue: 'CURVE', x, y: SUPPLY - sold, curve, thresholdLovelace };
}

export function ammWith(x: bigint, y: bigint, owed: bigint): PoolState {
  return { venue: 'AMM', x, y, owed, supply: SUPPLY };
}

export function nextPool(state: PoolState): NextPool {
  const pair = { nft: NFT, token: TOKEN, executor: EXECUTOR.key.hash };
  if (state.venue === 'CURVE') {
    const { aNum, bNum } = DEPLOYMENT.curve;
    const witness1 = DEPLOYMENT.scripts.ammPool.hash;
    const cap = {
      capLovelace: capLovelace(DEPLOYMENT),
      witness1,
      witness2: DEPLOYMENT.settings.policyId,
    };
    return { venue: 'CURVE', datum: { ...pair, aNum, bNum, ...cap } };
  }
  const { creatorPkh, creatorSkh } = LAUNCH_ID;
  const settings = DEPLOYMENT.settings.policyId;
  const rest = { lpFeePer10k: 15n, creatorPkh, creatorSkh, owedLovelace: state.owed, settings };
  return { venue: 'AMM', datum: { ...pair, ...rest } };
}

export interface Pool {
  readonly utxo: Utxo;
  readonly output: PoolOutput;
}

export const AMM_ADDRESS = scriptAddress('testnet', DEPLOYMENT.scripts.ammPool.hash, null);

export function poolOf(state: PoolState): Pool {
  const curve = scriptAddress('testnet', DEPLOYMENT.scripts.curvePool.hash, null);
  const address = state.venue === 'CURVE' ? curve : AMM_ADDRESS;
  const next = nextPool(state);
  const datum = dataHex(next.venue === 'CURVE' ? poolData(next.datum) : ammData(next.datum));
  const lovelace = poolLovelace(state, DEPLOYMENT.fees);
  const value = asValue(lovelace, [
    [NFT, 1n],
    [TOKEN, state.y],
  ]);
  const held = utxo({ address, value, datum });
  return { utxo: held, output: { ref: held.ref, address, nft: NFT, token: TOKEN, state } };
}

export interface Placed {
  readonly utxo: Utxo;
  readonly order: OpenOrder;
}

/** The `n`-th order of a block that was made `agoMs` before now. */
export function placed(owner: Person, kind: Kind, amount: bigint, n: number, agoMs = 0): Placed {
  const { plan } = planOrder(DEPLOYMENT, orderOf(owner, kind, amount), [], NOW_MS - agoMs);
  const held = utxo(plan.outputs[0] ?? assert.fail());
  const datum = readOrderData(datumOf(held.output), 'testnet') ?? assert.fail();
  const { worstPrice, feeLovelace, depositLovelace, refundAfterMs, redeemer } = datum;
  const terms = { kind, amount, worstPrice, feeLovelace, depositLovelace, refundAfterMs };
  const at = { slot: 10, txIndex: n, outputIndex: 0 };
  const { value } = held.output;
  const redeemerAddress = formatAddress(redeemer);
  return { utxo: held, order: { ...terms, ref: held.ref, placed: at, redeemerAddress, value } };
}

/** References to the scripts that these inputs run. */
function scriptsOf(utxos: readonly Utxo[]): Utxo[] {
  return (['order', 'curvePool', 'ammPool'] as const)
    .filter((name) => {
      const { hash } = DEPLOYMENT.scripts[name];
      return utxos.some(({ output }) => parseAddress(output.address)?.payment.hash === hash);
    })
    .map((name) => REFERENCES[name]);
}

export function stepPlan(
  plan: FundedStep,
  utxos: readonly Utxo[],
  next: PoolState | null,
): TransactionPlan {
  return planStep(plan, {
    utxos,
    references: [...scriptsOf(utxos), ...(next === null ? [] : [SETTINGS])],
    collateral: COLLATERAL,
    slots: SLOTS,
    executorKeyHash: EXECUTOR.key.hash,
    feeAddress: PLATFORM.text,
    nextPool: next === null ? null : nextPool(next),
    launchId: LAUNCH_ID,
  });
}

export function float(lovelace = 50n * ADA) {
  const held = ada(PLATFORM, lovelace);
  return { utxo: held, float: { ref: held.ref, lovelace } };
}
