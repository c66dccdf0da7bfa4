/**
 * One trade against a pool, exact: input, output, shares, and the pool after it. Quotes and fills
 * both use only this code, so that they cannot differ. Refusals come in the order of protocol.md
 * section 3: too small first, then too large.
 */
import { assert } from '../runtime/assert.ts';
import { amountIn, amountOut } from './amm.ts';
import { buyTokens, costOf, sellLovelace } from './curve.ts';
import {
  type FeeParameters,
  inputForNet,
  maxReserveLovelace,
  netOf,
  type Shares,
  sharesOf,
} from './fees.ts';
import {
  type AmmPool,
  type CurvePool,
  type PoolState,
  reachedCap,
  soldOf,
  supplyOf,
} from './pool.ts';
import { earnedOf, splashIn, splashOut } from './splash.ts';

/** `buy`: lovelace in, tokens out. */
export type Kind = 'buy' | 'sell';

export interface Exchange {
  readonly outcome: 'exchange';
  readonly kind: Kind;
  /** Buy: lovelace with all shares. Sell: tokens. */
  readonly inputAmount: bigint;
  /** Amount that the user receives: tokens, or lovelace after all shares. */
  readonly outputAmount: bigint;
  readonly shares: Shares;
  /** By how much the pool's x grew (buy) or fell (sell): the coin side of the trade's price. */
  readonly poolCoinLovelace: bigint;
  readonly next: PoolState;
}

export interface Refusal {
  readonly outcome: 'refused';
  readonly cause: 'MIN_TRADE_AMOUNT' | 'MAX_TRADE_AMOUNT';
  /** For a person: the fault and the remedy. */
  readonly message: string;
}

/** A buy that pays `inputLovelace`, shares included. */
export function buy(
  pool: PoolState,
  fees: FeeParameters,
  inputLovelace: bigint,
): Exchange | Refusal {
  if (inputLovelace < fees.minTradeLovelace || inputLovelace <= 0n) return tooSmall(fees);
  const shares = sharesOfBuy(pool, fees, inputLovelace);
  const net = netOf(inputLovelace, shares);
  const tokens =
    pool.venue === 'CURVE'
      ? curveTokens(pool, fees, net)
      : ammTokens(pool, fees, inputLovelace, net);
  if (typeof tokens !== 'bigint') return tokens;
  if (tokens === 0n) return refusal('MIN_TRADE_AMOUNT', 'this amount buys no whole token');
  return {
    outcome: 'exchange',
    kind: 'buy',
    inputAmount: inputLovelace,
    outputAmount: tokens,
    shares,
    poolCoinLovelace: net,
    next: moved(pool, net, -tokens, shares),
  };
}

/** The buy with the least input that brings `tokens` or more. */
export function buyWithOutput(
  pool: PoolState,
  fees: FeeParameters,
  tokens: bigint,
): Exchange | Refusal {
  if (tokens <= 0n) return tooSmall(fees);
  if (tokens >= pool.y) return tooLarge(`the pool has ${pool.y} tokens and keeps one`);
  if (pool.venue === 'AMM' && pool.splash !== undefined) {
    return buy(pool, fees, splashIn(tokens, pool.x, pool.y, pool.splash));
  }
  const net =
    pool.venue === 'CURVE'
      ? costOf(pool.curve, soldOf(pool), tokens)
      : amountIn(tokens, pool.x, pool.y, fees.lpFeePer10k);
  return buy(pool, fees, inputForNet(pool.venue, fees, net));
}

