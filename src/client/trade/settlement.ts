/**
 * The outcome of an order, from the outputs of the wallet alone: a fill or a refund pays to its
 * address in a transaction of someone else. Two orders of one wallet at once may be mistaken for
 * each other when both fit; the order by its beacon says more.
 */
import { refText } from '../../cardano/codec/output.ts';
import { amountOf } from '../../cardano/codec/value.ts';
import { COIN } from '../../engine/market/asset.ts';
import type { PlacedOrder } from './tradingClient.ts';
import type { WalletUtxo } from './utxo.ts';

export interface Settlement {
  readonly outcome: 'filled' | 'refunded';
  readonly txHash: string;
  readonly lovelace: bigint;
  /** Amount of the order's token. */
  readonly tokens: bigint;
}

export function settlementOf(
  order: PlacedOrder,
  before: readonly WalletUtxo[],
  now: readonly WalletUtxo[],
): Settlement | null {
  const old = new Set(before.map(({ ref }) => refText(ref)));
  for (const utxo of now) {
    if (utxo.ref.txHash === order.txHash || old.has(refText(utxo.ref))) continue;
    const outcome = outcomeOf(order, utxo);
    if (outcome === null) continue;
    const token = order.input === COIN ? order.output : order.input;
    const { lovelace } = utxo.value;
    return { outcome, txHash: utxo.ref.txHash, lovelace, tokens: amountOf(utxo.value, token) };
  }
  return null;
}

function outcomeOf(order: PlacedOrder, { value }: WalletUtxo): Settlement['outcome'] | null {
  const { input, output, inputAmount, minimumOutput } = order;
  const [received, returned] = [amountOf(value, output), amountOf(value, input)];
  const token = input === COIN ? output : input;
  const isOther = [...value.assets.keys()].some((asset) => asset !== token);
  if (isOther) return null;
  if (input === COIN) {
    if (received >= minimumOutput) return 'filled';
    return received === 0n && returned >= inputAmount ? 'refunded' : null;
  }
  if (returned === inputAmount) return 'refunded';
  return returned === 0n && received >= minimumOutput ? 'filled' : null;
}
