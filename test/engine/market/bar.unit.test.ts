/** Bars do not depend on the order of arrival. Replay: `{ seed, path }` as printed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Big from 'big.js';
import fc from 'fast-check';
import { addBar, addTrade, type Bar, firstBar, MOVED_ALL } from '../../../src/engine/market/bar.ts';
import { decodeBar, encodeBar } from '../../../src/engine/market/barText.ts';
import { viewBar } from '../../../src/engine/market/barView.ts';
import { compareRatios, type Ratio, reduced } from '../../../src/engine/market/ratio.ts';
import {
  intervalStart,
  RESOLUTIONS,
  type Resolution,
} from '../../../src/engine/market/resolution.ts';
import type { Trade } from '../../../src/engine/market/trade.ts';
import { anyTrades, shuffled, withSteps } from '../../support/anyTrade.ts';

const someTrades = anyTrades(fc.nat(4));
const ofPools = fc.oneof(someTrades, someTrades.chain(withSteps));
const inAnyOrder = ofPools.chain((trades) =>
  fc.tuple(fc.constant(trades), shuffled(trades), shuffled(trades)),
);

function barOf(trades: readonly Trade[]): Bar {
  const [first, ...others] = trades;
  assert.ok(first !== undefined);
  const bar = firstBar(0, first);
  for (const trade of others) addTrade(bar, trade);
  return bar;
}

test('the same trades in any order make the same bar', () => {
  fc.assert(
    fc.property(inAnyOrder, ([trades, one, two]) => {
      assert.deepEqual(plain(barOf(one)), plain(barOf(trades)));
      assert.deepEqual(plain(barOf(two)), plain(barOf(trades)));
    }),
    { includeErrorInReport: true, numRuns: 1_000 },
  );
});

test('bars of parts of the trades, in any order, add up to the bar of all', () => {
  fc.assert(
    fc.property(inAnyOrder, fc.array(fc.nat(4), { minLength: 1 }), ([trades, mixed], lengths) => {
      const sum = barOf(trades.slice(0, 1));
      const rest = mixed.filter(({ id }) => id !== trades[0]?.id);
      for (let index = 0, turn = 0; index < rest.length; turn += 1) {
        const length = 1 + (lengths[turn % lengths.length] ?? 0);
        addBar(sum, barOf(rest.slice(index, index + length)), MOVED_ALL);
        index += length;
      }
      assert.deepEqual(plain(sum), plain(barOf(trades)));
    }),
    { includeErrorInReport: true, numRuns: 1_000 },
  );
});

/** Equal spots may come as different ratios: which one stays depends on the order. */
function plain({ pool, ...bar }: Bar): object {
  if (pool === null) return { ...bar, text: encodeBar({ ...bar, pool }) };
  const value = ({ numerator, denominator }: Ratio) => {
    const { numerator: top, denominator: bottom } = reduced(numerator, denominator);
    return `${top}/${bottom}`;
  };
  const { buys, open, high, low, close } = pool;
  return { ...bar, buys, spots: [open, high, low, close].map(value) };
}

test('the range of a pool spans the spots before and after every trade', () => {
  fc.assert(
    fc.property(someTrades.chain(withSteps), (trades) => {
      const { open, close, pool } = barOf(trades);
      assert.ok(pool !== null);
      const step = ({ id }: Trade) => trades.find((trade) => trade.id === id)?.step;
      assert.deepEqual(pool.open, step(open)?.before);
      assert.deepEqual(pool.close, step(close)?.after);
      const ends = trades.flatMap(({ step: of }) =>
        of === undefined ? [] : [of.before, of.after],
      );
      assert.ok(ends.every((end) => compareRatios(end, pool.high) <= 0));
      assert.ok(ends.every((end) => compareRatios(pool.low, end) <= 0));
      assert.ok(ends.includes(pool.high) && ends.includes(pool.low));
      assert.equal(pool.buys, trades.filter((trade) => trade.step?.isBuy === true).length);
    }),
  );
});

test('open and close are the first and last trade, high and low the extreme prices', () => {
  fc.assert(
    fc.property(someTrades, (trades) => {
      const bar = barOf(trades);
      const times = trades.map(({ timeMs }) => timeMs);
      assert.equal(bar.open.timeMs, Math.min(...times));
      assert.equal(bar.close.timeMs, Math.max(...times));
      const below = (a: Trade, b: Trade) =>
        a.quoteAmount * b.baseAmount < b.quoteAmount * a.baseAmount;
      assert.ok(trades.every((trade) => !below(bar.high, trade) && !below(trade, bar.low)));
      const sum = (amounts: bigint[]) => amounts.reduce((a, b) => a + b, 0n);
      assert.equal(bar.baseVolume, sum(trades.map(({ baseAmount }) => baseAmount)));
      assert.equal(bar.quoteVolume, sum(trades.map(({ quoteAmount }) => quoteAmount)));
      assert.equal(bar.trades, trades.length);
    }),
  );
});

test('at equal prices, the earlier trade is the high and the low', () => {
  const at = (timeMs: number, factor: bigint) => {
    return { id: String(timeMs), timeMs, baseAmount: 3n * factor, quoteAmount: 2n * factor };
  };
  const bar = barOf([at(2, 5n), at(1, 7n), at(3, 1n)]);
  assert.equal(bar.high.id, '1');
  assert.equal(bar.low.id, '1');
});

