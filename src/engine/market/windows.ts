/**
 * The windows of a ticker: 5 minutes, 1 hour, 6 hours and 24 hours. A window of length w at market
 * time M, cut to the minute, holds the trades with time ≥ M − w, which are whole minutes.
 * Source: protocol.md section 9.1.
 */
import type { Bar } from './bar.ts';
import { compareRatios, type Ratio } from './ratio.ts';
import { MINUTE_MS } from './resolution.ts';
import type { Trade } from './trade.ts';

export const WINDOWS = ['5m', '1h', '6h', '24h'] as const;
export type Window = (typeof WINDOWS)[number];

export const WINDOW_MS: Readonly<Record<Window, number>> = {
  '5m': 5 * MINUTE_MS,
  '1h': 60 * MINUTE_MS,
  '6h': 360 * MINUTE_MS,
  '24h': 1440 * MINUTE_MS,
};

export interface Sums {
  /** Smallest units of the quote. */
  readonly volume: bigint;
  readonly trades: number;
  /** 0 of a pair without a pool, of which the sides are unknown. */
  readonly buys: number;
}

/** Prices are smallest quote units for one smallest base unit. */
export interface Range {
  readonly high: Ratio;
  readonly low: Ratio;
}

/** `bar`: all trades of a window; null: it has none. */
export function sumsOf(bar: Bar | null): Sums {
  if (bar === null) return { volume: 0n, trades: 0, buys: 0 };
  return { volume: bar.quoteVolume, trades: bar.trades, buys: bar.pool?.buys ?? 0 };
}

/**
 * Highest and lowest price of a window. `before` is the price at its start. The bar of a pool
 * already has it; a pair without a pool has only the prices of its trades.
 */
export function rangeOf(bar: Bar, before: Ratio | null): Range {
  if (bar.pool !== null) return bar.pool;
  const [high, low] = [priceOf(bar.high), priceOf(bar.low)];
  if (before === null) return { high, low };
  return {
    high: compareRatios(before, high) > 0 ? before : high,
    low: compareRatios(before, low) < 0 ? before : low,
  };
}

/** The price after the last trade. */
export function closeOf({ pool, close }: Bar): Ratio {
  return pool?.close ?? priceOf(close);
}

function priceOf({ quoteAmount, baseAmount }: Trade): Ratio {
  return { numerator: quoteAmount, denominator: baseAmount };
}
