/**
 * What a transaction that the server built must do, told from what was asked for and not from the
 * answer. An answer that is not what was asked is refused here, before anybody signs.
 */

import type { Intent } from '../../client/trade/inspect.ts';
import type { LaunchAnswer, OrderAnswer, OrderBody } from '../../client/types.ts';
import { worstPriceOf } from '../../engine/market/order.ts';
import { WalletError } from './connected.ts';

export interface OrderWish {
  readonly asset: string;
  readonly side: OrderBody['side'];
  /** Lovelace of a BUY, tokens of the others. */
  readonly amount: bigint;
  readonly slippage: OrderBody['slippage'];
  /** Of a BUY_WITH_OUTPUT: the quote that was looked at; an order that offers more is refused. */
  readonly mostInput: bigint | null;
}

export interface LockWish {
  readonly asset: string;
  readonly amount: bigint;
  readonly stages: number;
  readonly lockEndMs: number;
}

export function orderIntent(wish: OrderWish, built: OrderAnswer): Intent {
  const { asset, side, amount, slippage, mostInput } = wish;
  const isSell = side === 'SELL';
  const [input, output] = isSell ? [asset, '.'] : ['.', asset];
  const inputAmount = BigInt(built.inputAmount);
  const outputAmount = BigInt(built.outputAmount);
  const fits =
    built.inputAsset === input &&
    built.outputAsset === output &&
    inputAmount > 0n &&
    outputAmount > 0n &&
    (side === 'BUY_WITH_OUTPUT' ? outputAmount >= amount : inputAmount === amount);
  if (!fits)
    throw new WalletError('Not signed: the order that was built is not the one asked for.');
  if (mostInput !== null && inputAmount > mostInput) {
    throw new WalletError('Not signed: the price went up since the quote. Look at it again.');
  }
  const worstPrice = worstPriceOf(inputAmount, outputAmount, slippage);
  return { kind: 'order', input, output, inputAmount, worstPrice };
}

export function launchIntent(name: string, initialLovelace: bigint, built: LaunchAnswer): Intent {
  const userTokens = BigInt(built.userOutputTokens ?? 0);
  const asset = built.assetId;
  return { kind: 'launch', asset, name: name.trim(), initialLovelace, userTokens };
}

/** `id` is `<tx>:<index>`: an order that is cancelled, a lock that is open. */
export function reclaimIntent(id: string): Intent {
  const [txHash = '', index = ''] = id.split(':');
  return { kind: 'reclaim', ref: { txHash, index: Number(index) } };
}

export function lockIntent({ asset, amount, stages, lockEndMs }: LockWish): Intent {
  return { kind: 'lock', asset, amount, stages, lockEndMs };
}
