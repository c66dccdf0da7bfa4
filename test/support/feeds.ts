/** Trade feeds as the program reads them: NDJSON lines. Real trades and candles: `test/data`. */
import assert from 'node:assert/strict';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { type Candle, dataCandles, dataRows } from './testData.ts';

export interface FeedTrade {
  readonly id: string;
  readonly timeMs: number;
  readonly base: string;
  readonly quote: string;
  readonly baseDecimals: number;
  readonly quoteDecimals: number;
  readonly baseAmount: bigint;
  readonly quoteAmount: bigint;
}

export interface PairIds {
  readonly base: string;
  readonly quote: string;
}

export const XRP_ETH: PairIds = {
  base: `${'a1'.repeat(28)}.585250`,
  quote: `${'e7'.repeat(28)}.455448`,
};
export const DOGE_COIN: PairIds = { base: `${'d0'.repeat(28)}.444f4745`, quote: '.' };

/** `text` (such as 0.00141342) in units of 10^-decimals; fails where it does not fit exactly. */
export function unitsOf(text: string, decimals: number): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  const kept = fraction.replace(/0+$/, '');
  assert(kept.length <= decimals, `${text} has at most ${decimals} decimals`);
  return BigInt(whole + kept.padEnd(decimals, '0'));
}

/** Units of 10^-decimals as a decimal without trailing zeros. */
export function decimalOf(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, '0');
  const cut = digits.length - decimals;
  return trimmed(`${digits.slice(0, cut)}.${digits.slice(cut)}`);
}

function trimmed(text: string): string {
  return text.includes('.') ? text.replace(/\.?0*$/, '') : text;
}

/** 12,477 trades in trade order. */
export function xrpTrades(): FeedTrade[] {
  return dataRows('xrp-eth/trades.csv.gz').map(([timeMs, id = '', price = '', amount = '']) => {
    const baseAmount = unitsOf(amount, 8);
    // Price and amount have 8 decimals each: 16 together, so 18 keep the product exact.
    const quoteAmount = unitsOf(price, 8) * baseAmount * 100n;
    const amounts = { baseDecimals: 8, quoteDecimals: 18, baseAmount, quoteAmount };
    return { id, timeMs: Number(timeMs), ...XRP_ETH, ...amounts };
  });
}

export function xrpCandles(interval: '1m' | '5m'): Candle[] {
  return dataCandles('xrp-eth', interval);
}

export function dogeCandles(interval: '5m' | '1h' | '1d' | '1w' | '1Mo'): Candle[] {
  return dataCandles('doge-usdt', interval);
}

export function btcCandles(interval: '1s' | '1m'): Candle[] {
  return dataCandles('btc-usd', interval);
}

/**
 * A traded bar as four trades, a second apart, that give the same bar: open, high, low, close, with
 * the volume in quarters. Prices have 5 decimals and quarters of whole volumes 2.
 */
export function tradesOfCandles(candles: readonly Candle[], pair: PairIds): FeedTrade[] {
  return candles.flatMap(({ time, open, high, low, close, baseVolume }) => {
    const baseAmount = unitsOf(baseVolume, 2) / 4n;
    return [open, high, low, close].map((price, index) => {
      const quoteAmount = unitsOf(price, 5) * baseAmount;
      const amounts = { baseDecimals: 2, quoteDecimals: 7, baseAmount, quoteAmount };
      return { id: `${time}-${index}`, timeMs: (time + index) * 1000, ...pair, ...amounts };
    });
  });
}

export function lineOf(trade: FeedTrade): string {
  const { baseAmount, quoteAmount } = trade;
  return JSON.stringify({
    ...trade,
    baseAmount: baseAmount.toString(),
    quoteAmount: quoteAmount.toString(),
  });
}

export function rollbackLine(toMs: number): string {
  return JSON.stringify({ rollbackToMs: toMs });
}

export function linesOf(trades: readonly FeedTrade[]): string {
  return trades.map((trade) => `${lineOf(trade)}\n`).join('');
}

/** The same trades in another order, each within its minute. */
export function shuffledWithinMinute(trades: readonly FeedTrade[], seed: number): FeedTrade[] {
  const rng = seededRng(seed);
  const keyed = trades.map((trade) => ({
    trade,
    minute: Math.floor(trade.timeMs / 60_000),
    at: rng.unit(),
  }));
  return keyed.sort((a, b) => a.minute - b.minute || a.at - b.at).map(({ trade }) => trade);
}

/** Every trade once, and about one in `every` again, right away or a little later. */
export function withDuplicates(
  trades: readonly FeedTrade[],
  seed: number,
  every: number,
): FeedTrade[] {
  const rng = seededRng(seed);
  const again: FeedTrade[] = [];
  return trades.flatMap((trade) => {
    if (rng.unit() * every < 1) again.push(trade);
    const due = rng.unit() < 0.3 ? again.splice(0) : [];
    return [trade, ...due];
  });
}

export const TOKEN_COIN: PairIds = { base: `${'c0'.repeat(28)}.746f6b`, quote: '.' };

/**
 * A trade of a made-up pair: `amount` tokens (no decimals) at `price`, which has 6 decimals as the
 * coin has.
 */
export function tradeAt(
  timeMs: number,
  price: string,
  more: { id?: string; amount?: bigint; pair?: PairIds } = {},
): FeedTrade {
  const { id = `${timeMs}`, amount = 10n, pair = TOKEN_COIN } = more;
  const quoteAmount = unitsOf(price, 6) * amount;
  const decimals = { baseDecimals: 0, quoteDecimals: 6 };
  return { id, timeMs, ...pair, ...decimals, baseAmount: amount, quoteAmount };
}
