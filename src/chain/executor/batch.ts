/**
 * A batch as a plan of a transaction: each order across from its payment or refund, the pool across
 * from its successor, and one output for the fee address, last, or across from the utxo where the
 * batch alone leaves it too little. Source: onchain.md, sections Executor and Fees.
 */
import type { OutputRef } from '../../cardano/codec/output.ts';
import { coins, type Value } from '../../cardano/codec/value.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import type { FeeParameters } from '../../engine/market/fees.ts';
import { type PoolState, poolLovelace } from '../../engine/market/pool.ts';
import type { Batch, Fill, OpenOrder } from './matching.ts';
import {
  assemble,
  type FundingNeeded,
  type FundingUtxo,
  feeOutput,
  fundingPair,
  type Pair,
  type Plan,
} from './plan.ts';

/** A pool's newest output. */
export interface PoolOutput {
  readonly ref: OutputRef;
  readonly address: string;
  readonly nft: AssetId;
  readonly token: AssetId;
  readonly state: PoolState;
}

export interface BatchRequest {
  readonly batch: Batch;
  readonly pool: PoolOutput;
  readonly fees: FeeParameters;
  readonly feeAddress: string;
  /** Measured on a built transaction; a first guess is corrected by planning again. */
  readonly networkFeeLovelace: bigint;
  /** The first that suffices is used, and only when one is needed. */
  readonly funding: readonly FundingUtxo[];
}

export function planBatch(request: BatchRequest): Plan | FundingNeeded {
  const { batch, pool, fees, feeAddress, networkFeeLovelace, funding } = request;
  const own = [
    ...(batch.fills.length === 0 ? [] : [poolPair(pool, batch.next, fees)]),
    ...batch.fills.map((fill) => fillPair(fill, pool.token)),
    ...batch.refunds.map((order) => refundPair(order, fees)),
  ];
  const { validFromMs } = batch;
  const leftLovelace = batch.incomeLovelace - networkFeeLovelace;
  const missingLovelace = fees.feeOutputLeastLovelace - leftLovelace;
  if (missingLovelace <= 0n) {
    const rest = [feeOutput(feeAddress, leftLovelace)];
    return assemble({ pairs: own, rest, networkFeeLovelace, validFromMs });
  }
  const utxo = funding.find(({ lovelace }) => lovelace >= missingLovelace);
  if (utxo === undefined) return { outcome: 'funding needed', missingLovelace };
  const output = feeOutput(feeAddress, leftLovelace + utxo.lovelace);
  const pairs = [...own, fundingPair(utxo, output)];
  return assemble({ pairs, rest: [], networkFeeLovelace, validFromMs });
}

/** What the pool's output holds in `state`. */
export function poolHolding(
  { nft, token }: PoolOutput,
  state: PoolState,
  fees: FeeParameters,
): Value {
  const assets = new Map([
    [nft, 1n],
    [token, state.y],
  ]);
  return { lovelace: poolLovelace(state, fees), assets };
}

function poolPair(pool: PoolOutput, next: PoolState, fees: FeeParameters): Pair {
  const { ref, address, state } = pool;
  const value = poolHolding(pool, next, fees);
  const output = { kind: 'pool', address, value } as const;
  return { ref, value: poolHolding(pool, state, fees), redeemer: 'trade', output };
}

/** The deposit comes back with what was bought or earned. */
function fillPair({ order, exchange }: Fill, token: AssetId): Pair {
  const { ref, value, depositLovelace, redeemerAddress: address } = order;
  const { kind, outputAmount } = exchange;
  const paid: Value =
    kind === 'buy'
      ? { lovelace: depositLovelace, assets: new Map([[token, outputAmount]]) }
      : coins(depositLovelace + outputAmount);
  const output = { kind: 'payment', address, value: paid } as const;
  return { ref, value, redeemer: 'execute', output };
}

function refundPair(order: OpenOrder, { refundFeeLovelace }: FeeParameters): Pair {
  const { ref, value, redeemerAddress: address } = order;
  const { lovelace, assets } = value;
  const paid = { lovelace: lovelace - refundFeeLovelace, assets };
  return { ref, value, redeemer: 'refund', output: { kind: 'refund', address, value: paid } };
}
