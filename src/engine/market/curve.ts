/**
 * The bonding curve in exact integers. With `sold` = s tokens out of the pool, a = aNum / 10^27 and
 * b = bNum / 10^6: spot(s) = a s^2 + b lovelace per token, cost(s) = a s^3 / 3 + b s.
 *
 * Rounding always favours the pool: a buy gets the most tokens its lovelace cover, a sell the whole
 * lovelace its tokens free. So the validator's condition reserve * 3 * 10^27 >= N(s) always holds.
 * Source: onchain.md, section The curve.
 */
import { assert } from '../runtime/assert.ts';
import { ceilDivide, type Ratio, roundRatio } from './ratio.ts';

export interface CurveParameters {
  /** a * 10^27. */
  readonly aNum: bigint;
  /** b * 10^6. */
  readonly bNum: bigint;
  /** All tokens there are, in the pool and out of it. */
  readonly supply: bigint;
}

export const DEFAULT_CURVE: CurveParameters = {
  aNum: 122_525_779_519n,
  bNum: 2_545_182n,
  supply: 1_000_000_000n,
};

/** The unit of N(s): 1 / (3 * 10^27) lovelace. */
export const COST_DENOMINATOR = 3n * 10n ** 27n;
const SPOT_DENOMINATOR = 10n ** 27n;
const B_SCALE = 10n ** 21n;

/** N(s): the cost of the first `sold` tokens, times 3 * 10^27. */
export function costNumerator({ aNum, bNum }: CurveParameters, sold: bigint): bigint {
  return sold * (aNum * sold * sold + 3n * B_SCALE * bNum);
}

/** The most tokens that `netLovelace` buy. Knows no supply: a pool may have fewer. */
export function buyTokens(curve: CurveParameters, sold: bigint, netLovelace: bigint): bigint {
  assert(sold >= 0n && netLovelace >= 0n, 'a buy starts from tokens sold and pays lovelace');
  const target = costNumerator(curve, sold) + netLovelace * COST_DENOMINATOR;
  return largestSold(curve, target, firstGuess(curve, sold, netLovelace, target)) - sold;
}

/** The least lovelace that buy `tokens`. */
export function costOf(curve: CurveParameters, sold: bigint, tokens: bigint): bigint {
  assert(sold >= 0n && tokens >= 0n, 'a buy starts from tokens sold and takes tokens');
  const step = costNumerator(curve, sold + tokens) - costNumerator(curve, sold);
  return ceilDivide(step, COST_DENOMINATOR);
}

/** The whole lovelace that `tokens` free when they come back; at most the tokens that were sold. */
export function sellLovelace(curve: CurveParameters, sold: bigint, tokens: bigint): bigint {
  assert(tokens >= 0n && tokens <= sold, 'only tokens that were sold come back');
  const step = costNumerator(curve, sold) - costNumerator(curve, sold - tokens);
  return step / COST_DENOMINATOR;
}

/** Lovelace per token for the next token, not reduced. */
export function spot({ aNum, bNum }: CurveParameters, sold: bigint): Ratio {
  return { numerator: aNum * sold * sold + B_SCALE * bNum, denominator: SPOT_DENOMINATOR };
}

export interface MarketCap {
  readonly exact: Ratio;
  /** Rounded, a half upwards. */
  readonly lovelace: bigint;
}

/** The worth of `supply` tokens at `price`. */
export function capAt(price: Ratio, supply: bigint): MarketCap {
  const exact = { numerator: price.numerator * supply, denominator: price.denominator };
  return { exact, lovelace: roundRatio(exact) };
}

/**
 * The largest s with N(s) <= target, by Newton from above. N is convex, so steps fall while
 * N(s) > target and never pass below the root: the first s that fits is the answer.
 */
function largestSold({ aNum, bNum }: CurveParameters, target: bigint, guess: bigint): bigint {
  const linear = 3n * B_SCALE * bNum;
  let sold = guess;
  for (;;) {
    const square = aNum * sold * sold;
    if (sold * (square + linear) <= target) return sold;
    sold = (2n * square * sold + target) / (3n * square + linear);
  }
}

/** Not below the answer: no token costs less than spot, nor less than its cubic part alone. */
function firstGuess(
  curve: CurveParameters,
  sold: bigint,
  netLovelace: bigint,
  target: bigint,
): bigint {
  const { numerator, denominator } = spot(curve, sold);
  const byCube = curve.aNum === 0n ? null : 1n << ceilThird(bitLength(target / curve.aNum));
  const bySpot = numerator === 0n ? null : sold + (netLovelace * denominator) / numerator;
  if (byCube === null || bySpot === null) {
    const guess = byCube ?? bySpot;
    assert(guess !== null, 'a curve has aNum or bNum above 0');
    return guess;
  }
  return byCube < bySpot ? byCube : bySpot;
}

function bitLength(value: bigint): number {
  return value.toString(16).length * 4;
}

function ceilThird(bits: number): bigint {
  return BigInt(Math.ceil(bits / 3));
}
