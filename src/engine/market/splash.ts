/**
 * The royalty pool of Splash, into which tokens of mainnet graduate: a constant product over the
 * pool's assets without the earnings of its treasury and its royalty. A trade pays both, and the
 * liquidity's fee, from its input; the pool gives at most the amount that the rest of the input
 * buys.
 *
 * Source: PRoyaltyPool.hs of splashprotocol/splash-core, whose rule is an inequality: an executor
 * may take less. Checked with swaps of the chain (test/data/mainnet/splash-swaps.csv).
 */
import { amountIn, amountOut } from './amm.ts';

export const PER_100K = 100_000n;

/** Each of 100,000, as in the pool's datum. */
export interface SplashFees {
  /** The share after the liquidity's fee. */
  readonly feeNum: bigint;
  readonly treasuryFee: bigint;
  readonly royaltyFee: bigint;
}

/** The most that leaves the pool when `amount` comes in. */
export function splashOut(
  amount: bigint,
  reserveIn: bigint,
  reserveOut: bigint,
  fees: SplashFees,
): bigint {
  return amountOut(amount, reserveIn, reserveOut, feeOf(fees), PER_100K);
}

/** The least that must come in for `amount` to leave; `amount` is below the reserve. */
export function splashIn(
  amount: bigint,
  reserveIn: bigint,
  reserveOut: bigint,
  fees: SplashFees,
): bigint {
  return amountIn(amount, reserveIn, reserveOut, feeOf(fees), PER_100K);
}

/** The part of the input that the pool puts aside, in the asset of the input. */
export function earnedOf(
  amount: bigint,
  { treasuryFee, royaltyFee }: Pick<SplashFees, 'treasuryFee' | 'royaltyFee'>,
): { readonly treasury: bigint; readonly royalty: bigint } {
  return {
    treasury: (amount * treasuryFee) / PER_100K,
    royalty: (amount * royaltyFee) / PER_100K,
  };
}

function feeOf({ feeNum, treasuryFee, royaltyFee }: SplashFees): bigint {
  return PER_100K - (feeNum - treasuryFee - royaltyFee);
}

/** Whether a trade is possible at these fees: something counts, and no fee is negative. */
export function areSplashFees({ feeNum, treasuryFee, royaltyFee }: SplashFees): boolean {
  const counted = feeNum - treasuryFee - royaltyFee;
  return treasuryFee >= 0n && royaltyFee >= 0n && counted > 0n && feeNum <= PER_100K;
}
