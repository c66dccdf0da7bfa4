/**
 * A bar as a chart shows it: seconds and decimal strings. A pair read backwards (quote per base
 * turned round) is served by exact inversion of the same trades.
 */
import type { Bar } from './bar.ts';
import { formatBase, formatPrice, formatQuote, type Pair } from './pair.ts';

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

export function viewBar(pair: Pair, bar: Bar, inverted: boolean): BarView {
  return {
    time: bar.startMs / 1000,
    low: formatPrice(pair, inverted ? bar.high : bar.low, inverted),
    high: formatPrice(pair, inverted ? bar.low : bar.high, inverted),
    open: formatPrice(pair, bar.open, inverted),
    close: formatPrice(pair, bar.close, inverted),
    volume: inverted ? formatBase(pair, bar.baseVolume) : formatQuote(pair, bar.quoteVolume),
    baseVolume: inverted ? formatQuote(pair, bar.quoteVolume) : formatBase(pair, bar.baseVolume),
    trades: bar.trades,
    final: bar.final,
  };
}
