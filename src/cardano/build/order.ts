/** Placing an order: one output at the order validator. Source: onchain.md, section Outputs. */

import { type AssetId, COIN } from '../../engine/market/asset.ts';
import type { Kind } from '../../engine/market/exchange.ts';
import type { Ratio } from '../../engine/market/ratio.ts';
import { type Address, formatAddress, scriptAddress } from '../codec/address.ts';
import type { Utxo } from '../codec/output.ts';
import { asValue } from '../codec/value.ts';
import { type OrderDatum, orderData } from '../datums/datums.ts';
import type { PartialDeployment } from '../datums/deployment.ts';
import { dataHex, planOf, type TransactionPlan } from './plan.ts';

/** Where the order stands among the outputs; the beacon and the entity id are made of it. */
export const ORDER_OUTPUT = 0;

export interface OrderRequest {
  /** A key address: it gets fill, refund and change. */
  readonly owner: Address;
  readonly token: AssetId;
  /** Key hash: that of the token's pool, which may differ from pool to pool. */
  readonly executor: string;
  readonly kind: Kind;
  /** Lovelace of a buy, tokens of a sell; without fee and deposit. */
  readonly inputAmount: bigint;
  readonly worstPrice: Ratio;
}

interface PlannedOrder {
  readonly plan: TransactionPlan;
  /** `refund_after`. */
  readonly expiresAtMs: number;
}

export function planOrder(
  deployment: Pick<PartialDeployment, 'addressNetwork' | 'scripts' | 'fees' | 'refundAfterMs'>,
  request: OrderRequest,
  wallet: readonly Utxo[],
  nowMs: number,
): PlannedOrder {
  const { owner, token, executor, kind, inputAmount, worstPrice } = request;
  const { addressNetwork, scripts, fees, refundAfterMs } = deployment;
  const isBuy = kind === 'buy';
  const expiresAtMs = nowMs + refundAfterMs;
  const datum: OrderDatum = {
    redeemer: owner,
    input: isBuy ? COIN : token,
    output: isBuy ? token : COIN,
    worstPrice,
    feeLovelace: fees.executorFeeLovelace,
    depositLovelace: fees.orderDepositLovelace,
    executor,
    refundAfterMs: BigInt(expiresAtMs),
    owner: owner.payment.hash,
  };
  const onTop = fees.executorFeeLovelace + fees.orderDepositLovelace;
  const output = {
    address: scriptAddress(addressNetwork, scripts.order.hash, owner.stake),
    value: asValue(onTop + (isBuy ? inputAmount : 0n), isBuy ? [] : [[token, inputAmount]]),
    datum: dataHex(orderData(datum)),
  };
  const plan = planOf({ outputs: [output], wallet, changeAddress: formatAddress(owner) });
  return { plan, expiresAtMs };
}
