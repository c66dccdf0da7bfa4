/**
 * Conditions of each trade, in separate arithmetic: nothing here calls the code that computes
 * trades. The curve by its cubic, the AMM by its product, shares by division, and sums to the unit.
 */
import type { Exchange } from '../../../src/engine/market/exchange.ts';
import type { FeeParameters } from '../../../src/engine/market/fees.ts';
import type { AmmPool, CurvePool, PoolState } from '../../../src/engine/market/pool.ts';

const SCALE = 3n * 10n ** 27n;

/** The names of the rules that a trade breaks; empty: none. */
export function brokenRules(pool: PoolState, fees: FeeParameters, trade: Exchange): string[] {
  const { kind, inputAmount, outputAmount, shares, next } = trade;
  const [coin, tokens] = kind === 'buy' ? [inputAmount, outputAmount] : [outputAmount, inputAmount];
  const owed = owedOf(next) - owedOf(pool);
  const taken = shares.percentFee + shares.platform + shares.creator;
  const sign = kind === 'buy' ? 1n : -1n;
  const gross = kind === 'buy' ? coin : coin + taken;
  const rules: Readonly<Record<string, boolean>> = {
    'every lovelace that the trader pays or gets is in pool, owed or fees':
      sign * coin === next.x - pool.x + taken,
    'every token that the trader gets or gives leaves or enters the pool':
      sign * tokens === pool.y - next.y,
    'what the creator earns is owed': owed === shares.creator,
    'shares are those of the terms': sharesHold(pool, fees, gross, trade),
    'the pool keeps both sides': next.x >= 0n && next.y > 0n,
    'amounts are above zero': inputAmount > 0n && outputAmount > 0n,
    'the pool gives exactly what its law allows':
      pool.venue === 'CURVE' ? curveHolds(pool, next, kind) : ammHolds(pool, next, fees, kind),
  };
  return Object.entries(rules).flatMap(([rule, holds]) => (holds ? [] : [rule]));
}

function owedOf(pool: PoolState): bigint {
  return pool.venue === 'AMM' ? pool.owed : 0n;
}

function sharesHold(
  { venue }: PoolState,
  fees: FeeParameters,
  gross: bigint,
  { shares }: Exchange,
): boolean {
  const part = (share: bigint, of: bigint) => (gross * share - ((gross * share) % of)) / of;
  return venue === 'CURVE'
    ? shares.percentFee === part(fees.percentFee, 100n) && shares.platform + shares.creator === 0n
    : shares.platform === part(fees.platformFeePer10k, 10_000n) &&
        shares.creator === part(fees.creatorFeePer10k, 10_000n) &&
        shares.percentFee === 0n;
}

/** The reserve never falls below the area under the curve, and one unit more would break that. */
function curveHolds(pool: CurvePool, next: PoolState, kind: Exchange['kind']): boolean {
  const { aNum, bNum, supply } = pool.curve;
  const area = (y: bigint) => {
    const sold = supply - y;
    return aNum * sold ** 3n + 3n * 10n ** 21n * bNum * sold;
  };
  const covers = (x: bigint, y: bigint) => (x - pool.x) * SCALE >= area(y) - area(pool.y);
  const oneMore = kind === 'buy' ? covers(next.x, next.y - 1n) : covers(next.x - 1n, next.y);
  return covers(next.x, next.y) && !oneMore && next.x * SCALE >= area(next.y);
}

/** The product counts the input without the LP fee, and one unit more would shrink it. */
function ammHolds(
  pool: AmmPool,
  next: PoolState,
  { lpFeePer10k }: FeeParameters,
  kind: Exchange['kind'],
): boolean {
  const counted = 10_000n - lpFeePer10k;
  const covers = (x: bigint, y: bigint) =>
    kind === 'buy'
      ? (pool.x * 10_000n + (x - pool.x) * counted) * y >= pool.x * pool.y * 10_000n
      : (pool.y * 10_000n + (y - pool.y) * counted) * x >= pool.x * pool.y * 10_000n;
  const oneMore = kind === 'buy' ? covers(next.x, next.y - 1n) : covers(next.x - 1n, next.y);
  return covers(next.x, next.y) && !oneMore && next.x * next.y >= pool.x * pool.y;
}
