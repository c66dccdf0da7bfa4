/**
 * Reads an order from its output, by the layout of the script that guards it: the offer, its owner,
 * and the parts of the value that are fee and deposit. Source: onchain.md, section Outputs.
 */
import type { Address } from '../../cardano/codec/address.ts';
import { datumOf, type Output } from '../../cardano/codec/output.ts';
import { amountOf } from '../../cardano/codec/value.ts';
import { isAmount, isRatioTerm, isTime } from '../../cardano/datums/bounds.ts';
import { layoutOf, type OrderDatum, readOrderData } from '../../cardano/datums/datums.ts';
import {
  isExecutor,
  PARTIAL_ORDER_SCRIPTS,
  type PartialDeployment,
} from '../../cardano/datums/deployment.ts';
import { readPartialOrder } from '../../cardano/datums/partialOrder.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { type RefusedTerm, type Rules, scriptOf } from './rules.ts';

export interface OrderOutput {
  readonly input: AssetId;
  readonly output: AssetId;
  readonly worstPrice: { readonly numerator: bigint; readonly denominator: bigint };
  readonly amount: bigint;
  /** Fee for executing the whole `amount` in one step. */
  readonly feeLovelace: bigint;
  /** The part of it that each step costs; 0 where an order is executed whole. */
  readonly stepLovelace: bigint;
  readonly depositLovelace: bigint;
  /** Tokens that executed parts of a buy have brought so far. */
  readonly heldTokens: bigint;
  readonly refundAfterMs: number;
  readonly redeemer: Address;
  /** NFT of the one pool that may fill it; null: it names none. */
  readonly poolNft: AssetId | null;
  /** null: the transaction that places it names it. */
  readonly beacon: string | null;
}

/** null: the output is no order, or no executor of the deployment fills the order. */
export function readOrderOutput(output: Output, rules: Rules): OrderOutput | null {
  const script = scriptOf(output, rules);
  // The executor would pay for the bytes of a script in the output.
  if (script === null || output.scriptHash !== null) return null;
  const inParts = PARTIAL_ORDER_SCRIPTS.includes(script);
  const read = inParts ? partialOrder : script === 'order' ? instantOrder : () => null;
  const order = read(output, rules);
  if (order === null) return null;
  const { redeemer, worstPrice, amount } = order;
  if (redeemer.payment.kind !== 'key' || redeemer.stake?.kind === 'script') return null;
  const { numerator, denominator } = worstPrice;
  if (!isRatioTerm(numerator) || !isRatioTerm(denominator) || denominator === 0n) return null;
  if (numerator === 0n && !inParts) return null;
  return amount > 0n ? order : null;
}

/** The value is exactly the offer, the fee and the deposit. */
function instantOrder(output: Output, { deployment, refused }: Rules): OrderOutput | null {
  const datum = readOrderData(datumOf(output), deployment.addressNetwork);
  if (datum === null || !isExecutor(deployment, datum.executor)) return null;
  const { input, feeLovelace, depositLovelace, refundAfterMs } = datum;
  if (!isAmount(feeLovelace) || !isAmount(depositLovelace) || !isTime(refundAfterMs)) return null;
  const { lovelace, assets } = output.value;
  const extra = feeLovelace + depositLovelace;
  const isExact = input === '.' ? assets.size === 0 : assets.size === 1 && lovelace === extra;
  if (!isExact) return null;
  const term = refusedTerm(datum, deployment);
  if (term !== null) {
    refused?.(term);
    return null;
  }
  return {
    ...datum,
    amount: input === '.' ? lovelace - extra : amountOf(output.value, input),
    ...{ stepLovelace: 0n, heldTokens: 0n, beacon: null },
    refundAfterMs: Number(refundAfterMs),
  };
}

function refusedTerm(
  datum: OrderDatum,
  { fees, orderLayout }: PartialDeployment,
): RefusedTerm | null {
  if (layoutOf(datum) !== orderLayout) return 'layout';
  if (datum.feeLovelace < fees.executorFeeLovelace) return 'fee';
  return datum.depositLovelace < fees.orderDepositLovelace ? 'deposit' : null;
}

/** The deposit is the value without offer, fee and the fee of one step. */
function partialOrder(output: Output, { deployment }: Rules): OrderOutput | null {
  const datum = readPartialOrder(datumOf(output), deployment.addressNetwork);
  if (datum === null) return null;
  const { executors, input, amount, stepLovelace, cancelAfterMs, minPartOutput } = datum;
  if (![amount, stepLovelace, datum.feeLovelace, minPartOutput].every(isAmount)) return null;
  if (!isTime(cancelAfterMs)) return null;
  const isOurs = executors.length === 0 || executors.some((each) => isExecutor(deployment, each));
  if (!isOurs) return null;
  const { lovelace, assets } = output.value;
  const feeLovelace = datum.feeLovelace + stepLovelace;
  const depositLovelace = lovelace - feeLovelace - (input === '.' ? amount : 0n);
  const held = input === '.' ? datum.output : input;
  const isAlone = [...assets.keys()].every((asset) => asset === held);
  if (!isAlone || depositLovelace < 0n) return null;
  if (input !== '.' && amountOf(output.value, input) < amount) return null;
  return {
    ...datum,
    ...{ feeLovelace, depositLovelace },
    heldTokens: input === '.' ? amountOf(output.value, held) : 0n,
    poolNft: null,
    refundAfterMs: Number(cancelAfterMs),
  };
}
