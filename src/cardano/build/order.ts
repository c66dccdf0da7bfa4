/**
 * Places an order, which is one output at the order validator, and cancels it. Source: onchain.md,
 * section Outputs.
 */

import { type AssetId, COIN } from '../../engine/market/asset.ts';
import type { Kind } from '../../engine/market/exchange.ts';
import type { Ratio } from '../../engine/market/ratio.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { type Address, formatAddress, parseAddress, scriptAddress } from '../codec/address.ts';
import { datumOf, refText, type Utxo } from '../codec/output.ts';
import { Constr } from '../codec/plutusData.ts';
import { type SlotConfig, slotAt, slotFrom, timeText } from '../codec/slots.ts';
import { asValue } from '../codec/value.ts';
import { type OrderDatum, orderData, readOrderData } from '../datums/datums.ts';
import type { PartialDeployment } from '../datums/deployment.ts';
import { readPartialOrder } from '../datums/partialOrder.ts';
import { dataHex, type PlannedCollateral, planOf, type TransactionPlan } from './plan.ts';

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

const CANCEL = dataHex(new Constr(0, []));

interface CancelRequest {
  readonly order: Utxo;
  /** Of the owner. */
  readonly changeAddress: Address;
}

interface CancelData {
  readonly wallet: readonly Utxo[];
  /** That which holds the order validator. */
  readonly references: readonly Utxo[];
  readonly collateral: PlannedCollateral;
  readonly slots: SlotConfig;
}

/** What taking an order back takes. */
interface HeldOrder {
  readonly script: 'order' | 'limitOrder' | 'firstInstantOrder';
  readonly owner: string;
  readonly redeemer: Address;
  /** From then on; 0: at any time. */
  readonly afterMs: bigint;
}

/** The order in an output, by the script that guards it. */
export function heldOrder(
  { addressNetwork, scripts }: Pick<PartialDeployment, 'addressNetwork' | 'scripts'>,
  { ref, output }: Utxo,
): HeldOrder | Failure {
  const hash = parseAddress(output.address)?.payment.hash;
  if (hash === scripts.order.hash) {
    const datum = readOrderData(datumOf(output), addressNetwork);
    if (datum !== null) return { ...datum, script: 'order', afterMs: datum.refundAfterMs };
  }
  const names = ['limitOrder', 'firstInstantOrder'] as const;
  const script = names.find((name) => scripts[name]?.hash === hash);
  const datum = script === undefined ? null : readPartialOrder(datumOf(output), addressNetwork);
  if (script === undefined || datum === null) {
    return new Failure('SERVER_ERROR', `order: ${refText(ref)} is no order`, { retry: false });
  }
  return { script, owner: datum.owner, redeemer: datum.redeemer, afterMs: datum.cancelAfterMs };
}

/**
 * The owner takes an order back. Our validator asks for the owner's signature alone, so the order
 * pays the network fee itself and the rest is change. Mainnet's also ask for time to have passed
 * and for output 0 to give the order's value to its redeemer address. Source: onchain.md.
 */
export function planCancel(
  deployment: Pick<PartialDeployment, 'addressNetwork' | 'scripts' | 'network'>,
  { order, changeAddress }: CancelRequest,
  { wallet, references, collateral, slots }: CancelData,
  nowMs: number,
): TransactionPlan | Failure {
  const held = heldOrder(deployment, order);
  if (held instanceof Failure) return held;
  const plan = planOf({
    inputs: [{ utxo: order, redeemer: CANCEL }],
    wallet,
    references,
    signers: [held.owner],
    collateral,
    changeAddress: formatAddress(changeAddress),
  });
  const isGuarded = deployment.network === 'mainnet';
  return isGuarded ? afterItsTime(plan, order, held, slots, nowMs) : plan;
}

function afterItsTime(
  plan: TransactionPlan,
  { output }: Utxo,
  { redeemer, afterMs }: HeldOrder,
  slots: SlotConfig,
  nowMs: number,
): TransactionPlan | Failure {
  const paid = { address: formatAddress(redeemer), value: output.value, datum: null };
  if (afterMs === 0n) return { ...plan, outputs: [paid] };
  const validFromSlot = slotFrom(slots, Number(afterMs));
  if (validFromSlot > slotAt(slots, nowMs)) {
    const message = `order: it can be cancelled from ${timeText(afterMs)} on`;
    return new Failure('SERVER_ERROR', message, { retry: false });
  }
  return { ...plan, outputs: [paid], validFromSlot };
}
