/**
 * Profit of one trader in one token, by average cost. Only fills count.
 *
 * - A buy adds its cost, every fee included, to the cost of the open tokens.
 * - A sell takes from them the share that it sells: open cost × sold / open tokens. The proceeds
 *   beyond that are realized; the rest of the cost stays open.
 * - Tokens sold beyond the open ones came by transfer. These tokens have no cost, and their share
 *   of the proceeds is no profit of trading: only received × matched / sold is realized.
 * - Open tokens are worth their spot price; that without their cost is unrealized.
 *
 * Shares are rounded to the lovelace, halves to even, and the remainder stays with the other part:
 * spent = cost of all sells + open cost, exactly.
 */
import { formatFixed, formatPrice } from './decimal.ts';
import { type Ratio, roundHalfEven } from './ratio.ts';

export interface Position {
  readonly buyCount: number;
  readonly sellCount: number;
  readonly boughtTokens: bigint;
  readonly soldTokens: bigint;
  readonly spentLovelace: bigint;
  readonly receivedLovelace: bigint;
  /** Bought and not sold again. */
  readonly openTokens: bigint;
  /** Cost of the open tokens. */
  readonly openCostLovelace: bigint;
  readonly realizedLovelace: bigint;
}

export const NO_POSITION: Position = {
  buyCount: 0,
  sellCount: 0,
  boughtTokens: 0n,
  soldTokens: 0n,
  spentLovelace: 0n,
  receivedLovelace: 0n,
  openTokens: 0n,
  openCostLovelace: 0n,
  realizedLovelace: 0n,
};

export function afterBuy(position: Position, tokens: bigint, lovelace: bigint): Position {
  return {
    ...position,
    buyCount: position.buyCount + 1,
    boughtTokens: position.boughtTokens + tokens,
    spentLovelace: position.spentLovelace + lovelace,
    openTokens: position.openTokens + tokens,
    openCostLovelace: position.openCostLovelace + lovelace,
  };
}

export function afterSell(position: Position, tokens: bigint, lovelace: bigint): Position {
  const { openTokens, openCostLovelace } = position;
  const matched = tokens < openTokens ? tokens : openTokens;
  const cost = shareOf(openCostLovelace, matched, openTokens);
  return {
    ...position,
    sellCount: position.sellCount + 1,
    soldTokens: position.soldTokens + tokens,
    receivedLovelace: position.receivedLovelace + lovelace,
    openTokens: openTokens - matched,
    openCostLovelace: openCostLovelace - cost,
    realizedLovelace: position.realizedLovelace + shareOf(lovelace, matched, tokens) - cost,
  };
}

/** Adds two wallets, each with its own average cost. */
export function addPositions(one: Position, other: Position): Position {
  return {
    buyCount: one.buyCount + other.buyCount,
    sellCount: one.sellCount + other.sellCount,
    boughtTokens: one.boughtTokens + other.boughtTokens,
    soldTokens: one.soldTokens + other.soldTokens,
    spentLovelace: one.spentLovelace + other.spentLovelace,
    receivedLovelace: one.receivedLovelace + other.receivedLovelace,
    openTokens: one.openTokens + other.openTokens,
    openCostLovelace: one.openCostLovelace + other.openCostLovelace,
    realizedLovelace: one.realizedLovelace + other.realizedLovelace,
  };
}

export function unrealizedLovelace({ openTokens, openCostLovelace }: Position, spot: Ratio) {
  return worthLovelace(openTokens, spot) - openCostLovelace;
}

/** `spot`: lovelace per token. */
export function worthLovelace(tokens: bigint, { numerator, denominator }: Ratio): bigint {
  return roundHalfEven({ numerator: tokens * numerator, denominator });
}

/** In ADA per token, as on charts; "0" where nothing was traded. */
export function averagePrice(lovelace: bigint, tokens: bigint): string {
  return tokens === 0n ? '0' : formatPrice(lovelace, tokens);
}

/** `gain` in percent of `invested`, which is positive: two decimals, a half to the even one. */
export function percentOf(gain: bigint, invested: bigint): string {
  const hundredths = roundHalfEven({ numerator: gain * 10_000n, denominator: invested });
  return formatFixed(hundredths, 2);
}

function shareOf(amount: bigint, part: bigint, whole: bigint): bigint {
  return part === 0n ? 0n : roundHalfEven({ numerator: amount * part, denominator: whole });
}
