/** Whether the outputs of a transaction are the one order that was asked for, on its terms. */
import { type Address, parseAddress } from '../../cardano/codec/address.ts';
import { datumOf, type Output } from '../../cardano/codec/output.ts';
import { amountOf } from '../../cardano/codec/value.ts';
import { type OrderDatum, readOrderData } from '../../cardano/datums/datums.ts';
import { readPartialOrder } from '../../cardano/datums/partialOrder.ts';
import { type AssetId, COIN } from '../../engine/market/asset.ts';
import { minimumOutput } from '../../engine/market/order.ts';
import { assert } from '../../engine/runtime/assert.ts';
import { isSame, isScriptOf, type Owner } from './owner.ts';

export interface OrderIntent {
  readonly kind: 'order';
  readonly input: AssetId;
  readonly output: AssetId;
  /** The order must offer exactly this amount. */
  readonly inputAmount: bigint;
  /** Computed by the client, of a quote that its user saw; the order must not take less. */
  readonly minOutput: bigint;
  /** From the quote: the executor receives at most `fee`, and at most `deposit` comes back. */
  readonly feeLovelace: bigint;
  readonly depositLovelace: bigint;
  /** Hash of the script that holds it, of the quote. */
  readonly scriptHash: string;
  /** Unix ms, the latest from which it may be refunded; null: it never is. */
  readonly refundBeforeMs: bigint | null;
}

/** Upper bound of executor fee plus deposit, even if a quote asks for more. */
const MAX_ON_TOP_LOVELACE = 5_000_000n;

/** null, or the fault in words. `paidAway`: every output that does not pay the wallet. */
export function objectionToOrder(
  paidAway: readonly Output[],
  owner: Owner,
  intent: OrderIntent,
): string | null {
  const [order, ...more] = paidAway;
  if (order === undefined || more.length > 0) return 'it pays others than the one order';
  const own = parseAddress(owner.address);
  if (own === null || !isScriptOf(order.address, own, intent.scriptHash)) {
    return 'the order is at an unknown address';
  }
  const datum = readAnyOrder(order, own.network);
  if (datum === null) return 'the order has no datum of an order';
  return objectionToTerms(datum, own, owner, intent) ?? objectionToValue(order, datum, intent);
}

function objectionToTerms(
  datum: OrderTerms,
  own: Address,
  owner: Owner,
  { input, output, inputAmount, minOutput, refundBeforeMs }: OrderIntent,
): string | null {
  if (!isSame(datum.redeemer, own) || datum.owner !== owner.keyHash) return 'the order is not ours';
  if (datum.input !== input || datum.output !== output) return 'the order trades other assets';
  const { numerator, denominator } = datum.worstPrice;
  const isPrice = numerator > 0n && denominator > 0n;
  if (!isPrice || minimumOutput(inputAmount, datum.worstPrice) < minOutput) {
    return 'the order takes a worse price';
  }
  const { minPartOutput } = datum;
  if (minPartOutput !== null && minPartOutput < minOutput)
    return 'the order fills in smaller parts';
  const { refundAfterMs } = datum;
  if (refundAfterMs === null || refundBeforeMs === null) return null;
  return refundAfterMs > refundBeforeMs ? 'the order waits for longer' : null;
}

function objectionToValue(
  { value }: Output,
  { feeLovelace, depositLovelace, amount }: OrderTerms,
  intent: OrderIntent,
): string | null {
  const { input, inputAmount } = intent;
  const offered = input === COIN ? inputAmount : 0n;
  const onTop = depositLovelace === null ? value.lovelace - offered : feeLovelace + depositLovelace;
  const most = intent.feeLovelace + intent.depositLovelace;
  const isDear = onTop > MAX_ON_TOP_LOVELACE || onTop > most || feeLovelace > intent.feeLovelace;
  if (isDear || feeLovelace < 0n || onTop < feeLovelace) {
    return `the order costs ${onTop} lovelace on top, ${feeLovelace} of it for its executor`;
  }
  if (amount !== null && amount !== inputAmount) return 'the order offers more';
  const tokens = input === COIN ? 0 : 1;
  if (value.lovelace !== offered + onTop || value.assets.size !== tokens) {
    return 'the order holds more';
  }
  const isOffered = input === COIN || amountOf(value, input) === inputAmount;
  return isOffered ? null : 'the order offers more';
}

interface OrderTerms
  extends Pick<OrderDatum, 'redeemer' | 'owner' | 'input' | 'output' | 'worstPrice'> {
  readonly feeLovelace: bigint;
  /** null: everything that the output holds besides offer and fee. */
  readonly depositLovelace: bigint | null;
  /** null: the whole value of the output. */
  readonly amount: bigint | null;
  /** null: it is never refunded. */
  readonly refundAfterMs: bigint | null;
  /** Least output of each part; null: it is filled whole. */
  readonly minPartOutput: bigint | null;
}

/** These outputs hold one order, and `objectionToOrder` had no objection to it. */
export function executorFeeOf(outputs: readonly Output[], owner: Owner): bigint {
  const order = outputs.find(({ address }) => address !== owner.address);
  const own = parseAddress(owner.address);
  assert(order !== undefined && own !== null, 'the order was checked');
  const terms = readAnyOrder(order, own.network);
  assert(terms !== null, 'the order was read before');
  return terms.feeLovelace;
}

/** An order of the launchpad, or a limit order of Splash, which states its offer. */
function readAnyOrder(output: Output, network: Address['network']): OrderTerms | null {
  const data = datumOf(output);
  const order = readOrderData(data, network);
  if (order !== null) return { ...order, amount: null, minPartOutput: null };
  const limit = readPartialOrder(data, network);
  if (limit?.tag !== '00') return null;
  const feeLovelace = limit.stepLovelace + limit.feeLovelace;
  return { ...limit, feeLovelace, depositLovelace: null, refundAfterMs: null };
}
