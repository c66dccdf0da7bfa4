/**
 * A bar as a chart shows it: seconds and decimal strings. A pair read backwards (quote per base
 * turned round) is served by exact inversion of the same trades.
 */
import type { Bar } from './bar.ts';
import { formatBase, formatPrice, formatQuote, type Pair } from './pair.ts';
import type { Ratio } from './ratio.ts';
import { comparePrices, type Trade } from './trade.ts';

export interface BarView {
  /** Start of the interval, Unix seconds. */
  readonly time: number;
  readonly low: string;
  readonly high: string;
  readonly open: string;
  readonly close: string;
  /** In the quote asset of the pair as it was asked for. */
  readonly volume: string;
  readonly baseVolume: string;
  readonly trades: number;
  readonly final: boolean;
}

/**
 * The kind of a bar's prices. `trade`: of its trades. `spot`: the market's price before and after
 * each trade, so that the bars of a chart connect.
 */
export const PRICE_KINDS = ['trade', 'spot'] as const;
export type PriceKind = (typeof PRICE_KINDS)[number];

type Price = Pick<Trade, 'baseAmount' | 'quoteAmount'>;

interface Ends {
  readonly open: Price;
  readonly high: Price;
  readonly low: Price;
  readonly close: Price;
}

export function viewBar(pair: Pair, bar: Bar, inverted: boolean): BarView {
  return viewEnds(pair, bar, bar, inverted);
}

/** `previous`: the traded bar before, asked only of a pair without a pool; null: there is none. */
export function viewSpotBar(
  pair: Pair,
  bar: Bar,
  previous: () => Bar | null,
  inverted: boolean,
): BarView {
  return viewEnds(pair, bar, spotEnds(bar, previous), inverted);
}

/** Without a pool, the spot is the price of the last trade. */
function spotEnds(bar: Bar, previous: () => Bar | null): Ends {
  if (bar.pool !== null) {
    const { open, high, low, close } = bar.pool;
    const prices = { open: priceOf(open), high: priceOf(high), close: priceOf(close) };
    return { ...prices, low: priceOf(low) };
  }
  const { high, low, close } = bar;
  const open = previous()?.close ?? bar.open;
  return {
    open,
    high: comparePrices(open, high) > 0 ? open : high,
    low: comparePrices(open, low) < 0 ? open : low,
    close,
  };
}

function priceOf({ numerator, denominator }: Ratio): Price {
  return { quoteAmount: numerator, baseAmount: denominator };
}

function viewEnds(pair: Pair, bar: Bar, ends: Ends, inverted: boolean): BarView {
  const open = formatPrice(pair, ends.open, inverted);
  const close = ends.close === ends.open ? open : formatPrice(pair, ends.close, inverted);
  // In a bar of few trades these are often the open or the close.
  const shown = (price: Price) =>
    price === ends.open ? open : price === ends.close ? close : formatPrice(pair, price, inverted);
  return {
    time: bar.startMs / 1000,
    low: shown(inverted ? ends.high : ends.low),
    high: shown(inverted ? ends.low : ends.high),
    open,
    close,
    volume: inverted ? formatBase(pair, bar.baseVolume) : formatQuote(pair, bar.quoteVolume),
    baseVolume: inverted ? formatQuote(pair, bar.quoteVolume) : formatBase(pair, bar.baseVolume),
    trades: bar.trades,
    final: bar.final,
  };
}
