/** How far a curve is filled. */
import type { LiquidityPoolInfo } from '../../client/types.ts';
import { percent } from '../format.ts';

/** `12.34` of a hundred; graduated pools are at 100 for good. */
export function progressOf({ pool }: LiquidityPoolInfo): string {
  const cap = BigInt(pool.adaCapThreshold);
  const filled = BigInt(pool.x.amount);
  return pool.cpmmPoolId !== null || filled >= cap ? '100' : percent(filled, cap);
}
