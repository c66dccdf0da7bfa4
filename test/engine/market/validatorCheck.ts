import { PER_10K } from '../../../src/engine/market/amm.ts';

interface Reserves {
  readonly x: bigint;
  readonly y: bigint;
}

/** The validator's check of a step: the side that grew counts without the LP fee. */
export function productHolds(before: Reserves, after: Reserves, lpFeePer10k: bigint): boolean {
  const grown = PER_10K - lpFeePer10k;
  const least = before.x * before.y * PER_10K;
  return after.x > before.x
    ? (before.x * PER_10K + (after.x - before.x) * grown) * after.y >= least
    : (before.y * PER_10K + (after.y - before.y) * grown) * after.x >= least;
}
