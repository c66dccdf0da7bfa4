/** Real trades and the exchanges' own candles: independent data that judges our bars. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addTrade, type Bar, firstBar } from '../../../src/engine/market/bar.ts';
import { viewBar } from '../../../src/engine/market/barView.ts';
import { intervalStart, type Resolution } from '../../../src/engine/market/resolution.ts';
import type { Trade } from '../../../src/engine/market/trade.ts';
import {
  btcCandles,
  DOGE_COIN,
  dogeCandles,
  type FeedTrade,
  shuffledWithinMinute,
  tradesOfCandles,
  unitsOf,
  xrpCandles,
  xrpTrades,
} from '../../support/feeds.ts';
import type { Candle } from '../../support/testData.ts';

/** The trades' bars as candles; all are of one pair. */
function candlesOf(trades: readonly FeedTrade[], resolution: Resolution): Candle[] {
  const bars = new Map<number, Bar>();
  for (const { id, timeMs, baseAmount, quoteAmount } of trades) {
    const trade: Trade = { id, timeMs, baseAmount, quoteAmount };
    const startMs = intervalStart(resolution, timeMs);
    const bar = bars.get(startMs);
    if (bar === undefined) bars.set(startMs, firstBar(startMs, trade));
    else addTrade(bar, trade);
  }
  const [any] = trades;
  assert.ok(any !== undefined);
  const { base, quote, baseDecimals, quoteDecimals } = any;
  const pair = { id: 1, base, quote, baseDecimals, quoteDecimals };
  return [...bars.values()]
    .map((bar) => viewBar(pair, bar, false))
    .map(({ time, open, high, low, close, baseVolume }) => ({
      time,
      open,
      high,
      low,
      close,
      baseVolume,
    }))
    .sort((a, b) => a.time - b.time);
}

test('XRP/ETH trades make every candle of the exchange, and no other', () => {
  const trades = xrpTrades();
  assert.equal(trades.length, 12_477);
  const minutes = xrpCandles('1m');
  const fives = xrpCandles('5m');
  assert.equal(minutes.length, 2469);
  assert.equal(fives.length, 706);
  for (const order of [trades, shuffledWithinMinute(trades, 7), trades.toReversed()]) {
    assert.deepEqual(candlesOf(order, 'min1'), minutes);
    assert.deepEqual(candlesOf(order, 'min5'), fives);
  }
});

const DOGE = [
  ['5m', 'hour1', '1h'],
  ['5m', 'day1', '1d'],
  ['5m', 'week1', '1w'],
  ['5m', 'month1', '1Mo'],
  ['1h', 'day1', '1d'],
  ['1h', 'week1', '1w'],
  ['1h', 'month1', '1Mo'],
  ['1d', 'week1', '1w'],
  ['1d', 'month1', '1Mo'],
] as const;

for (const [fine, resolution, coarse] of DOGE) {
  test(`DOGE/USDT: ${fine} candles roll up to ${coarse}`, () => {
    const candles = dogeCandles(fine);
    const expected = dogeCandles(coarse);
    const made = candlesOf(tradesOfCandles(candles, DOGE_COIN), resolution);
    // The files end on different days: the last candle of each may lack its end.
    const whole = expected.length - 1;
    assert.ok(whole >= 7 && made.length >= whole);
    assert.deepEqual(made.slice(0, whole), expected.slice(0, whole));
  });
}

test('BTC/USD: seconds roll up to every minute', () => {
  const seconds = btcCandles('1s');
  const minutes = btcCandles('1m');
  const ticks = seconds.flatMap(({ time, open, high, low, close, baseVolume }) =>
    [open, high, low, close].map((price, index): FeedTrade => {
      // The first tick has nearly the whole volume of its second; the others weigh a unit of 10^-12
      // each.
      const baseAmount = index === 0 ? unitsOf(baseVolume, 12) - 3n : 1n;
      const quoteAmount = unitsOf(price, 2) * baseAmount;
      const amounts = { baseDecimals: 12, quoteDecimals: 14, baseAmount, quoteAmount };
      return { id: `${time}-${index}`, timeMs: time * 1000 + index, ...DOGE_COIN, ...amounts };
    }),
  );
  assert.equal(minutes.length, 1419);
  assert.deepEqual(candlesOf(ticks, 'min1'), minutes);
});