const NESTED: Readonly<Record<Resolution, Resolution | null>> = {
  min1: null,
  min5: 'min1',
  hour1: 'min5',
  day1: 'hour1',
  week1: 'day1',
  month1: 'day1',
};

test('a trade that did not move a finer bar needs no comparison with the coarser one', () => {
  const times = fc.oneof(fc.nat(10_000), fc.nat(4_000_000), fc.nat(3_000_000_000));
  fc.assert(
    fc.property(anyTrades(times, 40), (trades) => {
      const skipping = new Map<string, Bar>();
      const naive = new Map<string, Bar>();
      for (const trade of trades) {
        const moved = new Map<Resolution, number>();
        for (const resolution of RESOLUTIONS) {
          const finer = NESTED[resolution];
          const candidates = finer === null ? MOVED_ALL : (moved.get(finer) ?? MOVED_ALL);
          moved.set(resolution, addTo(skipping, resolution, trade, candidates));
          addTo(naive, resolution, trade, MOVED_ALL);
        }
      }
      assert.deepEqual(skipping, naive);
    }),
    { includeErrorInReport: true, numRuns: 500 },
  );
});

function addTo(bars: Map<string, Bar>, resolution: Resolution, trade: Trade, candidates: number) {
  const startMs = intervalStart(resolution, trade.timeMs);
  const bar = bars.get(`${resolution} ${startMs}`);
  if (bar !== undefined) return addBar(bar, firstBar(startMs, trade), candidates);
  bars.set(`${resolution} ${startMs}`, firstBar(startMs, trade));
  return MOVED_ALL;
}

/** Without its step, which a bar keeps in its range. */
function stored({ id, timeMs, baseAmount, quoteAmount }: Trade): Trade {
  return { id, timeMs, baseAmount, quoteAmount };
}

test('a stored bar reads back as it was', () => {
  fc.assert(
    fc.property(ofPools, fc.boolean(), (trades, final) => {
      const bar = { ...barOf(trades), final };
      const text = encodeBar(bar);
      const { open, high, low, close } = bar;
      const ends = {
        open: stored(open),
        high: stored(high),
        low: stored(low),
        close: stored(close),
      };
      assert.deepEqual(decodeBar(0, text), { ...bar, ...ends });
      assert.equal(encodeBar(decodeBar(0, text)), text);
    }),
  );
});

test('a damaged row is refused, not read as something else', () => {
  const trade = { id: 'a', timeMs: 5, baseAmount: 3n, quoteAmount: 4n };
  const fields = encodeBar(firstBar(0, trade)).split('\t');
  const damaged = (index: number, field: string) => fields.with(index, field).join('\t');
  for (const text of [
    '',
    'x',
    fields.slice(1).join('\t'),
    `${fields.join('\t')}\t0`,
    ...[0, 2, 3, 16, 17, 18, 19, 20].map((index) => damaged(index, 'x')),
    ...fields.map((_field, index) => damaged(index, '')),
  ]) {
    assert.throws(() => decodeBar(0, text), `${JSON.stringify(text)} is no bar`);
  }
  const before = { numerator: 1n, denominator: 3n };
  const after = { numerator: 2n, denominator: 3n };
  const ofPool = encodeBar(firstBar(0, { ...trade, step: { isBuy: true, before, after } }));
  const poolFields = ofPool.split('\t');
  assert.deepEqual(poolFields.slice(19, 24), ['1', '1/3', 'c', 'o', '2/3']);
  for (const index of [19, 20, 21, 22, 23]) {
    for (const field of ['x', '', '1/0', '1/2/3', '-1', '2']) {
      const text = poolFields.with(index, field).join('\t');
      assert.throws(() => decodeBar(0, text), `${JSON.stringify(text)} is no bar`);
    }
  }
});

test('a pair read backwards shows the exact inversion of the same trades', () => {
  Big.DP = 18;
  Big.RM = Big.roundHalfEven;
  const decimals = fc.integer({ min: 0, max: 24 });
  fc.assert(
    fc.property(someTrades, decimals, decimals, (trades, baseDecimals, quoteDecimals) => {
      const bar = barOf(trades);
      const pair = { id: 1, base: '.', quote: 'x', baseDecimals, quoteDecimals };
      const price = ({ baseAmount, quoteAmount }: Trade) => {
        const base = new Big(baseAmount.toString()).times(new Big(10).pow(quoteDecimals));
        const quote = new Big(quoteAmount.toString()).times(new Big(10).pow(baseDecimals));
        return { straight: quote.div(base).toFixed(), inverted: base.div(quote).toFixed() };
      };
      const straight = viewBar(pair, bar, false);
      const inverted = viewBar(pair, bar, true);
      for (const [end, other] of [
        ['open', 'open'],
        ['high', 'low'],
        ['low', 'high'],
        ['close', 'close'],
      ] as const) {
        assert.equal(straight[end], price(bar[end]).straight);
        assert.equal(inverted[end], price(bar[other]).inverted);
      }
      assert.equal(inverted.volume, straight.baseVolume);
      assert.equal(inverted.baseVolume, straight.volume);
      assert.equal(inverted.trades, straight.trades);
      assert.equal(inverted.time, straight.time);
    }),
  );
});
