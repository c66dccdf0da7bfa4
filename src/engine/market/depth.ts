/**
 * Depth of a pool: the tokens that it sells or buys up to each price of a fixed grid, and their
 * cost or proceeds. Exact integers. Source: protocol.md section 10.1.
 *
 * With `keep` = the share of a trade that percent fees leave, an ask at price P holds the tokens
 * that can be bought while the spot price after them is at most P * keep, a bid the tokens that can
 * be sold while it is at least P / keep. So asks lie above spot and bids below: they never cross.
 */
import { amountIn, amountOut, PER_10K } from './amm.ts';
import { buyTokens, spot } from './curve.ts';
import { formatRatio, powerOfTen } from './decimal.ts';
import { buyWithOutput, sell } from './exchange.ts';
import { type FeeParameters, maxReserveLovelace } from './fees.ts';
import { type PoolState, reachedCap, soldOf, supplyOf } from './pool.ts';
import { ceilDivide, compareRatios, type Ratio } from './ratio.ts';
import { earnedOf, PER_100K, splashIn, splashOut } from './splash.ts';

/** Significant decimal digits of the grid's prices. */
export type DepthDigits = 3 | 4;

export interface DepthLevel {
  /** ADA per token. */
  readonly price: string;
  /** Tokens between this price and the one before it, which is nearer to spot. */
  readonly amount: bigint;
  /** All tokens from spot up to this price. */
  readonly tokens: bigint;
}

export interface Depth {
  /** Highest price first. */
  readonly bids: readonly DepthLevel[];
  /** Lowest price first. */
  readonly asks: readonly DepthLevel[];
}

/** Executor fee, deposit and the least trade are no part of the depth. */
export function poolDepth(
  pool: PoolState,
  fees: FeeParameters,
  { digits, levels }: { readonly digits: DepthDigits; readonly levels: number },
): Depth {
  const keep = keepOf(pool, fees);
  const asks: DepthLevel[] = [];
  const bids: DepthLevel[] = [];
  const sides = [
    { found: asks, most: maxBought(pool, fees), spotAfter: spotAfterBuy, isAsk: true },
    { found: bids, most: maxSold(pool), spotAfter: spotAfterSell, isAsk: false },
  ] as const;
  for (const { found, most, spotAfter, isAsk } of sides) {
    let tokens = 0n;
    let step = 1n;
    let near = MIN_EXPONENT;
    while (found.length < levels && tokens < most) {
      // The first price of the grid at which one more token is traded.
      const next = spotAfter(pool, fees, tokens + 1n);
      const wanted = isAsk ? over(next, keep) : times(next, keep);
      const { ratio, text, exponent } = gridPrice(wanted, isAsk, digits, near);
      if (ratio.numerator === 0n) break;
      near = exponent;
      const bound = isAsk ? times(ratio, keep) : over(ratio, keep);
      const isWithin = (spot: Ratio) =>
        isAsk ? compareRatios(spot, bound) <= 0 : compareRatios(bound, spot) <= 0;
      const range = { first: tokens + 1n, most, step };
      const after = (amount: bigint) => spotAfter(pool, fees, amount);
      const upTo = largestWithin({ at: bound, isWithin }, range, after);
      step = upTo - tokens;
      found.push({ price: text, amount: step, tokens: upTo });
      tokens = upTo;
    }
  }
  return { bids, asks };
}

/**
 * Lovelace that buying or selling `tokens` costs or brings, fees in percent included; what `quote`
 * gives, without its least trade. 0 where the pool pays nothing for so few.
 */
export function depthTotal(
  pool: PoolState,
  fees: FeeParameters,
  kind: 'buy' | 'sell',
  tokens: bigint,
): bigint {
  const free = { ...fees, minTradeLovelace: 0n };
  const exchange = kind === 'buy' ? buyWithOutput(pool, free, tokens) : sell(pool, free, tokens);
  if (exchange.outcome === 'refused') return 0n;
  return kind === 'buy' ? exchange.inputAmount : exchange.outputAmount;
}

/** The share of a trade that fees in percent leave. */
export function keepOf(pool: PoolState, fees: FeeParameters): Ratio {
  if (pool.venue === 'CURVE') return { numerator: 100n - fees.percentFee, denominator: 100n };
  if (pool.splash !== undefined) {
    const { feeNum, treasuryFee, royaltyFee } = pool.splash;
    return { numerator: feeNum - treasuryFee - royaltyFee, denominator: PER_100K };
  }
  const left = PER_10K - fees.creatorFeePer10k - fees.platformFeePer10k;
  return { numerator: left * (PER_10K - fees.lpFeePer10k), denominator: PER_10K * PER_10K };
}

function maxBought(pool: PoolState, fees: FeeParameters): bigint {
  if (pool.venue === 'AMM') return pool.y - 1n;
  if (reachedCap(pool)) return 0n;
  const room = maxReserveLovelace(fees, pool.thresholdLovelace) - pool.x;
  const byRoom = buyTokens(pool.curve, soldOf(pool), room);
  let most = byRoom < pool.y ? byRoom : pool.y - 1n;
  // The least input of which enough is left may leave one lovelace more than there is room for.
  while (most > 0n && depthTotal(pool, fees, 'buy', most) === 0n) most -= 1n;
  return most;
}

function maxSold(pool: PoolState): bigint {
  if (pool.venue === 'CURVE' && reachedCap(pool)) return 0n;
  return supplyOf(pool) - pool.y;
}

