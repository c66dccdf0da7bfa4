/** The fill rule against a model that looks at every interval. Replay: `{ seed, path }`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { BarView } from '../../../src/engine/market/barView.ts';
import { type FillSpan, fillPrevious } from '../../../src/engine/market/flatBars.ts';
import { intervalEnd, intervalStart, RESOLUTIONS } from '../../../src/engine/market/resolution.ts';

const START_MS = Date.UTC(2024, 0, 15);

function tradedBar(startMs: number, close: string): BarView {
  const prices = { open: '9', high: '9', low: '1', close };
  return { time: startMs / 1000, ...prices, volume: '5', baseVolume: '7', trades: 3, final: true };
}

/** Every interval of the span in turn, oldest first: the bar, or a flat one, or nothing yet. */
function naiveFill(traded: readonly BarView[], span: FillSpan): BarView[] {
  const { resolution, fromMs, toMs, marketMs } = span;
  const byTime = new Map(traded.map((bar) => [bar.time * 1000, bar]));
  const bars: BarView[] = [];
  let close = span.previousClose;
  const firstMs = intervalStart(resolution, fromMs);
  for (let startMs = firstMs; startMs < toMs; startMs = intervalEnd(resolution, startMs)) {
    if (startMs < fromMs) continue;
    const bar = byTime.get(startMs);
    if (bar !== undefined) {
      bars.push(bar);
      close = bar.close;
    } else if (close !== null && startMs < marketMs) {
      const final = intervalEnd(resolution, startMs) <= marketMs;
      const flat = { open: close, high: close, low: close, close, volume: '0', baseVolume: '0' };
      bars.push({ time: startMs / 1000, ...flat, trades: 0, final });
    }
  }
  return bars;
}

const anyCase = fc
  .record({
    resolution: fc.constantFrom(...RESOLUTIONS),
    /** Intervals, counted from START_MS, that traded. */
    traded: fc.uniqueArray(fc.nat(30), { maxLength: 12 }),
    from: fc.nat(20),
    length: fc.integer({ min: 1, max: 30 }),
    market: fc.nat(40),
    aside: fc.constantFrom(0, 1, 17_000),
    before: fc.option(fc.constantFrom('4', '5')),
    limit: fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(5_000)),
  })
  .map(({ resolution, traded, from, length, market, aside, before, limit }) => {
    const starts = [intervalStart(resolution, START_MS)];
    const start = (index: number): number => {
      for (let last = starts.at(-1) ?? 0; starts.length <= index; last = starts.at(-1) ?? 0) {
        starts.push(intervalEnd(resolution, last));
      }
      return starts[index] ?? 0;
    };
    const fromMs = start(from) + aside;
    const toMs = start(from + length) + aside;
    const marketMs = start(market) + aside;
    const bars = traded
      .toSorted((a, b) => a - b)
      .map((index) => tradedBar(start(index), String(index)))
      .filter(({ time }) => time * 1000 >= fromMs && time * 1000 < toMs);
    const span: FillSpan = { resolution, fromMs, toMs, marketMs, previousClose: before, limit };
    return { bars, span };
  });

test('filled bars are those of the naive model, cut to the newest ones', () => {
  fc.assert(
    fc.property(anyCase, ({ bars, span }) => {
      const all = naiveFill(bars, span);
      const filled = fillPrevious(bars, span);
      assert.deepEqual(filled.bars, all.slice(-span.limit));
      assert.equal(filled.cut, all.length > span.limit);
    }),
    { includeErrorInReport: true, numRuns: 3_000 },
  );
});

test('flat bars end before market time, also where a trade ran ahead of it', () => {
  const resolution = 'min1' as const;
  const traded = [tradedBar(START_MS, '2'), tradedBar(START_MS + 300_000, '3')];
  const { bars } = fillPrevious(traded, {
    resolution,
    fromMs: START_MS,
    toMs: START_MS + 600_000,
    marketMs: START_MS + 90_000,
    previousClose: null,
    limit: 100,
  });
  assert.deepEqual(
    bars.map(({ time, trades, final }) => [time - START_MS / 1000, trades, final]),
    [
      [0, 3, true],
      [60, 0, false],
      [300, 3, true],
    ],
  );
});

test('a span of years costs no more than its limit', () => {
  const span = { resolution: 'min1', fromMs: 0, toMs: 250_000_000_000_000 } as const;
  const marketMs = 250_000_000_000_000;
  const { bars, cut } = fillPrevious([], { ...span, marketMs, previousClose: '1', limit: 3 });
  assert.equal(bars.length, 3);
  assert.ok(cut);
});
