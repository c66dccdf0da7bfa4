/**
 * Orders that are placed and how they end, and vesting locks. Source: onchain.md, section Outputs.
 */
import { formatAddress, parseAddress } from '../../cardano/codec/address.ts';
import { datumOf, type Output, type OutputRef, refText } from '../../cardano/codec/output.ts';
import { Constr } from '../../cardano/codec/plutusData.ts';
import type { Transaction } from '../../cardano/codec/transaction.ts';
import { amountOf } from '../../cardano/codec/value.ts';
import { beacon, readLockData, readOrderData } from '../../cardano/datums/datums.ts';
import { isExecutor } from '../../cardano/datums/deployment.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { chainOrder, type PlacedOrder, type VestingLock } from '../../engine/market/events.ts';
import { type KnownMarket, launchedTokens } from './knownMarket.ts';
import { type Rules, scriptOf } from './rules.ts';

export interface TxPosition {
  readonly slot: number;
  readonly txIndex: number;
}

/** The order in output `index`; null: none that our executor could fill. */
export function recogniseOrder(
  tx: Transaction,
  index: number,
  place: TxPosition,
  market: KnownMarket,
  rules: Rules,
): PlacedOrder | null {
  const output = tx.outputs[index];
  if (output === undefined || scriptOf(output, rules) !== 'order') return null;
  // The executor would pay for the bytes of a script in the output.
  if (output.scriptHash !== null) return null;
  const { deployment } = rules;
  const datum = readOrderData(datumOf(output), deployment.addressNetwork);
  if (datum === null || !isExecutor(deployment, datum.executor)) return null;
  const { fees } = deployment;
  if (datum.feeLovelace < fees.executorFeeLovelace) return null;
  if (datum.depositLovelace < fees.orderDepositLovelace) return null;
  const { numerator, denominator } = datum.worstPrice;
  if (numerator < 1n || denominator < 1n) return null;
  if (datum.redeemer.payment.kind !== 'key' || datum.redeemer.stake?.kind === 'script') return null;
  const token = tokenOf(datum.input, datum.output, market);
  if (token === null) return null;
  const amount = offered(output, datum.input, datum.feeLovelace + datum.depositLovelace);
  if (amount === null) return null;
  const refundAfterMs = Number(datum.refundAfterMs);
  if (!Number.isSafeInteger(refundAfterMs)) return null;
  return {
    ref: refText({ txHash: tx.id, index }),
    at: chainOrder(place.slot, place.txIndex, index),
    token,
    side: datum.input === '.' ? 'buy' : 'sell',
    amount: String(amount),
    worstPrice: { numerator: String(numerator), denominator: String(denominator) },
    feeLovelace: String(datum.feeLovelace),
    depositLovelace: String(datum.depositLovelace),
    refundAfterMs,
    address: formatAddress(datum.redeemer),
    pkh: datum.redeemer.payment.hash,
    beacon: beacon(tx.inputs, index),
  };
}

/** The token, where one side is the coin and the other a launched token. */
function tokenOf(input: AssetId, output: AssetId, market: KnownMarket): AssetId | null {
  if ((input === '.') === (output === '.')) return null;
  const token = input === '.' ? output : input;
  return market.pool(token) === null ? null : token;
}

/** The offered amount, if the value is exactly that and `extraLovelace`; else null. */
function offered(output: Output, input: AssetId, extraLovelace: bigint): bigint | null {
  const { lovelace, assets } = output.value;
  const amount = input === '.' ? lovelace - extraLovelace : amountOf(output.value, input);
  const exact = input === '.' ? assets.size === 0 : assets.size === 1 && lovelace === extraLovelace;
  return exact && amount > 0n ? amount : null;
}

type Outcome =
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'refunded' }
  | { readonly kind: 'executed'; readonly received: bigint };

const CANCEL = 0;

/** How the transaction that spends `order` as `ref` ended it: output i pays input i. */
export function outcomeOf(tx: Transaction, ref: OutputRef, order: PlacedOrder): Outcome {
  const index = tx.inputs.findIndex(
    (input) => input.txHash === ref.txHash && input.index === ref.index,
  );
  const redeemer = tx.redeemers.find((each) => each.purpose === 'spend' && each.index === index);
  const tag = redeemer?.data instanceof Constr ? redeemer.data.index : CANCEL;
  const payment = tx.outputs[index];
  if (tag === CANCEL || payment === undefined) return { kind: 'cancelled' };
  const tokens = amountOf(payment.value, order.token);
  if (order.side === 'buy') {
    return tokens === 0n ? { kind: 'refunded' } : { kind: 'executed', received: tokens };
  }
  if (tokens > 0n) return { kind: 'refunded' };
  const received = payment.value.lovelace - BigInt(order.depositLovelace);
  return { kind: 'executed', received };
}

/** A lock: an output of the vesting script with a lock's datum and one launched token. */
export function recogniseLock(
  tx: Transaction,
  index: number,
  market: KnownMarket,
  rules: Rules,
): VestingLock | null {
  const output = tx.outputs[index];
  if (output === undefined || scriptOf(output, rules) !== 'vesting') return null;
  const datum = readLockData(datumOf(output));
  const [token, ...more] = launchedTokens(output, market);
  if (datum === null || token === undefined || more.length > 0) return null;
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