function spotAfterBuy(pool: PoolState, fees: FeeParameters, tokens: bigint): Ratio {
  if (pool.venue === 'CURVE') return spot(pool.curve, soldOf(pool) + tokens);
  const { x, y, splash } = pool;
  const denominator = y - tokens;
  if (splash === undefined) {
    return { numerator: x + amountIn(tokens, x, y, fees.lpFeePer10k), denominator };
  }
  const lovelace = splashIn(tokens, x, y, splash);
  const { treasury, royalty } = earnedOf(lovelace, splash);
  return { numerator: x + lovelace - treasury - royalty, denominator };
}

function spotAfterSell(pool: PoolState, fees: FeeParameters, tokens: bigint): Ratio {
  if (pool.venue === 'CURVE') return spot(pool.curve, soldOf(pool) - tokens);
  const { x, y, splash } = pool;
  if (splash === undefined) {
    const numerator = x - amountOut(tokens, y, x, fees.lpFeePer10k);
    return { numerator, denominator: y + tokens };
  }
  const { treasury, royalty } = earnedOf(tokens, splash);
  const numerator = x - splashOut(tokens, y, x, splash);
  return { numerator, denominator: y + tokens - treasury - royalty };
}

/** Interpolations before the search halves: spot is nearly straight between two prices. */
const MAX_INTERPOLATIONS = 8;
/** For interpolation only; comparisons of exact fractions decide. */
const FIXED = 10n ** 24n;

interface Edge {
  readonly at: Ratio;
  isWithin(spot: Ratio): boolean;
}

/**
 * The largest amount up to `most` after which spot is within the edge. It is after `first`, and
 * above an amount after which it is not, it is not either. Looks `step` ahead first, because
 * neighbouring levels hold about as much.
 */
function largestWithin(
  edge: Edge,
  { first, most, step }: { readonly first: bigint; readonly most: bigint; readonly step: bigint },
  spotAfter: (amount: bigint) => Ratio,
): bigint {
  let inside = { amount: first, spot: spotAfter(first) };
  let outside: typeof inside | null = null;
  for (let width = step + step / 64n + 1n; outside === null && inside.amount < most; width *= 2n) {
    const amount = inside.amount + width < most ? inside.amount + width : most;
    const probe = { amount, spot: spotAfter(amount) };
    if (edge.isWithin(probe.spot)) inside = probe;
    else outside = probe;
  }
  if (outside === null) return inside.amount;
  const target = fixed(edge.at);
  for (let tries = 0; outside.amount - inside.amount > 1n; tries += 1) {
    const gap = outside.amount - inside.amount;
    const low = fixed(inside.spot);
    const slope = fixed(outside.spot) - low;
    const isStraight = tries < MAX_INTERPOLATIONS && slope !== 0n;
    const ahead = isStraight ? ((target - low) * gap) / slope : gap / 2n;
    // One more than the guess on every second try, so that both ends come close.
    const by = clamped(ahead + BigInt(tries % 2), gap - 1n);
    const probe = { amount: inside.amount + by, spot: spotAfter(inside.amount + by) };
    if (edge.isWithin(probe.spot)) inside = probe;
    else outside = probe;
  }
  return inside.amount;
}

function clamped(value: bigint, most: bigint): bigint {
  if (value < 1n) return 1n;
  return value > most ? most : value;
}

function fixed({ numerator, denominator }: Ratio): bigint {
  return (numerator * FIXED) / denominator;
}

interface GridPrice {
  readonly text: string;
  /** Lovelace per token. */
  readonly ratio: Ratio;
  /** The price is a whole number of `digits` digits, times ten to this power. */
  readonly exponent: number;
}

const LOVELACE_DIGITS = 6;
/** Prices have 18 decimals: below 10^-15 fewer digits are left. */
const MIN_EXPONENT = LOVELACE_DIGITS - 18;

/**
 * The lowest price of the grid that is not below `price`, in lovelace per token, or the highest
 * that is not above it. `near`: the exponent of a price nearby.
 */
function gridPrice(price: Ratio, isAsk: boolean, digits: DepthDigits, near: number): GridPrice {
  let exponent = near;
  let { numerator, denominator } = scaled(price, -exponent);
  const isNear = numerator >= powerOfTen(digits - 1) * denominator;
  if (!isNear || numerator >= powerOfTen(digits) * denominator) {
    exponent = Math.max(MIN_EXPONENT, exponentOf(price, digits));
    ({ numerator, denominator } = scaled(price, -exponent));
  }
  const whole = isAsk ? ceilDivide(numerator, denominator) : numerator / denominator;
  const ratio = scaled({ numerator: whole, denominator: 1n }, exponent);
  const ada = scaled({ numerator: whole, denominator: 1n }, exponent - LOVELACE_DIGITS);
  return { ratio, text: formatRatio(ada.numerator, ada.denominator), exponent };
}

/** The exponent with which `price` / 10^exponent has this many digits before the point. */
function exponentOf(price: Ratio, digits: DepthDigits): number {
  const { numerator, denominator } = price;
  const limit = { numerator: powerOfTen(digits), denominator: 1n };
  // The lengths of numerator and denominator give it, or one too little.
  const exponent = String(numerator).length - String(denominator).length - digits;
  return compareRatios(limit, scaled(price, -exponent)) <= 0 ? exponent + 1 : exponent;
}

function scaled({ numerator, denominator }: Ratio, exponent: number): Ratio {
  return exponent >= 0
    ? { numerator: numerator * powerOfTen(exponent), denominator }
    : { numerator, denominator: denominator * powerOfTen(-exponent) };
}

function times(a: Ratio, b: Ratio): Ratio {
  return { numerator: a.numerator * b.numerator, denominator: a.denominator * b.denominator };
}

function over(a: Ratio, b: Ratio): Ratio {
  return { numerator: a.numerator * b.denominator, denominator: a.denominator * b.numerator };
}
