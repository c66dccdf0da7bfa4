/**
 * The owner takes an order back. Our validator asks for the owner's signature alone, so the order
 * pays the network fee itself and the rest is change. Mainnet's also asks for time to have passed
 * and for output 0 to give the order's value to its redeemer address. Source: onchain.md.
 */

import { Failure } from '../../engine/runtime/errors.ts';
import { type Address, formatAddress, parseAddress } from '../codec/address.ts';
import { datumOf, refText, type Utxo } from '../codec/output.ts';
import { Constr } from '../codec/plutusData.ts';
import { type SlotConfig, slotAt, slotFrom } from '../codec/slots.ts';
import { type OrderDatum, readOrderData } from '../datums/datums.ts';
import type { PartialDeployment } from '../datums/deployment.ts';
import { dataHex, type PlannedCollateral, planOf, type TransactionPlan } from './plan.ts';
import { timeText } from './timeText.ts';

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

export function planCancel(
  deployment: Pick<PartialDeployment, 'addressNetwork' | 'scripts' | 'network'>,
  { order, changeAddress }: CancelRequest,
  { wallet, references, collateral, slots }: CancelData,
  nowMs: number,
): TransactionPlan | Failure {
  const { addressNetwork, scripts, network } = deployment;
  const payment = parseAddress(order.output.address)?.payment;
  const datum = readOrderData(datumOf(order.output), addressNetwork);
  if (payment?.hash !== scripts.order.hash || datum === null) {
    return new Failure('SERVER_ERROR', `order: ${refText(order.ref)} is no order`, {
      retry: false,
    });
  }
  const plan = planOf({
    inputs: [{ utxo: order, redeemer: CANCEL }],
    wallet,
    references,
    signers: [datum.owner],
    collateral,
    changeAddress: formatAddress(changeAddress),
  });
  return network === 'mainnet' ? afterItsTime(plan, order, datum, slots, nowMs) : plan;
}

function afterItsTime(
  plan: TransactionPlan,
  { output }: Utxo,
  { redeemer, refundAfterMs }: OrderDatum,
  slots: SlotConfig,
  nowMs: number,
): TransactionPlan | Failure {
  const validFromSlot = slotFrom(slots, Number(refundAfterMs));
  if (validFromSlot > slotAt(slots, nowMs)) {
    const message = `order: it can be cancelled from ${timeText(refundAfterMs)} on`;
    return new Failure('SERVER_ERROR', message, { retry: false });
  }
  const paid = { address: formatAddress(redeemer), value: output.value, datum: null };
  return { ...plan, outputs: [paid], validFromSlot };
}
