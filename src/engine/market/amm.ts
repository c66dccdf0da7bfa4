/**
 * The constant-product pool. x lovelace and y tokens, both without amounts that are not traded (3
 * ADA that keep the output alive, the creator's `owed`). The LP fee is taken from the input and
 * stays in the pool; every rounding favours the pool, so x * y never shrinks. Source: onchain.md,
 * section Fees.
 */
import { assert } from '../runtime/assert.ts';
import { ceilDivide } from './ratio.ts';

export const PER_10K = 10_000n;

/** Uniswap's rule: what leaves `reserveOut` when `amountIn` joins `reserveIn`; the fee of `per`. */
export function amountOut(
  amountIn: bigint,
  reserveIn: bigint,
  reserveOut: bigint,
  fee: bigint,
  per = PER_10K,
): bigint {
  assert(amountIn >= 0n && reserveIn > 0n && reserveOut > 0n, 'a pool has two sides');
  const counted = amountIn * (per - fee);
  return (reserveOut * counted) / (reserveIn * per + counted);
}

/** The least that must come in for `amount` to leave; `amount` is below the reserve. */
export function amountIn(
  amount: bigint,
  reserveIn: bigint,
  reserveOut: bigint,
  fee: bigint,
  per = PER_10K,
): bigint {
  assert(amount >= 0n && amount < reserveOut, 'a pool never gives all it has');
  return ceilDivide(reserveIn * amount * per, (reserveOut - amount) * (per - fee));
}
