/**
 * Spot bars and derived resolutions, over HTTP and live, against the trades of a market that is
 * rolled back meanwhile. Replay: `{ seed, path }` as printed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Action } from '../../chain/foldMarket.ts';
import type { ModelPool, ModelTrade } from '../../chain/foldState.ts';
import { SUPPLY } from '../../chain/foldState.ts';
import { capAfter, type Fraction, priceAfter } from '../../chain/foldTruth.ts';
import { decimalOf } from '../../support/feeds.ts';
import { recordOf } from '../../support/subscription.ts';
import { until } from '../../support/until.ts';
import { Listener, type MarketApi, openMarketApi } from '../marketApi.ts';

const MINUTES = { min1: 1, min3: 3, min15: 15, min30: 30, hour2: 120, hour4: 240, hour12: 720 };
type Name = keyof typeof MINUTES;
const NAMES = Object.keys(MINUTES) as Name[];
const PRICES = ['trade', 'spot'] as const;
type Price = (typeof PRICES)[number];
const SPAN = { from: 0, to: 4_000_000_000 };

const EXECUTE: Action = { do: 'execute', pool: 0 };
const order = (side: 'buy' | 'sell', amount: number): Action => {
  return { do: 'place', user: 0, pool: 0, side, amount };
};

/** 18 digits, half to even, of lovelace per token: ADA, or tokens for one ADA. */
function text({ top, bottom }: Fraction, isReversed: boolean): string {
  const [over, under] = isReversed ? [bottom * 1_000_000n, top] : [top, bottom * 1_000_000n];
  const whole = over * 10n ** 18n;
  const rest = (whole % under) * 2n;
  const cut = whole / under;
  const isUp = rest > under || (rest === under && cut % 2n === 1n);
  return decimalOf(isUp ? cut + 1n : cut, 18);
}

function spotOf(reserves: ModelTrade['after']): Fraction {
  const { top, bottom } = capAfter({ after: reserves });
  return { top, bottom: bottom * SUPPLY };
}

const less = (a: Fraction, b: Fraction) => a.top * b.bottom < b.top * a.bottom;

/** Bars of the trades alone. */
function expected(pool: ModelPool, name: Name, price: Price, marketMs: number, isReversed = false) {
  const lengthMs = MINUTES[name] * 60_000;
  const groups = Map.groupBy(pool.trades, ({ atMs }) => Math.floor(atMs / lengthMs) * lengthMs);
  return [...groups].map(([startMs, trades]) => {
    const prices = trades.flatMap((trade) =>
      price === 'trade' ? [priceAfter(trade)] : [spotOf(trade.before), spotOf(trade.after)],
    );
    const most = prices.reduce((a, b) => (less(a, b) ? b : a));
    const least = prices.reduce((a, b) => (less(b, a) ? b : a));
    const [low, high] = isReversed ? [most, least] : [least, most];
    const [first, last] = [prices[0] ?? low, prices.at(-1) ?? low];
    return {
      time: startMs / 1000,
      low: text(low, isReversed),
      high: text(high, isReversed),
      open: text(first, isReversed),
      close: text(last, isReversed),
      trades: trades.length,
      final: startMs + lengthMs <= marketMs,
    };
  });
}

/** The fields of a bar that `expected` lists. */
function plain(bar: unknown) {
  const { time, low, high, open, close, trades, final } = recordOf(bar);
  return { time, low, high, open, close, trades, final };
}

async function assertHistory(api: MarketApi): Promise<void> {
  const pool = api.pool();
  const { marketMs } = api.world.fold;
  const pair = { base: pool.token, quote: '.' };
  for (const resolution of NAMES) {
    for (const price of PRICES) {
      const bars = expected(pool, resolution, price, marketMs);
      const ask = { ...pair, resolution, price };
      const found = await api.json('/v1/charts/history', { ...ask, ...SPAN });
      assert(Array.isArray(found));
      assert.deepEqual(found.map(plain), bars, `${resolution} ${price}`);
      const last = bars.at(-1);
      if (last === undefined) continue;
      assert.deepEqual(plain(await api.json('/v1/charts/last', ask)), last);
      const page = await api.get('/v1/charts/history', { ...ask, ...SPAN, limit: 1 });
      const next = bars.length > 1 ? String(last.time) : null;
      assert.equal(page.headers.get('X-Next-To'), next, 'a page ends at the start of a bar');
      const rows: unknown = await page.json();
      assert(Array.isArray(rows));
      assert.deepEqual(rows.map(plain), [last]);
      const middle = { from: last.time - 1, to: last.time + 1 };
      const inside = await api.json('/v1/charts/history', { ...ask, ...middle });
      assert(Array.isArray(inside));
      assert.deepEqual(inside.map(plain), [last], 'bars whose start is in the span');
    }
  }
  const reversed = { base: '.', quote: pool.token, resolution: 'min15', price: 'spot', ...SPAN };
  const found = await api.json('/v1/charts/history', reversed);
  assert(Array.isArray(found));
  assert.deepEqual(found.map(plain), expected(pool, 'min15', 'spot', marketMs, true));
}

