/** Market-cap bars over HTTP and WebSocket against the formulas of onchain.md. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Action } from '../../chain/foldMarket.ts';
import { barsOf, capAfter, type Fraction, type TruthBar } from '../../chain/foldTruth.ts';
import { decimalOf } from '../../support/feeds.ts';
import { endOf } from '../../support/foldModel.ts';
import { INTERVALS, type Interval } from '../../support/model.ts';
import { recordOf } from '../../support/subscription.ts';
import { until } from '../../support/until.ts';
import { Listener, type MarketApi, openMarketApi } from '../marketApi.ts';

const EXECUTE: Action = { do: 'execute', pool: 0 };
const buyOf = (amount: number): Action => ({ do: 'place', user: 1, pool: 0, side: 'buy', amount });
const SELL: Action = { do: 'place', user: 1, pool: 0, side: 'sell', amount: 30 };
const SPAN = { from: 0, to: 253_402_300_799 };

/** ADA, 18 digits, half to even. */
function ada({ top, bottom }: Fraction): string {
  const whole = top * 10n ** 12n;
  const rest = (whole % bottom) * 2n;
  const cut = whole / bottom;
  const up = rest > bottom || (rest === bottom && cut % 2n === 1n);
  return decimalOf(up ? cut + 1n : cut, 18);
}

function expectedBar(bar: TruthBar, pair: unknown, interval: Interval, marketMs: number): object {
  const endMs = endOf(interval, bar.startMs);
  return {
    pair,
    time: bar.startMs / 1000,
    mCap: ada(bar.close),
    isRelevant: bar.startMs <= marketMs && marketMs < endMs,
    open: ada(bar.open),
    high: ada(bar.high),
    low: ada(bar.low),
    close: ada(bar.close),
    trades: bar.trades,
    final: endMs <= marketMs,
  };
}

async function assertCaps(api: MarketApi, index: number): Promise<void> {
  const pool = api.pool(index);
  const pair = { base: pool.token, quote: '.' };
  const { marketMs } = api.world.fold;
  for (const interval of INTERVALS) {
    const bars = barsOf(pool, interval, capAfter);
    const expected = bars.map((bar) => expectedBar(bar, pair, interval, marketMs));
    const query = { ...pair, resolution: interval };
    assert.deepEqual(await api.json('/v1/charts/mcap/history', { ...query, ...SPAN }), expected);
    const newest = expected.at(-1);
    if (newest === undefined) continue;
    const isRelevant = Reflect.get(newest, 'isRelevant');
    const state = await api.json('/v1/charts/mcap/initial-state', query);
    assert.deepEqual(state, { bar: newest, isRelevant });
  }
}

test('market-cap bars are spot × supply after each trade, on curve and AMM', async (t) => {
  const api = await openMarketApi(t);
  await api.block([{ do: 'launch', user: 0, buy: 40 }]);
  await assertCaps(api, 0);
  await api.block([buyOf(60), EXECUTE], 61_000);
  await api.block([SELL, EXECUTE, { do: 'launch', user: 2, buy: 7 }], 10_000);
  await assertCaps(api, 0);
  await api.block([buyOf(90), EXECUTE, buyOf(20), EXECUTE], 400_000);
  await api.block([buyOf(7), EXECUTE, buyOf(2), EXECUTE, buyOf(3), EXECUTE], 20_000);
  await api.block([EXECUTE, EXECUTE, SELL, EXECUTE], 20_000);
  await assertCaps(api, 0);
  await assertCaps(api, 1);
  await api.back(3);
  await assertCaps(api, 0);
  await assertCaps(api, 1);
  assert.deepEqual(api.faults, []);
});