/** A sell of `tokens`. */
export function sell(pool: PoolState, fees: FeeParameters, tokens: bigint): Exchange | Refusal {
  if (tokens <= 0n) return tooSmall(fees);
  const outside = supplyOf(pool) - pool.y;
  if (tokens > outside) return tooLarge(`only ${outside} tokens are outside the pool`);
  if (pool.venue === 'AMM' && pool.splash !== undefined) return sellToSplash(pool, fees, tokens);
  const gross =
    pool.venue === 'CURVE'
      ? sellLovelace(pool.curve, soldOf(pool), tokens)
      : amountOut(tokens, pool.y, pool.x, fees.lpFeePer10k);
  const shares = sharesOf(pool.venue, fees, gross);
  const net = netOf(gross, shares);
  if (gross < fees.minTradeLovelace || net <= 0n) return tooSmall(fees);
  if (pool.venue === 'CURVE' && reachedCap(pool)) return graduating();
  return {
    outcome: 'exchange',
    kind: 'sell',
    inputAmount: tokens,
    outputAmount: net,
    shares,
    poolCoinLovelace: gross,
    next: moved(pool, -gross, tokens, shares),
  };
}

function curveTokens(pool: CurvePool, fees: FeeParameters, net: bigint): bigint | Refusal {
  if (reachedCap(pool)) return graduating();
  const room = maxReserveLovelace(fees, pool.thresholdLovelace) - pool.x;
  if (net > room) return tooLarge(`at most ${room} lovelace may enter the pool before graduation`);
  const tokens = buyTokens(pool.curve, soldOf(pool), net);
  return tokens < pool.y ? tokens : tooLarge(`the pool has ${pool.y} tokens and keeps one`);
}

/** Treasury and royalty earn tokens by a sale, so that its coin side has no shares. */
function sellToSplash(pool: AmmPool, fees: FeeParameters, tokens: bigint): Exchange | Refusal {
  const { splash, x, y } = pool;
  assert(splash !== undefined, 'a pool of Splash');
  const lovelace = splashOut(tokens, y, x, splash);
  if (lovelace < fees.minTradeLovelace || lovelace <= 0n) return tooSmall(fees);
  const { treasury, royalty } = earnedOf(tokens, splash);
  return {
    outcome: 'exchange',
    kind: 'sell',
    inputAmount: tokens,
    outputAmount: lovelace,
    shares: NO_SHARES,
    poolCoinLovelace: lovelace,
    next: moved(pool, -lovelace, tokens - treasury - royalty, NO_SHARES),
  };
}

const NO_SHARES: Shares = { percentFee: 0n, platform: 0n, creator: 0n };

/** In a pool of Splash its treasury is the platform, and the royalty is the creator's. */
function sharesOfBuy(pool: PoolState, fees: FeeParameters, inputLovelace: bigint): Shares {
  if (pool.venue === 'CURVE' || pool.splash === undefined) {
    return sharesOf(pool.venue, fees, inputLovelace);
  }
  const { treasury, royalty } = earnedOf(inputLovelace, pool.splash);
  return { percentFee: 0n, platform: treasury, creator: royalty };
}

function ammTokens(pool: AmmPool, fees: FeeParameters, input: bigint, net: bigint): bigint {
  const { x, y, splash } = pool;
  return splash === undefined
    ? amountOut(net, x, y, fees.lpFeePer10k)
    : splashOut(input, x, y, splash);
}

function moved(pool: PoolState, coin: bigint, tokens: bigint, shares: Shares): PoolState {
  const reserves = { x: pool.x + coin, y: pool.y + tokens };
  // A pool of Splash keeps its debts in separate counters, outside its reserves.
  if (pool.venue === 'CURVE' || pool.splash !== undefined) return { ...pool, ...reserves };
  return { ...pool, ...reserves, owed: pool.owed + shares.creator };
}

function refusal(cause: Refusal['cause'], message: string): Refusal {
  return { outcome: 'refused', cause, message };
}

function tooSmall({ minTradeLovelace }: FeeParameters): Refusal {
  const least = `the coin side of a trade is at least ${minTradeLovelace} lovelace`;
  return refusal('MIN_TRADE_AMOUNT', `${least}; trade more`);
}

function tooLarge(reason: string): Refusal {
  return refusal('MAX_TRADE_AMOUNT', `${reason}; trade less`);
}

function graduating(): Refusal {
  const message = 'the pool reached its cap and is about to graduate; try again in a moment';
  return refusal('MAX_TRADE_AMOUNT', message);
}