/** A client that does no more than the rules: each bar in its place. */
class Bars {
  readonly #listener: Listener;
  readonly #bars = new Map<number, object>();
  /** Times of bars, by how often their end was told since it was last undone. */
  readonly ends = new Map<number, number>();
  #read = 0;

  constructor(listener: Listener) {
    this.#listener = listener;
  }

  get shown(): object[] {
    for (const { event, data } of this.#listener.frames.slice(this.#read)) {
      this.#read += 1;
      const revised = event === 'BarsRevised' ? recordOf(data).bars : [data];
      assert(Array.isArray(revised));
      for (const bar of revised) if (bar !== null) this.#put(recordOf(bar));
    }
    return [...this.#bars].sort(([a], [b]) => a - b).map(([, bar]) => bar);
  }

  #put(bar: Record<string, unknown>): void {
    const time = Number(bar.time);
    const known = this.#bars.get(time);
    if (bar.removed === true) this.#bars.delete(time);
    else {
      if (bar.final === true && Reflect.get(known ?? {}, 'final') !== true) {
        this.ends.set(time, (this.ends.get(time) ?? 0) + 1);
      }
      if (bar.final === false) this.ends.set(time, 0);
      this.#bars.set(time, plain(bar));
    }
  }
}

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('trade' as const),
      side: fc.constantFrom('buy' as const, 'sell' as const),
      amount: fc.integer({ min: 3, max: 60 }),
      afterMs: fc.constantFrom(5_000, 50_000, 400_000, 3_000_000, 20_000_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      forMs: fc.constantFrom(30_000, 70_000, 1_000_000, 9_000_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('back' as const),
      blocks: fc.integer({ min: 1, max: 4 }),
    }),
  },
);

test('all bars are those of the trades, live and over HTTP, after forks too', async (t) => {
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 8, maxLength: 14 }),
    async (steps) => {
      const api = await openMarketApi(t);
      await api.block([{ do: 'launch', user: 0, buy: 40 }]);
      await api.block([order('sell', 20), EXECUTE]);
      await api.block([], 1_000);
      await api.block([], 1_000);
      const { token } = api.pool();
      const streams = await Promise.all(
        (['min1', 'min3', 'min30', 'hour2'] as const).flatMap((interval) =>
          PRICES.map(async (price) => {
            const data = { pair: { base: token, quote: '.' }, interval, price };
            const bars = new Bars(await Listener.open(t, api, 'LastBar', data));
            return { interval, price, bars };
          }),
        ),
      );
      const check = async () => {
        await assertHistory(api);
        for (const { interval, price, bars } of streams) {
          const all = () => expected(api.pool(), interval, price, api.world.fold.marketMs);
          const say = () => `${interval} ${price}: ${JSON.stringify([bars.shown, all()])}`;
          await until(say, () => JSON.stringify(bars.shown) === JSON.stringify(all()));
          for (const [time, times] of bars.ends) assert.ok(times <= 1, `end of ${time} comes once`);
        }
      };
      await check();
      for (const each of steps) {
        if (each.do === 'trade')
          await api.block([order(each.side, each.amount), EXECUTE], each.afterMs);
        else if (each.do === 'pass') await api.pass(each.forMs);
        else await api.back(Math.min(each.blocks, api.maker.state.height - 4));
        await check();
      }
      assert.deepEqual(api.faults, []);
    },
  );
  await fc.assert(property, { numRuns: 4, includeErrorInReport: true });
});

test('flat spot bars stand at the spot close, and bars connect', async (t) => {
  const api = await openMarketApi(t);
  await api.block([{ do: 'launch', user: 0, buy: 40 }]);
  await api.block([order('buy', 30), EXECUTE], 1_400_000);
  await api.block([order('sell', 30), EXECUTE], 1_400_000);
  const { token } = api.pool();
  const query = { base: token, quote: '.', resolution: 'min3', price: 'spot', fill: 'previous' };
  const found = await api.json('/v1/charts/history', { ...query, ...SPAN });
  assert(Array.isArray(found) && found.length > 8);
  for (const [index, bar] of found.entries()) {
    const before: (typeof found)[number] | undefined = found[index - 1];
    if (before === undefined) continue;
    assert.equal(bar.open, before.close);
    assert.equal(bar.time, before.time + 180);
    if (bar.trades === 0)
      assert.deepEqual([bar.high, bar.low, bar.close], [bar.open, bar.open, bar.open]);
  }
});