test('pages and flat bars are as for prices', async (t) => {
  const api = await openMarketApi(t);
  await api.block([{ do: 'launch', user: 0, buy: 40 }]);
  for (const minute of [1, 2, 3]) await api.block([buyOf(minute * 5), EXECUTE], 120_000);
  await api.pass(200_000);
  const query = { base: api.pool().token, quote: '.', resolution: 'min1', ...SPAN };
  const page = await api.get('/v1/charts/mcap/history', { ...query, limit: 2 });
  const bars = (await page.json()) as { time: number; mCap: string; trades: number }[];
  assert.equal(bars.length, 2);
  assert.equal(page.headers.get('x-next-to'), String(bars[0]?.time));
  const filled = await api.json('/v1/charts/mcap/history', { ...query, fill: 'previous' });
  const prices = await api.json('/v1/charts/history', { ...query, fill: 'previous' });
  assert(Array.isArray(filled) && Array.isArray(prices));
  assert.deepEqual(
    filled.map(({ time, trades, final }) => [time, trades, final]),
    prices.map(({ time, trades, final }) => [time, trades, final]),
  );
  assert(filled.some(({ trades, volume }) => trades === 0 && volume === undefined));
});

test('the coin has no market cap, and caps are in the coin only', async (t) => {
  const api = await openMarketApi(t);
  await api.block([{ do: 'launch', user: 0, buy: 40 }]);
  const { token } = api.pool();
  const refusals = [
    [{ base: '.', quote: '.' }, 400],
    [{ base: '.', quote: token }, 400],
    [{ base: 'x', quote: '.' }, 400],
    [{ base: token, quote: `${'ab'.repeat(28)}.` }, 404],
    [{ base: token, quote: token }, 404],
    [{ base: `${'ab'.repeat(28)}.`, quote: '.' }, 404],
  ] as const;
  for (const [pair, status] of refusals) {
    for (const route of ['history', 'initial-state']) {
      const query = { ...pair, resolution: 'min1', ...SPAN };
      const response = await api.get(`/v1/charts/mcap/${route}`, query);
      const { cause } = recordOf(await response.json());
      const expected = status === 400 ? 'INVALID_PARAMS' : 'ASSET_NOT_FOUND';
      assert.deepEqual([response.status, cause], [status, expected], JSON.stringify(pair));
    }
  }
  const refused = await Listener.open(t, api, 'MCapBar', {
    pair: { base: 'ADA', quote: '.' },
    interval: 'min1',
  });
  assert.equal(recordOf(refused.last?.data).cause, 'INVALID_PARAMS');
  const other = { pair: { base: token, quote: `${'ab'.repeat(28)}.` }, interval: 'min1' };
  assert.equal((await Listener.open(t, api, 'MCapBar', other)).last?.data, null);
});

test('MCapBar says what HTTP says, block by block and after a rollback', async (t) => {
  const api = await openMarketApi(t);
  await api.block([{ do: 'launch', user: 0, buy: 40 }]);
  const { token } = api.pool();
  const pair = { base: token, quote: '.' };
  const listener = await Listener.open(t, api, 'MCapBar', { pair, interval: 'min1' });
  const same = async () => {
    const query = { ...pair, resolution: 'min1' };
    const { bar } = recordOf(await api.json('/v1/charts/mcap/initial-state', query));
    const expected = JSON.stringify({ ...recordOf(bar), pair: `${token}_.` });
    const what = () => `${JSON.stringify(listener.last)} = ${expected}`;
    await until(what, () => JSON.stringify(listener.last?.data) === expected);
  };
  await same();
  assert.equal(listener.frames[0]?.event, 'MCapBarUpdate');
  for (const seconds of [5, 40, 40, 130]) {
    await api.block([buyOf(9), EXECUTE], seconds * 1000);
    await same();
  }
  const seen = listener.frames.length;
  await api.back(2);
  await same();
  const revised = listener.frames.slice(seen).find(({ event }) => event === 'BarsRevised');
  const { reason, pair: name, bars } = recordOf(revised?.data);
  assert.deepEqual([reason, name], ['rollback', `${token}_.`]);
  assert(Array.isArray(bars) && bars.some(({ removed }) => removed === true));
});
