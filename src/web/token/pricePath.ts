/**
 * The price of a pool by the coins in it: on the curve from nothing to graduation, in an AMM pool
 * around what it has now. Amounts are exact; a price is a number here, because it is a pixel.
 * Fees are left out: the quote has them.
 */
import type { LiquidityPoolInfo } from '../../client/types.ts';
import { buyTokens, costOf, sellLovelace, spot } from '../../engine/market/curve.ts';
import type { Plan } from '../trade/plan.ts';

const LOVELACE = 1_000_000;

export interface PricePath {
  /** Coins in the pool at both ends of the picture, and now, in lovelace. */
  readonly from: bigint;
  readonly to: bigint;
  readonly now: bigint;
  /** ADA a token. */
  readonly priceAt: (lovelace: bigint) => number;
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
    priceAt(lovelace) {
      const { numerator, denominator } = spot(curve, soldAt(lovelace));
      return Number(numerator) / Number(denominator) / LOVELACE;
    },
    tokensBetween: (before, after) => soldAt(after) - soldAt(before),
    afterBuy: (tokens) => now + costOf(curve, sold, tokens),
    afterSell: (tokens) => now - sellLovelace(curve, sold, tokens < sold ? tokens : sold),
  };
}

/** Product of the reserves, x × y, is the same before and after. */
function ammPath(x: bigint, y: bigint): PricePath {
  const product = x * y;
  const tokensAt = (lovelace: bigint) => (lovelace === 0n ? y : product / lovelace);
  return {
    ...{ from: x / 2n, to: (x * 3n) / 2n, now: x },
    priceAt: (lovelace) => Number(lovelace) ** 2 / Number(product) / LOVELACE,
    tokensBetween: (before, after) => tokensAt(before) - tokensAt(after),
    afterBuy: (tokens) => (tokens < y ? product / (y - tokens) : (x * 3n) / 2n),
    afterSell: (tokens) => product / (y + tokens),
  };
}

/** Coins in the pool after what the form holds, within the picture; null: it holds nothing. */
export function planned(path: PricePath, { kind, amount }: Plan): bigint | null {
  if (amount === null) return null;
  const after =
    kind === 'BUY'
      ? path.now + amount
      : kind === 'SELL'
        ? path.afterSell(amount)
        : path.afterBuy(amount);
  return clamp(after, path.from, path.to);
}

/** What a buy costs by the picture is cut to whole coins: the digits behind mean nothing. */
const WHOLE = 1_000_000n;
/** Digits of tokens that mean something. */
const DIGITS = 3;

/** The amount that a form of this kind needs to reach it, 0 where it lies on the other side. */
export function amountTo(path: PricePath, kind: Plan['kind'], after: bigint): bigint {
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
