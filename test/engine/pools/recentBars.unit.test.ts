/**
 * Windows and sparks equal a recount of all trades after late trades and after any steps of market
 * time. A failure prints its seed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { addTrade, type Bar, firstBar } from '../../../src/engine/market/bar.ts';
import { compareRatios, type Ratio } from '../../../src/engine/market/ratio.ts';
import { HOUR_MS, intervalStart, MINUTE_MS } from '../../../src/engine/market/resolution.ts';
import { compareTrades, type Trade } from '../../../src/engine/market/trade.ts';
import { WINDOW_MS, WINDOWS, type Window } from '../../../src/engine/market/windows.ts';
import { type CurrentBars, KEPT_MS, RecentBars } from '../../../src/engine/pools/recentBars.ts';

const DAY_MS = 24 * HOUR_MS;
/** A Monday, twenty minutes after an hour began. */
const BEGIN_MS = Date.UTC(2026, 0, 5, 7, 20);

interface Made {
  readonly timeMs: number;
  readonly base: number;
  readonly quote: number;
  readonly isBuy: boolean;
}

/** A pair: its trades in the order in which they came, and the bars that they make. */
class PairModel {
  readonly trades: Trade[] = [];
  readonly #hasPool: boolean;
  readonly #bars = { min1: new Map<number, Bar>(), hour1: new Map<number, Bar>() };
  reads = 0;

  constructor(hasPool: boolean) {
    this.#hasPool = hasPool;
  }

  readonly reader: CurrentBars = {
    at: (resolution, startMs) => this.#bars[resolution].get(startMs) ?? null,
    between: (resolution, fromMs, toMs) => {
      this.reads += 1;
      return [...this.#bars[resolution].values()]
        .filter(({ startMs }) => startMs >= fromMs && startMs < toMs)
        .sort((a, b) => a.startMs - b.startMs);
    },
  };

  trade({ timeMs, base, quote, isBuy }: Made): void {
    const [baseAmount, quoteAmount] = [BigInt(base), BigInt(quote)];
    const [low, high] = [ratio(quote, base + 1), ratio(quote + 1, base)];
    const step = isBuy ? { isBuy, before: low, after: high } : { isBuy, before: high, after: low };
    const id = String(this.trades.length).padStart(6, '0');
    const trade = { id, timeMs, baseAmount, quoteAmount, ...(this.#hasPool ? { step } : {}) };
    this.trades.push(trade);
    for (const resolution of ['min1', 'hour1'] as const) {
      const startMs = intervalStart(resolution, timeMs);
      const bar = this.#bars[resolution].get(startMs);
      if (bar === undefined) this.#bars[resolution].set(startMs, firstBar(startMs, trade));
      else addTrade(bar, trade);
    }
  }

  /** As it is read from the store. */
  recent(atMs: number): RecentBars {
    const starts = [...this.#bars.min1.keys()].sort((a, b) => a - b);
    const first = starts.findIndex((startMs) => startMs >= atMs - DAY_MS);
    const from = Math.max(0, (first < 0 ? starts.length : first) - 1);
    const isWhole = (starts[from] ?? atMs) >= atMs - DAY_MS;
    return new RecentBars(this.reader, starts.slice(from), atMs, isWhole);
  }
}

function ratio(numerator: number, denominator: number): Ratio {
  return { numerator: BigInt(numerator), denominator: BigInt(denominator) };
}

function spots({ step, quoteAmount, baseAmount }: Trade): readonly Ratio[] {
  if (step !== undefined) return [step.before, step.after];
  return [{ numerator: quoteAmount, denominator: baseAmount }];
}

function textOf(price: Ratio | null | undefined): string {
  if (price === null || price === undefined) return 'none';
  const scaled = (price.numerator * 10n ** 40n) / price.denominator;
  return String(scaled);
}

/** Computes the answers of `RecentBars` from all trades. */
class Recount {
  readonly #trades: readonly Trade[];
  readonly #atMs: number;

  constructor(trades: readonly Trade[], atMs: number) {
    this.#trades = [...trades].sort(compareTrades);
    this.#atMs = atMs;
  }

  in(window: Window): readonly Trade[] {
    return this.#trades.filter(({ timeMs }) => timeMs >= this.#atMs - WINDOW_MS[window]);
  }

  closeBefore(timeMs: number): Ratio | undefined {
    const last = this.#trades.findLast((trade) => trade.timeMs < timeMs);
    return last === undefined ? undefined : spots(last).at(-1);
  }

  range(): readonly string[] {
    const trades = this.in('24h');
    const [first] = trades;
    if (first === undefined) return ['none', 'none'];
    const carried = first.step === undefined ? this.closeBefore(this.#atMs - DAY_MS) : undefined;
    const all = [...(carried === undefined ? [] : [carried]), ...trades.flatMap(spots)];
    const sorted = all.sort(compareRatios);
    return [textOf(sorted.at(-1)), textOf(sorted[0])];
  }
}

function check(recent: RecentBars, trades: readonly Trade[], atMs: number): void {
  const recount = new Recount(trades, atMs);
  for (const window of WINDOWS) {
    const inside = recount.in(window);
    const buys = inside.filter(({ step }) => step?.isBuy === true).length;
    const volume = inside.reduce((sum, { quoteAmount }) => sum + quoteAmount, 0n);
    assert.deepEqual(recent.sums(window), { volume, trades: inside.length, buys }, window);
    const fromMs = atMs - WINDOW_MS[window];
    assert.equal(textOf(recent.before(window)), textOf(recount.closeBefore(fromMs)), window);
  }
  const range = recent.dayRange();
  assert.deepEqual([textOf(range?.high), textOf(range?.low)], recount.range());
  const soonMs = atMs + 3 * HOUR_MS;
  assert.equal(textOf(recent.closeBefore(soonMs)), textOf(recount.closeBefore(soonMs)));
  for (let timeMs = atMs - DAY_MS; timeMs <= atMs + MINUTE_MS; timeMs += 47 * MINUTE_MS) {
    assert.equal(textOf(recent.closeBefore(timeMs)), textOf(recount.closeBefore(timeMs)));
    const has = (toMs: number) =>
      trades.some((trade) => {
        const startMs = intervalStart('min1', trade.timeMs);
        return startMs >= timeMs && startMs < toMs;
      });
    const toMs = timeMs + 3 * MINUTE_MS;
    assert.equal(recent.hasBetween(timeMs, toMs), has(toMs));
  }
}

type Step =
  | { readonly do: 'trade'; readonly agoMs: number; readonly made: Omit<Made, 'timeMs'> }
  | { readonly do: 'pass'; readonly minutes: number }
  | { readonly do: 'look' };

const made = fc.record({
  base: fc.integer({ min: 1, max: 50 }),
  quote: fc.integer({ min: 1, max: 5_000 }),
  isBuy: fc.boolean(),
});
/** Some trades of a feed are late, some are ahead of market time. */
const agoMs = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: -MINUTE_MS + 1, max: 0 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 30 * HOUR_MS }) },
  { weight: 1, arbitrary: fc.integer({ min: -2 * HOUR_MS, max: 0 }) },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('trade' as const), agoMs, made }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      minutes: fc.constantFrom(1, 1, 2, 5, 7, 39, 40, 41, 60, 180, 600, 1_440, -1, -3, -20),
    }),
  },
  { weight: 4, arbitrary: fc.constant({ do: 'look' as const }) },
);

