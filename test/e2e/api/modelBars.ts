/** Bars of price and market cap, each made again from all trades of its interval. */
import assert from 'node:assert/strict';
import { type Interval, startOf } from '../../support/model.ts';
import { endOf } from '../market.ts';
import { adaPrice, compareRatios, decimal, LOVELACE_PER_ADA, type Ratio, sum } from './exact.ts';
import type { Launch, Trade } from './modelChain.ts';
import { capOf } from './modelVenue.ts';

export interface BarsSpec {
  readonly token: string;
  readonly interval: Interval;
  /** Seconds. */
  readonly from?: number;
  readonly to?: number;
  readonly fill?: 'none' | 'previous';
  readonly isReversed?: boolean;
}

interface Frame {
  readonly time: number;
  readonly trades: readonly Trade[];
  /** The trade before the interval's first; for flat bars. */
  readonly before: Trade | undefined;
}

/** The data that a market's bars are made from. */
export interface Tape {
  readonly trades: readonly Trade[];
  readonly launch: Launch;
  readonly spot: Ratio;
  readonly marketMs: number;
}

/** Intervals with trades, and for `previous` those between the first trade and now without. */
function framesOf({ trades, marketMs }: Tape, spec: BarsSpec): Frame[] {
  const { interval, from = 0, to = Number.MAX_SAFE_INTEGER, fill = 'none' } = spec;
  const startAt = (trade: Trade) => startOf(interval, trade.at.timeMs);
  const [first] = trades;
  if (first === undefined) return [];
  const starts = new Set(trades.map(startAt));
  if (fill === 'previous') {
    const until = Math.min(to, marketMs / 1000);
    for (let time = startAt(first); time < until; time = endOf(interval, time)) starts.add(time);
  }
  return [...starts]
    .filter((time) => from <= time && time < to)
    .sort((a, b) => a - b)
    .map((time) => ({
      time,
      trades: trades.filter((trade) => startAt(trade) === time),
      before: trades.findLast((trade) => startAt(trade) < time),
    }));
}

function least(prices: readonly Ratio[]): Ratio {
  return prices.reduce((a, b) => (compareRatios(a, b) <= 0 ? a : b));
}

function most(prices: readonly Ratio[]): Ratio {
  return prices.reduce((a, b) => (compareRatios(a, b) >= 0 ? a : b));
}

function ends(tape: Tape, interval: Interval, time: number) {
  const end = endOf(interval, time) * 1000;
  const final = end <= tape.marketMs;
  return { final, isRelevant: time * 1000 <= tape.marketMs && !final };
}

/** Lovelace per token; the wire writes ADA per token, or tokens per ADA for the reversed pair. */
function barOf(tape: Tape, spec: BarsSpec, time: number, trades: readonly Trade[], flat: Ratio) {
  const { token, interval, isReversed = false } = spec;
  const moving = trades.map(({ lovelace, tokens }) => ({ n: lovelace, d: tokens }));
  const prices = moving.length === 0 ? [flat] : moving;
  const text = ({ n, d }: Ratio) =>
    isReversed ? decimal({ n: d * LOVELACE_PER_ADA, d: n }) : adaPrice({ n, d });
  const [low, high] = isReversed ? [most(prices), least(prices)] : [least(prices), most(prices)];
  const coin = decimal({ n: sum(trades.map(({ lovelace }) => lovelace)), d: LOVELACE_PER_ADA });
  const tokens = String(sum(trades.map(({ tokens: moved }) => moved)));
  return {
    pair: isReversed ? { base: '.', quote: token } : { base: token, quote: '.' },
    time,
    low: text(low),
    high: text(high),
    open: text(prices[0] ?? flat),
    close: text(prices.at(-1) ?? flat),
    volume: isReversed ? tokens : coin,
    baseVolume: isReversed ? coin : tokens,
    trades: trades.length,
    final: ends(tape, interval, time).final,
  };
}

function capBarOf(tape: Tape, spec: BarsSpec, time: number, trades: readonly Trade[], flat: Ratio) {
  const { token, interval } = spec;
  const moving = trades.map(({ spotAfter }) => capOf(spotAfter));
  const caps = moving.length === 0 ? [capOf(flat)] : moving;
  const close = adaPrice(caps.at(-1) ?? flat);
  const { final, isRelevant } = ends(tape, interval, time);
  return {
    pair: { base: token, quote: '.' },
    time,
    mCap: close,
    isRelevant,
    open: adaPrice(caps[0] ?? flat),
    high: adaPrice(most(caps)),
    low: adaPrice(least(caps)),
    close,
    trades: trades.length,
    final,
  };
}

export type Bar = ReturnType<typeof barOf>;
export type CapBar = ReturnType<typeof capBarOf>;

/** Trades that moved both tokens and lovelace: others have no price. */
export function priced(trades: readonly Trade[]): Trade[] {
  return trades.filter(({ tokens, lovelace }) => tokens > 0n && lovelace > 0n);
}

export function barsOf(tape: Tape, spec: BarsSpec): Bar[] {
  return framesOf(tape, spec).map(({ time, trades, before }) => {
    const flat = before === undefined ? tape.spot : { n: before.lovelace, d: before.tokens };
    return barOf(tape, spec, time, trades, flat);
  });
}

export function capBarsOf(tape: Tape, spec: BarsSpec): CapBar[] {
  return framesOf(tape, spec).map(({ time, trades, before }) =>
    capBarOf(tape, spec, time, trades, before?.spotAfter ?? tape.spot),
  );
}

/** The newest bar; before the first trade, a bar of the launch's interval at spot. */
export function lastBar(tape: Tape, spec: BarsSpec): Bar {
  const launched = startOf(spec.interval, tape.launch.made.timeMs);
  return barsOf(tape, spec).at(-1) ?? barOf(tape, spec, launched, [], tape.spot);
}

export function lastCapBar(tape: Tape, spec: BarsSpec): CapBar {
  const launched = startOf(spec.interval, tape.launch.made.timeMs);
  return capBarsOf(tape, spec).at(-1) ?? capBarOf(tape, spec, launched, [], tape.spot);
}

export function isRelevant(tape: Tape, interval: Interval, { time }: { time: number }): boolean {
  assert(Number.isInteger(time));
  return ends(tape, interval, time).isRelevant;
}
