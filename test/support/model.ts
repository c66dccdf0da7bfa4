/**
 * The right bars, computed from all trades at once in a slow and plain way: the oracle for
 * resolutions that no exchange gave us, and for filled charts. Shares no code with
 * src/engine/market.
 */
import assert from 'node:assert/strict';
import { decimalOf, type FeedTrade } from './feeds.ts';

export const INTERVALS = ['min1', 'min5', 'hour1', 'day1', 'week1', 'month1'] as const;
export type Interval = (typeof INTERVALS)[number];

/** A bar as the API gives it, without pair and `final`. */
interface ModelBar {
  readonly time: number;
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly volume: string;
  readonly baseVolume: string;
  readonly trades: number;
}

const SECONDS: Readonly<Record<string, number>> = { min1: 60, min5: 300, hour1: 3600 };

/** Start in Unix seconds of the interval around a moment in milliseconds. */
export function startOf(interval: Interval, timeMs: number): number {
  const seconds = SECONDS[interval];
  if (seconds !== undefined) return Math.floor(timeMs / 1000 / seconds) * seconds;
  const date = new Date(timeMs);
  date.setUTCHours(0, 0, 0, 0);
  if (interval === 'week1') date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  if (interval === 'month1') date.setUTCDate(1);
  return date.getTime() / 1000;
}

/** Price in 10^-18; fails where 18 decimals do not hold it. */
function priceOf(trade: FeedTrade): bigint {
  const top = trade.quoteAmount * 10n ** BigInt(trade.baseDecimals + 18);
  const bottom = trade.baseAmount * 10n ** BigInt(trade.quoteDecimals);
  assert.equal(top % bottom, 0n, 'the price has at most 18 decimals');
  return top / bottom;
}

/** Bars of one pair's trades, oldest first. */
export function barsOf(trades: readonly FeedTrade[], interval: Interval): ModelBar[] {
  const groups = new Map<number, FeedTrade[]>();
  for (const trade of trades) {
    const time = startOf(interval, trade.timeMs);
    const group = groups.get(time);
    if (group === undefined) groups.set(time, [trade]);
    else group.push(trade);
  }
  return [...groups].sort(([a], [b]) => a - b).map(([time, group]) => barOf(time, group));
}

function barOf(time: number, group: FeedTrade[]): ModelBar {
  const ordered = group.toSorted(byTimeThenId);
  const prices = ordered.map(priceOf);
  const [first] = ordered;
  assert(first !== undefined);
  const text = (price: bigint | undefined) => decimalOf(price ?? 0n, 18);
  const sum = (of: (trade: FeedTrade) => bigint) =>
    ordered.reduce((total, trade) => total + of(trade), 0n);
  return {
    time,
    open: text(prices[0]),
    high: text(prices.reduce((a, b) => (a > b ? a : b))),
    low: text(prices.reduce((a, b) => (a < b ? a : b))),
    close: text(prices.at(-1)),
    volume: decimalOf(
      sum(({ quoteAmount }) => quoteAmount),
      first.quoteDecimals,
    ),
    baseVolume: decimalOf(
      sum(({ baseAmount }) => baseAmount),
      first.baseDecimals,
    ),
    trades: ordered.length,
  };
}

function byTimeThenId(a: FeedTrade, b: FeedTrade): number {
  const byText = a.id < b.id ? -1 : 1;
  return a.timeMs - b.timeMs || a.id.length - b.id.length || (a.id === b.id ? 0 : byText);
}
