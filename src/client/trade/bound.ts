/**
 * The most that an order offers and the least that it brings, computed from the quote that its
 * maker saw, so that the server that builds the order cannot choose them. Source: protocol.md 10.0,
 * "Bound of an order".
 */
import type { Slippage } from '../../engine/market/order.ts';
import { ceilDivide } from '../../engine/market/ratio.ts';
import type { OrderBody, QuoteAnswer } from '../types.ts';

export interface OrderBound {
  /** Lovelace of a buy, tokens of a sell. */
  readonly maxInput: bigint;
  readonly minOutput: bigint;
}

const WHOLE = 10_000n;

/** In hundredths of a percent; null: any output of at least 1. */
export function hundredthsOf(slippage: Slippage): bigint | null {
  return slippage === 'infinity' ? null : BigInt(slippage) * 100n;
}

/**
 * `slippage` in hundredths of a percent, below 10,000; null: any price. A BUY_WITH_OUTPUT at any
 * price still costs no more than its quote says: its maker confirms that sum, or names another.
 */
export function boundOf(
  side: OrderBody['side'],
  amount: bigint,
  { inputAmount, outputAmount }: Pick<QuoteAnswer, 'inputAmount' | 'outputAmount'>,
  slippage: bigint | null,
): OrderBound {
  const kept = slippage === null ? null : WHOLE - slippage;
  if (side === 'BUY_WITH_OUTPUT') {
    const quoted = BigInt(inputAmount);
    return { maxInput: kept === null ? quoted : (quoted * WHOLE) / kept, minOutput: amount };
  }
  const least = kept === null ? 1n : ceilDivide(BigInt(outputAmount) * kept, WHOLE);
  return { maxInput: amount, minOutput: least < 1n ? 1n : least };
}
