/**
 * Fees of a deployment. Integers, rounded down everywhere.
 * Source: onchain.md, section Fees; the fee table there is a test.
 */
import { assert } from '../runtime/assert.ts';
import { PER_10K } from './amm.ts';
import type { Venue } from './pool.ts';

export interface FeeParameters {
  /** Percent of the coin side, on the curve only. */
  readonly percentFee: bigint;
  /** Per order; `fixedFeeLovelace` of it is the platform's, the rest pays network and executor. */
  readonly executorFeeLovelace: bigint;
  readonly fixedFeeLovelace: bigint;
  /** Kept of an order that is refunded. */
  readonly refundFeeLovelace: bigint;
  /** Comes back with the fill. */
  readonly orderDepositLovelace: bigint;
  /** Least coin side of a trade before fees. */
  readonly minTradeLovelace: bigint;
  /** Share of the coin side, on the AMM only. */
  readonly creatorFeePer10k: bigint;
  readonly platformFeePer10k: bigint;
  readonly lpFeePer10k: bigint;
  /** A launch pays the larger of the least, and fixed + percentFee of the initial buy. */
  readonly launchFeeLeastLovelace: bigint;
  readonly launchFeeFixedLovelace: bigint;
  /** Keeps a pool's output alive, on top of its reserve. */
  readonly poolKeepLovelace: bigint;
  /** A buy may pass the cap by the larger of these two; the first is a share of the cap. */
  readonly overshootPer1000: bigint;
  readonly overshootLovelace: bigint;
  /** A fee output below this needs a float. */
  readonly feeOutputLeastLovelace: bigint;
  /** From here on the creator's share is paid out. */
  readonly collectFromLovelace: bigint;
}

export const DEFAULT_FEES: FeeParameters = {
  percentFee: 1n,
  executorFeeLovelace: 1_100_000n,
  fixedFeeLovelace: 500_000n,
  refundFeeLovelace: 600_000n,
  orderDepositLovelace: 1_500_000n,
  minTradeLovelace: 1_000_000n,
  creatorFeePer10k: 100n,
  platformFeePer10k: 15n,
  lpFeePer10k: 15n,
  launchFeeLeastLovelace: 1_000_000n,
  launchFeeFixedLovelace: 500_000n,
  poolKeepLovelace: 3_000_000n,
  overshootPer1000: 1n,
  overshootLovelace: 2_000_000n,
  feeOutputLeastLovelace: 1_200_000n,
  collectFromLovelace: 5_000_000n,
};

/** Lovelace taken of a trade's coin side. A fee that the venue does not charge is 0. */
export interface Shares {
  readonly percentFee: bigint;
  readonly platform: bigint;
  readonly creator: bigint;
}

export function sharesOf(venue: Venue, fees: FeeParameters, coinLovelace: bigint): Shares {
  if (venue === 'CURVE') {
    return { percentFee: (coinLovelace * fees.percentFee) / 100n, platform: 0n, creator: 0n };
  }
  const platform = (coinLovelace * fees.platformFeePer10k) / PER_10K;
  const creator = (coinLovelace * fees.creatorFeePer10k) / PER_10K;
  return { percentFee: 0n, platform, creator };
}

export function netOf(coinLovelace: bigint, { percentFee, platform, creator }: Shares): bigint {
  return coinLovelace - percentFee - platform - creator;
}

/**
 * The least input of which `netLovelace` or more are left. The rest may fall by one where two
 * shares round up at once, so the search starts from below: two floors lose less than 2.
 */
export function inputForNet(venue: Venue, fees: FeeParameters, netLovelace: bigint): bigint {
  assert(netLovelace > 0n, 'a buy brings something into the pool');
  const per10k =
    venue === 'CURVE' ? fees.percentFee * 100n : fees.platformFeePer10k + fees.creatorFeePer10k;
  assert(per10k < PER_10K, 'fees leave something');
  const above = netLovelace > 2n ? netLovelace - 2n : 0n;
  let input = (above * PER_10K) / (PER_10K - per10k) + (above === 0n ? 0n : 1n);
  while (netOf(input, sharesOf(venue, fees, input)) < netLovelace) input += 1n;
  return input;
}

/**
 * The payment of a launch to the fee address, beside its initial buy, which enters the pool whole.
 */
export function launchFeeLovelace(fees: FeeParameters, initialBuyLovelace: bigint): bigint {
  const share = fees.launchFeeFixedLovelace + (initialBuyLovelace * fees.percentFee) / 100n;
  return share > fees.launchFeeLeastLovelace ? share : fees.launchFeeLeastLovelace;
}

/** The most a curve pool's reserve may hold; both the cap and the share count the kept ADA. */
export function maxReserveLovelace(fees: FeeParameters, thresholdLovelace: bigint): bigint {
  const cap = thresholdLovelace + fees.poolKeepLovelace;
  const share = (cap * fees.overshootPer1000) / 1000n;
  return thresholdLovelace + (share > fees.overshootLovelace ? share : fees.overshootLovelace);
}

/** The amount that one filled order adds to the fee output. */
export function fillIncomeLovelace(orderFeeLovelace: bigint, shares: Shares): bigint {
  return orderFeeLovelace + shares.percentFee + shares.platform;
}

interface BatchIncome {
  readonly fills: readonly { readonly feeLovelace: bigint; readonly shares: Shares }[];
  readonly refunds: number;
}

/** The fee output of a batch before the network fee, without the funding UTxOs. */
export function batchIncomeLovelace(fees: FeeParameters, { fills, refunds }: BatchIncome): bigint {
  return fills.reduce(
    (sum, { feeLovelace, shares }) => sum + fillIncomeLovelace(feeLovelace, shares),
    BigInt(refunds) * fees.refundFeeLovelace,
  );
}
