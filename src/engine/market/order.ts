/**
 * The terms of an order: its offer and its worst price, output per input. Fees and deposit ride on
 * top of the input and are no part of the price.
 * Source: onchain.md, sections Fees and Outputs.
 */
import { buy, type Exchange, type Kind, sell } from './exchange.ts';
import type { FeeParameters } from './fees.ts';
import type { PoolState } from './pool.ts';
import { ceilDivide, type Ratio, reduced } from './ratio.ts';

export const SLIPPAGES = ['15', '30', '50', '75', 'infinity'] as const;
/** Percent that the output may fall; `infinity` takes any output of at least 1. */
export type Slippage = (typeof SLIPPAGES)[number];

export interface OrderTerms {
  readonly kind: Kind;
  /** Lovelace of a buy, tokens of a sell. */
  readonly amount: bigint;
  /** Output per input. */
  readonly worstPrice: Ratio;
}

/** The reduced fraction that stands in the order's datum. */
export function worstPriceOf(inputAmount: bigint, outputAmount: bigint, slippage: Slippage): Ratio {
  if (slippage === 'infinity') return { numerator: 1n, denominator: inputAmount };
  const kept = 100n - BigInt(slippage);
  return reduced(outputAmount * kept, inputAmount * 100n);
}

/** The worst price of an order that takes any output of at least `minOutput`. */
export function priceOfLeast(inputAmount: bigint, minOutput: bigint): Ratio {
  return reduced(minOutput, inputAmount);
}

/** The least output that `amount` accepts. */
export function minimumOutput(amount: bigint, { numerator, denominator }: Ratio): bigint {
  return ceilDivide(amount * numerator, denominator);
}

export function priceHolds(
  outputAmount: bigint,
  inputAmount: bigint,
  { numerator, denominator }: Ratio,
): boolean {
  return outputAmount * denominator >= inputAmount * numerator;
}

/** The output that this pool gives the order now; null: the order must wait. */
export function fillOrder(
  pool: PoolState,
  fees: FeeParameters,
  { kind, amount, worstPrice }: OrderTerms,
): Exchange | null {
  const exchange = kind === 'buy' ? buy(pool, fees, amount) : sell(pool, fees, amount);
  if (exchange.outcome === 'refused') return null;
  return priceHolds(exchange.outputAmount, exchange.inputAmount, worstPrice) ? exchange : null;
}
