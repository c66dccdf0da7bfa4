/**
 * Orders that are placed and how they end, and vesting locks. Source: onchain.md, section Outputs.
 */
import { formatAddress, parseAddress } from '../../cardano/codec/address.ts';
import { datumOf, type OutputRef, refText } from '../../cardano/codec/output.ts';
import { Constr } from '../../cardano/codec/plutusData.ts';
import type { Transaction } from '../../cardano/codec/transaction.ts';
import { amountOf } from '../../cardano/codec/value.ts';
import { isTime } from '../../cardano/datums/bounds.ts';
import { beacon, readLockData } from '../../cardano/datums/datums.ts';
import { isNewBeacon } from '../../cardano/datums/partialOrder.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import {
  chainOrder,
  type OrderRest,
  type PlacedOrder,
  type VestingLock,
} from '../../engine/market/events.ts';
import { type KnownOrder, type KnownState, launchedTokens } from './knownState.ts';
import { type OrderOutput, readOrderOutput } from './orderOutput.ts';
import { type Rules, scriptOf } from './rules.ts';

export interface TxPosition {
  readonly slot: number;
  readonly txIndex: number;
}

/**
 * The order in output `index`; null: no order that an executor fills. With `mayContinue`, the
 * output may also be the rest of an order that was placed before following began.
 */
export function recogniseOrder(
  tx: Transaction,
  index: number,
  place: TxPosition,
  known: KnownState,
  rules: Rules,
  mayContinue: boolean,
): PlacedOrder | null {
  const output = tx.outputs[index];
  const found = output === undefined ? null : readOrderOutput(output, rules);
  if (output === undefined || found === null) return null;
  const token = tokenOf(found, known);
  if (token === null) return null;
  const isNamed =
    found.beacon === null || isNewBeacon(found.beacon, output.datum ?? '', tx.inputs, index);
  if (!isNamed && !mayContinue) return null;
  const { numerator, denominator } = found.worstPrice;
  return {
    ...restOf(found, { txHash: tx.id, index }),
    at: chainOrder(place.slot, place.txIndex, index),
    token,
    side: found.input === '.' ? 'buy' : 'sell',
    worstPrice: { numerator: String(numerator), denominator: String(denominator) },
    refundAfterMs: found.refundAfterMs,
    address: formatAddress(found.redeemer),
    pkh: found.redeemer.payment.hash,
    beacon: found.beacon ?? beacon(tx.inputs, index),
    ...(found.beacon === null ? {} : { inParts: true }),
  };
}

function restOf(found: OrderOutput, ref: OutputRef): OrderRest {
  const { amount, feeLovelace, depositLovelace, heldTokens } = found;
  return {
    ref: refText(ref),
    amount: String(amount),
    feeLovelace: String(feeLovelace),
    depositLovelace: String(depositLovelace),
    ...(heldTokens === 0n ? {} : { heldTokens: String(heldTokens) }),
  };
}

/**
 * The token, where one side is the coin and the other a launched token. Only the pool that the
 * order names, if it names one, can fill it.
 */
function tokenOf(order: OrderOutput, known: KnownState): AssetId | null {
  const { input, output } = order;
  if ((input === '.') === (output === '.')) return null;
  const token = input === '.' ? output : input;
  const pool = known.pool(token);
  if (pool === null || (order.poolNft !== null && order.poolNft !== pool.nft)) return null;
  return token;
}

/** An execution of the whole remaining order, or of a part of it that leaves `rest`. */
export interface Execution {
  readonly kind: 'executed';
  /** Amount of the input asset. */
  readonly amount: bigint;
  /** Amount of the output asset. */
  readonly received: bigint;
  readonly feeLovelace: bigint;
  readonly rest: OrderRest | null;
}

type Outcome = { readonly kind: 'cancelled' } | { readonly kind: 'refunded' } | Execution;

const CANCEL = 0;

/** The outcome of the transaction whose input `index` spends the order: output i pays it. */
export function outcomeOf(
  tx: Transaction,
  index: number,
  known: KnownOrder,
  rules: Rules,
): Outcome {
  const redeemer = tx.redeemers.find((each) => each.purpose === 'spend' && each.index === index);
  const tag = redeemer?.data instanceof Constr ? redeemer.data.index : CANCEL;
  const payment = tx.outputs[index];
  if (tag === CANCEL || payment === undefined) return { kind: 'cancelled' };
  const part = partOf(tx, index, known, rules);
  if (part !== null) return part;
  const { order, rest } = known;
  const tokens = amountOf(payment.value, order.token);
  const extraLovelace = payment.value.lovelace - BigInt(rest.depositLovelace);
  const amount = BigInt(rest.amount);
  const terms = { kind: 'executed', feeLovelace: BigInt(rest.feeLovelace), rest: null } as const;
  if (order.side === 'buy') {
    const received = tokens - BigInt(rest.heldTokens ?? '0');
    if (received <= 0n) return { kind: 'refunded' };
    // A pool that was nearly full took a part of the offer; an order in parts may get fees back.
    const unspent = order.inParts === true || extraLovelace < 0n ? 0n : extraLovelace;
    return { ...terms, amount: unspent < amount ? amount - unspent : amount, received };
  }
  if (tokens > 0n) return { kind: 'refunded' };
  return { ...terms, amount, received: extraLovelace };
}

/** A part of an order that names itself: the same beacon, and less to offer. */
function partOf(
  tx: Transaction,
  index: number,
  { order, rest }: KnownOrder,
  rules: Rules,
): Execution | null {
  const output = tx.outputs[index];
  const left = output === undefined ? null : readOrderOutput(output, rules);
  if (left?.beacon !== order.beacon) return null;
  const amount = BigInt(rest.amount) - left.amount;
  if (amount <= 0n) return null;
  const isBuy = order.side === 'buy';
  // This step's fee was paid; the rest holds the fee of the next step.
  const feeLovelace = BigInt(rest.feeLovelace) - left.feeLovelace + left.stepLovelace;
  const brought = left.depositLovelace + left.stepLovelace - BigInt(rest.depositLovelace);
  const received = isBuy ? left.heldTokens - BigInt(rest.heldTokens ?? '0') : brought;
  const next = restOf(left, { txHash: tx.id, index });
  return { kind: 'executed', amount, received, feeLovelace, rest: next };
}

/** A lock: an output of the vesting script with a lock's datum and one launched token. */
export function recogniseLock(
  tx: Transaction,
  index: number,
  known: KnownState,
  rules: Rules,
): VestingLock | null {
  const output = tx.outputs[index];
  if (output === undefined || scriptOf(output, rules) !== 'vesting') return null;
  const datum = readLockData(datumOf(output));
  const [token, ...more] = launchedTokens(output, known);
  if (datum === null || token === undefined || more.length > 0) return null;
  if (!isTime(datum.unlockMs)) return null;
  return {
    ref: refText({ txHash: tx.id, index }),
    token,
    amount: String(output.value.assets.get(token)),
    unlockMs: String(datum.unlockMs),
    owner: datum.owner,
    ownerAddress: formatAddress({
      network: rules.deployment.addressNetwork,
      payment: { kind: 'key', hash: datum.owner },
      stake: parseAddress(output.address)?.stake ?? null,
      pointer: false,
    }),
  };
}
