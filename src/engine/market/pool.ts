/**
 * A pool as the market sees it: the amounts that can be traded, without the amounts that only keep
 * the output alive. A launched token trades on its curve until the reserve reaches the threshold,
 * then on the AMM.
 */
import { type CurveParameters, capAt, type MarketCap, spot } from './curve.ts';
import type { FeeParameters } from './fees.ts';
import type { Ratio } from './ratio.ts';
import type { SplashFees } from './splash.ts';

export type Venue = 'CURVE' | 'AMM';

export interface CurvePool {
  readonly venue: 'CURVE';
  /** Lovelace of the reserve, without the kept 3 ADA. */
  readonly x: bigint;
  /** Tokens. */
  readonly y: bigint;
  readonly curve: CurveParameters;
  /** Reserve at which the pool graduates. The datum's cap is this and the kept 3 ADA. */
  readonly thresholdLovelace: bigint;
}

export interface AmmPool {
  readonly venue: 'AMM';
  /** Lovelace, without the kept 3 ADA and without `owed`. */
  readonly x: bigint;
  /** Tokens. */
  readonly y: bigint;
  /** Lovelace that wait in the pool for the creator. */
  readonly owed: bigint;
  readonly supply: bigint;
  /** Set for a pool of Splash, which charges only these fees and none of the deployment's. */
  readonly splash?: SplashFees;
}

export type PoolState = CurvePool | AmmPool;

export const DEFAULT_THRESHOLD_LOVELACE = 18_188_400_000n;

export function soldOf({ curve, y }: CurvePool): bigint {
  return curve.supply - y;
}

/** At the cap, a curve accepts only graduation. */
export function reachedCap({ x, thresholdLovelace }: CurvePool): boolean {
  return x >= thresholdLovelace;
}

/** The AMM pool that a curve pool becomes. It takes over every token and every lovelace. */
export function graduated({ x, y, curve }: CurvePool): AmmPool {
  return { venue: 'AMM', x, y, owed: 0n, supply: curve.supply };
}

/** Lovelace of the pool's output on the chain. */
export function poolLovelace(pool: PoolState, fees: FeeParameters): bigint {
  return pool.x + fees.poolKeepLovelace + (pool.venue === 'AMM' ? pool.owed : 0n);
}

/** Lovelace per token, not reduced. */
export function spotOf(pool: PoolState): Ratio {
  if (pool.venue === 'CURVE') return spot(pool.curve, soldOf(pool));
  return { numerator: pool.x, denominator: pool.y };
}

export function supplyOf(pool: PoolState): bigint {
  return pool.venue === 'CURVE' ? pool.curve.supply : pool.supply;
}

export function marketCapOf(pool: PoolState): MarketCap {
  return capAt(spotOf(pool), supplyOf(pool));
}
