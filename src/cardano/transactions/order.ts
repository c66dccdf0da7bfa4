/**
 * Places an order, which is one output at the order validator, cancels it, or refunds it. Source:
 * onchain.md, section Outputs.
 */

import { type AssetId, COIN } from '../../engine/market/asset.ts';
import type { Kind } from '../../engine/market/exchange.ts';
import { minimumOutput } from '../../engine/market/order.ts';
import type { Ratio } from '../../engine/market/ratio.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { type Address, formatAddress, parseAddress, scriptAddress } from '../codec/address.ts';
import { datumOf, refText, type Utxo } from '../codec/output.ts';
import { Constr } from '../codec/plutusData.ts';
import { type SlotConfig, slotAt, slotFrom, timeText } from '../codec/slots.ts';
import { amountOf, asValue } from '../codec/value.ts';
import { namesPool, type OrderDatum, orderData, readOrderData } from '../datums/datums.ts';
import type { PartialDeployment, SplashOrderTerms } from '../datums/deployment.ts';
import { newLimitOrder, readPartialOrder } from '../datums/partialOrder.ts';
import { dataHex, type PlannedCollateral, planOf, type TransactionPlan } from './plan.ts';

/** Where the order stands among the outputs; the beacon and the entity id are made of it. */
export const ORDER_OUTPUT = 0;

export interface OrderRequest {
  /** A key address: it gets fill, refund and change. */
  readonly owner: Address;
  readonly token: AssetId;
  /** NFT of the token's pool. */
  readonly poolNft: AssetId;
  /** Key hash: from the settings, or from the token's pool if the deployment has no settings. */
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
  deployment: Pick<
    PartialDeployment,
    'addressNetwork' | 'scripts' | 'fees' | 'refundAfterMs' | 'orderLayout'
  >,
  request: OrderRequest,
  wallet: readonly Utxo[],
  nowMs: number,
): PlannedOrder {
  const { owner, token, poolNft, executor, kind, inputAmount, worstPrice } = request;
  const { addressNetwork, scripts, fees, refundAfterMs, orderLayout } = deployment;
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
    poolNft: namesPool(orderLayout) ? poolNft : null,
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

interface PlannedSplashOrder {
  readonly plan: TransactionPlan;
  readonly beacon: string;
}

/**
 * Places an order for a pool of Splash: a limit order of that protocol, to be executed whole in one
 * step at its worst price or better. Its beacon is made of an input, so that one is chosen here.
 * Source: SPOT_ORDER_DOCUMENTATION.md of splashprotocol/protocol-sdk.
 */
export function planSplashOrder(
  deployment: Pick<PartialDeployment, 'addressNetwork' | 'fees'>,
  { executor, stepLovelace, feeLovelace }: SplashOrderTerms,
  scriptHash: string,
  request: Omit<OrderRequest, 'executor' | 'poolNft'>,
  wallet: readonly Utxo[],
): PlannedSplashOrder {
  const { owner, token, kind, inputAmount, worstPrice } = request;
  const isBuy = kind === 'buy';
  const first = largestOf(wallet, isBuy ? COIN : token);
  const order = {
    redeemer: owner,
    input: isBuy ? COIN : token,
    output: isBuy ? token : COIN,
    amount: inputAmount,
    ...{ stepLovelace, feeLovelace, worstPrice },
    minPartOutput: minimumOutput(inputAmount, worstPrice),
    executors: [executor],
    owner: owner.payment.hash,
  };
  // A wallet without outputs: no order comes of it, and the build says why.
  const input = first?.ref ?? { txHash: '00'.repeat(32), index: 0 };
  const { datum, beacon } = newLimitOrder(order, input, ORDER_OUTPUT);
  const onTop = stepLovelace + feeLovelace + deployment.fees.orderDepositLovelace;
  const output = {
    address: scriptAddress(deployment.addressNetwork, scriptHash, owner.stake),
    value: asValue(onTop + (isBuy ? inputAmount : 0n), isBuy ? [] : [[token, inputAmount]]),
    datum,
  };
  const inputs = first === null ? [] : [{ utxo: first, redeemer: null }];
  const plan = planOf({ inputs, outputs: [output], wallet, changeAddress: formatAddress(owner) });
  return { plan, beacon };
}

/** The output of the wallet that holds most of an asset; outputs that hold a script are skipped. */
function largestOf(wallet: readonly Utxo[], asset: AssetId): Utxo | null {
  let largest: Utxo | null = null;
  for (const utxo of wallet) {
    if (utxo.output.scriptHash !== null) continue;
    const amount = held(utxo, asset);
    if (largest === null || amount > held(largest, asset)) largest = utxo;
  }
  return largest;
}

function held({ output }: Utxo, asset: AssetId): bigint {
  return asset === COIN ? output.value.lovelace : amountOf(output.value, asset);
}

const CANCEL = dataHex(new Constr(0, []));

interface CancelRequest {
  readonly order: Utxo;
  /** The owner's change address. */
  readonly changeAddress: Address;
}

interface CancelData {
  readonly wallet: readonly Utxo[];
  /** The reference input with the order validator. */
  readonly references: readonly Utxo[];
  readonly collateral: PlannedCollateral;
  readonly slots: SlotConfig;
}

/** The data that the owner needs to take an order back. */
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
  const validFromSlot = Math.max(slots.zeroSlot, slotFrom(slots, Number(afterMs)));
  if (validFromSlot > slotAt(slots, nowMs)) {
    const message = `order: it can be cancelled from ${timeText(afterMs)} on`;
    return new Failure('SERVER_ERROR', message, { retry: false });
  }
  return { ...plan, outputs: [paid], validFromSlot };
}

const REFUND_OUTPUT = 0;
/** Redeemer 2: input and output of this number. The order is the only input. */
const REFUND = dataHex(new Constr(2, [BigInt(REFUND_OUTPUT)]));

/**
 * Anybody can return a due order of this launchpad to its owner: the owner gets everything except
 * the network fee, which is far below the amount that a refund may keep. The sender brings
 * collateral and pays nothing.
 */
export function planRefund(
  deployment: Pick<PartialDeployment, 'addressNetwork' | 'scripts'>,
  order: Utxo,
  { references, collateral, slots }: Omit<CancelData, 'wallet'>,
): TransactionPlan | Failure {
  const held = heldOrder(deployment, order);
  if (held instanceof Failure) return held;
  const address = formatAddress(held.redeemer);
  return planOf({
    inputs: [{ utxo: order, redeemer: REFUND }],
    outputs: [{ address, value: order.output.value, datum: null }],
    references,
    validFromSlot: Math.max(slots.zeroSlot, slotFrom(slots, Number(held.afterMs))),
    collateral,
    changeAddress: address,
    feeFrom: REFUND_OUTPUT,
  });
}