test('the last day of a pair equals a recount of its trades', () => {
  fc.assert(
    fc.property(
      fc.boolean(),
      fc.array(step, { minLength: 5, maxLength: 60 }),
      fc.nat(59),
      (hasPool, steps, minute) => {
        const model = new PairModel(hasPool);
        let atMs = BEGIN_MS + minute * MINUTE_MS;
        let [recent, latestMs] = [model.recent(atMs), atMs];
        const changed = new Set<number>();
        for (const next of [...steps, { do: 'look' } as const]) {
          if (next.do === 'trade') {
            const timeMs = atMs - next.agoMs;
            model.trade({ ...next.made, timeMs });
            changed.add(intervalStart('min1', timeMs));
          } else if (next.do === 'pass') {
            atMs = Math.max(atMs + next.minutes * MINUTE_MS, latestMs - KEPT_MS);
            latestMs = Math.max(latestMs, atMs);
          } else {
            for (const startMs of changed) recent.changed(startMs);
            changed.clear();
            if (!recent.covers(atMs)) recent = model.recent(atMs);
            recent.moveTo(atMs);
            check(recent, model.trades, atMs);
          }
        }
      },
    ),
    { numRuns: 150, seed: 4_711 },
  );
});

test('a pair traded each minute for days keeps 25 hours of starts, and reads bars once', () => {
  const model = new PairModel(true);
  const recent = model.recent(BEGIN_MS);
  const made = { base: 3, quote: 5, isBuy: true };
  for (let index = 0; index < 3 * 1_440; index += 1) {
    const atMs = BEGIN_MS + index * MINUTE_MS;
    model.trade({ ...made, timeMs: atMs + 9 });
    recent.changed(atMs);
    recent.moveTo(atMs);
  }
  const most = (WINDOW_MS['24h'] + KEPT_MS) / MINUTE_MS + 66;
  assert(recent.length <= most, `${recent.length} minutes`);
  const sums = recent.sums('24h');
  assert.deepEqual(sums, { volume: 5n * 1_441n, trades: 1_441, buys: 1_441 });
  const { reads } = model;
  // The next trade reads no ended bar again.
  const atMs = BEGIN_MS + (3 * 1_440 - 1) * MINUTE_MS;
  model.trade({ ...made, timeMs: atMs + 11 });
  recent.changed(atMs);
  assert.equal(recent.sums('24h').trades, 1_442);
  assert.equal(model.reads, reads);
});
