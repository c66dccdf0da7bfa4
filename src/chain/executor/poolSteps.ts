/**
 * What happens to a pool beside trading: graduation to the AMM, and paying out what the creator is
 * owed. The pool gives nothing for either, so a utxo pays the network fee.
 * Source: onchain.md, sections Fees, Lifecycle and What each validator must enforce.
 */
import { coins } from '../../cardano/codec/value.ts';
import type { FeeParameters } from '../../engine/market/fees.ts';
import { graduated, type PoolState, reachedCap } from '../../engine/market/pool.ts';
import { assert } from '../../engine/runtime/assert.ts';
import { type PoolOutput, poolHolding } from './batch.ts';
import {
  assemble,
  type FundingNeeded,
  type FundingUtxo,
  feeOutput,
  fundingPair,
  type Plan,
  type PlannedOutput,
} from './plan.ts';

export interface PoolStepRequest {
  readonly pool: PoolOutput;
  readonly fees: FeeParameters;
  readonly feeAddress: string;
  readonly networkFeeLovelace: bigint;
  /** The first that suffices is used. */
  readonly funding: readonly FundingUtxo[];
}

/** Everything goes over to the AMM validator's address, to the lovelace. */
export function planGraduation(request: PoolStepRequest, ammAddress: string): Plan | FundingNeeded {
  const { state } = request.pool;
  assert(state.venue === 'CURVE' && reachedCap(state), 'a curve at its cap graduates');
  return planStep(request, 'graduate', ammAddress, graduated(state), []);
}

/** `owed` goes to the creator, in an output that belongs to no input. */
export function planCollect(
  request: PoolStepRequest,
  creatorAddress: string,
): Plan | FundingNeeded {
  const { state, address } = request.pool;
  assert(state.venue === 'AMM' && state.owed > 0n, 'an AMM pool that owes is collected');
  const value = coins(state.owed);
  const payout: PlannedOutput = { kind: 'payout', address: creatorAddress, value };
  return planStep(request, 'collect', address, { ...state, owed: 0n }, [payout]);
}

function planStep(
  { pool, fees, feeAddress, networkFeeLovelace, funding }: PoolStepRequest,
  redeemer: 'graduate' | 'collect',
  address: string,
  next: PoolState,
  rest: readonly PlannedOutput[],
): Plan | FundingNeeded {
  const missingLovelace = fees.feeOutputLeastLovelace + networkFeeLovelace;
  const utxo = funding.find(({ lovelace }) => lovelace >= missingLovelace);
  if (utxo === undefined) return { outcome: 'funding needed', missingLovelace };
  const output: PlannedOutput = { kind: 'pool', address, value: poolHolding(pool, next, fees) };
  const value = poolHolding(pool, pool.state, fees);
  const pairs = [
    { ref: pool.ref, value, redeemer, output },
    fundingPair(utxo, feeOutput(feeAddress, utxo.lovelace - networkFeeLovelace)),
  ];
  return assemble({ pairs, rest, networkFeeLovelace, validFromMs: null });
}
