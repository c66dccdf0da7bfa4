/**
 * The price of a pool by the coins in it: on the curve from zero to graduation, in an AMM pool
 * around the present reserves. Amounts and prices are exact; only pixels are numbers. Fees are left
 * out: the quote has them.
 */
import type { LiquidityPoolInfo } from '../../client/types.ts';
import { buyTokens, costOf, sellLovelace, spot } from '../../engine/market/curve.ts';
import { formatFixed, formatPrice } from '../../engine/market/decimal.ts';
import { ceilDivide, type Ratio, roundHalfEven } from '../../engine/market/ratio.ts';
import type { EnteredTrade } from '../trade/enteredTrade.ts';

const PIXEL_STEPS = 1_000_000n;

export interface PricePath {
  /** Coins in the pool at both ends of the picture, and now, in lovelace. */
  readonly from: bigint;
  readonly to: bigint;
  readonly now: bigint;
  /** Lovelace a token. */
  readonly priceAt: (lovelace: bigint) => Ratio;
  /** Tokens that leave the pool while its coins go from one amount to the other; negative: come. */
  readonly tokensBetween: (before: bigint, after: bigint) => bigint;
  /** Coins in the pool after a trade of this many tokens. */
  readonly afterBuy: (tokens: bigint) => bigint;
  readonly afterSell: (tokens: bigint) => bigint;
}

/** `supply`: of the token. */
export function pricePath({ pool }: LiquidityPoolInfo, supply: bigint): PricePath {
  const [x, y] = [BigInt(pool.x.amount), BigInt(pool.y.amount)];
  return pool.cpmmPoolId === null
    ? curvePath(pool, supply - y, clamp(x, 0n, BigInt(pool.adaCapThreshold)))
    : ammPath(x, y);
}

function curvePath(
  { aNum, bNum, adaCapThreshold }: LiquidityPoolInfo['pool'],
  sold: bigint,
  now: bigint,
): PricePath {
  const curve = { aNum: BigInt(aNum), bNum: BigInt(bNum), supply: 0n };
  const soldAt = (lovelace: bigint) => buyTokens(curve, 0n, lovelace);
  return {
    ...{ from: 0n, to: BigInt(adaCapThreshold), now },
    priceAt: (lovelace) => spot(curve, soldAt(lovelace)),
    tokensBetween: (before, after) => soldAt(after) - soldAt(before),
    afterBuy: (tokens) => now + costOf(curve, sold, tokens),
    afterSell: (tokens) => now - sellLovelace(curve, sold, tokens < sold ? tokens : sold),
  };
}

/** Product of the reserves, x × y, is the same before and after. */
function ammPath(x: bigint, y: bigint): PricePath {
  const product = x * y;
  const tokensAt = (lovelace: bigint) => (lovelace === 0n ? y : product / lovelace);
  /** Rounds up the tokens that stay, so that a buyer never pays more than the amount asked for. */
  const atLeastAt = (lovelace: bigint) => (lovelace === 0n ? y : ceilDivide(product, lovelace));
  return {
    ...{ from: x / 2n, to: (x * 3n) / 2n, now: x },
    priceAt: (lovelace) => ({ numerator: lovelace * lovelace, denominator: product }),
    tokensBetween: (before, after) =>
      tokensAt(before) - (after > before ? atLeastAt(after) : tokensAt(after)),
    afterBuy: (tokens) => (tokens < y ? product / (y - tokens) : (x * 3n) / 2n),
    afterSell: (tokens) => product / (y + tokens),
  };
}

/** Coins in the pool after the trade in the form, within the picture; null: it holds nothing. */
export function coinsAfter(path: PricePath, { kind, amount }: EnteredTrade): bigint | null {
  if (amount === null) return null;
  const after =
    kind === 'BUY'
      ? path.now + amount
      : kind === 'SELL'
        ? path.afterSell(amount)
        : path.afterBuy(amount);
  return clamp(after, path.from, path.to);
}

/** A dragged buy is cut to whole coins: the digits behind mean nothing. */
const WHOLE = 1_000_000n;
/** Digits of tokens that mean something. */
const DIGITS = 3;

/** The amount that a form of this kind needs to reach it, 0 where it lies on the other side. */
export function amountTo(path: PricePath, kind: EnteredTrade['kind'], after: bigint): bigint {
  const target = clamp(after, path.from, path.to);
  const isSell = kind === 'SELL';
  if (isSell ? target >= path.now : target <= path.now) return 0n;
  if (kind === 'BUY') return target - path.now - ((target - path.now) % WHOLE);
  const tokens = path.tokensBetween(path.now, target);
  return rounded(isSell ? -tokens : tokens);
}

function rounded(tokens: bigint): bigint {
  const unit = 10n ** BigInt(Math.max(0, String(tokens).length - DIGITS));
  return tokens - (tokens % unit);
}

function clamp(value: bigint, least: bigint, most: bigint): bigint {
  return value < least ? least : value > most ? most : value;
}

/** ADA that the whole supply costs at a price, as a decimal. */
export function capAt({ numerator, denominator }: Ratio, supply: bigint): string {
  return formatPrice(numerator * supply, denominator);
}

/** Percent from one price to another with one decimal, a half to the even one; with its sign. */
export function percentBetween(before: Ratio, after: Ratio): string {
  const base = before.numerator * after.denominator;
  const moved = after.numerator * before.denominator - base;
  const tenths = roundHalfEven({ numerator: moved * 1000n, denominator: base });
  return formatFixed(tenths, 1);
}

/** How high a price stands below the highest one, 0 to 1: for pixels. */
export function heightOf(price: Ratio, highest: Ratio): number {
  const above = price.numerator * highest.denominator * PIXEL_STEPS;
  return Number(above / (price.denominator * highest.numerator)) / Number(PIXEL_STEPS);
}
