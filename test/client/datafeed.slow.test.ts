/** Bars on charts: series as strict as the libraries are, fed by a market with rollbacks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type CandlePoint,
  type ChartSeries,
  type DatafeedConfiguration,
  drawBars,
  type FoundSymbol,
  type HistoryMetadata,
  type LogicalRange,
  type PeriodParams,
  type SymbolInfo,
  type TradingViewBar,
  tradingViewDatafeed,
  type VolumePoint,
} from '../../src/client/datafeed/index.ts';
import { Client } from '../../src/client/index.ts';
import { seededRng } from '../../src/engine/runtime/rng.ts';
import { DevnetWorld } from '../e2e/devnet/world.ts';
import { newTestApp } from '../support/app.ts';
import { lineOf, rollbackLine, TOKEN_COIN, tradeAt } from '../support/feeds.ts';
import { until } from '../support/until.ts';
import { Person } from './person.ts';
import { assertSame, barsLikeHttp } from './sameAsHttp.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const NOON_MS = Date.UTC(2026, 0, 5, 12);
const DEADLINE_MS = 30_000;
const GATEWAY = { heartbeatMs: 50, sweepMs: 10 };

/** As a series of lightweight-charts 5.2.1 in its development build: it throws where that does. */
class StrictSeries<Point extends { time: number }> implements ChartSeries<Point> {
  points: Point[] = [];
  sets = 0;

  setData(points: Point[]): void {
    for (const [index, { time }] of points.entries()) {
      assert(index === 0 || time > (points[index - 1]?.time ?? 0), 'data must be asc ordered');
    }
    this.points = [...points];
    this.sets += 1;
  }

  update(point: Point, isHistorical = false): void {
    const last = this.points.at(-1);
    const at = this.points.findIndex(({ time }) => time === point.time);
    assert(
      isHistorical || last === undefined || point.time >= last.time,
      'Cannot update oldest data',
    );
    assert(!isHistorical || at >= 0, 'Cannot update non-existing data point');
    if (at < 0) this.points.push(point);
    else this.points[at] = point;
  }
}

class Scroller {
  handler: ((range: LogicalRange | null) => void) | null = null;

  subscribeVisibleLogicalRangeChange(handler: (range: LogicalRange | null) => void): void {
    this.handler = handler;
  }

  unsubscribeVisibleLogicalRangeChange(): void {
    this.handler = null;
  }
}

test('lightweight-charts: piece by piece, in order, after rollbacks too', async (t) => {
  t.diagnostic(`seed ${SEED}`);
  const rng = seededRng(SEED);
  const app = await newTestApp(t, { env: { NETWORK: 'none' }, gateway: GATEWAY });
  const client = new Client({ url: app.url });
  t.after(() => client.close());
  let [id, minute] = [0, 0];
  const trade = () => {
    id += 1;
    minute += Math.floor(rng.unit() * 3);
    const price = String(1 + Math.floor(rng.unit() * 90));
    return lineOf({ ...tradeAt(NOON_MS + minute * 60_000, price), id: `${id}` });
  };
  await app.feed(Array.from({ length: 60 }, trade).join('\n'));
  const bars = client.bars(TOKEN_COIN, 'min1', { limit: 20 });
  const candles = new StrictSeries<CandlePoint>();
  const volume = new StrictSeries<VolumePoint>();
  const timeScale = new Scroller();
  const colors = { upColor: 'green', downColor: 'red' };
  const drawing = drawBars(bars, { candles, volume, timeScale }, colors);
  const assertDrawn = () => {
    const drawn = bars.state.bars.map(({ time, open, high, low, close }) => {
      return {
        time,
        open: Number(open),
        high: Number(high),
        low: Number(low),
        close: Number(close),
      };
    });
    assert.deepEqual(candles.points, drawn);
    const volumes = bars.state.bars.map(({ time, volume: value }) => [time, Number(value)]);
    assert.deepEqual(
      volume.points.map(({ time, value }) => [time, value]),
      volumes,
    );
  };
  await bars.ready();
  const compared = barsLikeHttp(client, bars, TOKEN_COIN, 'min1');
  let reasons = new Set<string>();
  bars.onChange((_, { reason }) => {
    reasons.add(reason);
    assertDrawn();
  });
  for (let round = 0; round < 25; round += 1) {
    await app.feed(Array.from({ length: 1 + Math.floor(rng.unit() * 6) }, trade).join('\n'));
    if (round % 3 === 1) {
      minute = Math.max(0, minute - 1 - Math.floor(rng.unit() * 5));
      await app.feed(rollbackLine(NOON_MS + minute * 60_000));
    }
    // Not in the last round: the bars that it loads are drawn after the comparison.
    if (round % 5 === 3) timeScale.handler?.({ from: 3, to: 30 });
    await assertSame(compared, `round ${round}`);
    assertDrawn();
  }
  for (const reason of ['history', 'revised', 'update']) assert(reasons.has(reason), reason);
  // A trade more in the newest bar is no reason to draw it all again.
  const { sets } = candles;
  reasons = new Set();
  await app.feed(lineOf({ ...tradeAt(NOON_MS + minute * 60_000, '99'), id: 'last' }));
  await until('drawn', () => candles.points.at(-1)?.close === 99, DEADLINE_MS);
  assert.equal(candles.sets, sets);
  drawing.close();
  assert.equal(timeScale.handler, null);
});

test('TradingView: symbols, history, ticks, and a reset after a rollback', async (t) => {
  const world = await DevnetWorld.start(t, { gateway: GATEWAY });
  const client = new Client({ url: world.url });
  t.after(() => client.close());
  const person = new Person(client);
  await person.fund(900, 3, () => world.mine());
  const asset = await person.launch('Rocket', 50);
  await world.mine();
  let resets = 0;
  const onReset = () => {
    resets += 1;
  };
  const feed = tradingViewDatafeed(client, { onReset });
  const configuration = await new Promise<DatafeedConfiguration>((done) => feed.onReady(done));
  const minutes = ['1', '3', '5', '15', '30', '60', '120', '240', '720'];
  assert.deepEqual(configuration.supported_resolutions, [...minutes, '1D', '1W', '1M']);
  const found = await new Promise<FoundSymbol[]>((done) =>
    feed.searchSymbols('rock', '', '', done),
  );
  assert.deepEqual(
    found.map(({ symbol, ticker }) => [symbol, ticker]),
    [['COIN', asset]],
  );
  const resolve = (name: string) =>
    new Promise<SymbolInfo>((done, fail) => {
      feed.resolveSymbol(name, done, (reason) => fail(new Error(reason)));
    });
  const [price, cap] = [await resolve(asset), await resolve(`${asset}:mcap`)];
  assert.deepEqual([price.ticker, cap.ticker], [asset, `${asset}:mcap`]);
  await assert.rejects(resolve(`${'00'.repeat(28)}.00`), /ASSET_NOT_FOUND/);

  const barsOf = (symbol: SymbolInfo, period: PeriodParams) =>
    new Promise<[TradingViewBar[], HistoryMetadata]>((done, fail) => {
      const given = (bars: TradingViewBar[], meta: HistoryMetadata) => done([bars, meta]);
      feed.getBars(symbol, '1', period, given, (reason) => fail(new Error(reason)));
    });
  const to = Math.floor(world.nowMs / 1000) + 60;
  const counted = { from: to - 60, to, countBack: 300, firstDataRequest: true };
  const [[first] = [], { noData }] = await barsOf(price, counted);
  const { data } = await client.charts.last({ base: asset, quote: '.', resolution: 'min1' });
  const { time, open, close, volume } = data;
  assert(first !== undefined);
  assert.deepEqual(
    [first.time, first.open, first.close],
    [time * 1000, Number(open), Number(close)],
  );
  assert.deepEqual([first.volume, noData], [Number(volume), false]);
  assert.equal((await barsOf(cap, counted))[0][0]?.volume, undefined);
  const later = { from: to + 6_000, to: to + 12_000, firstDataRequest: false };
  assert.deepEqual(await barsOf(price, later), [[], { noData: true, nextTime: time }]);
  const before = { ...counted, to: time };
  assert.deepEqual(await barsOf(price, before), [[], { noData: true, nextTime: null }]);

  const ticks: TradingViewBar[] = [];
  const events: string[] = [];
  feed.subscribeBars(
    price,
    '1',
    (bar) => ticks.push(bar),
    'a',
    () => events.push('cache'),
  );
  await until('the newest bar', () => ticks.length > 0, DEADLINE_MS);
  await world.mine();
  const id = await person.order({
    assetId: asset,
    side: 'BUY',
    amount: '40000000',
    slippage: '15',
  });
  await world.mine();
  await world.spent(id);
  const worth = () => ticks.at(-1)?.close ?? 0;
  await until('a tick', () => worth() > first.close, DEADLINE_MS);
  assert.equal(resets, 0);
  await world.fork(1, 'none');
  await until('a reset', () => resets > 0, DEADLINE_MS);
  assert.deepEqual([resets, events.length], [events.length, resets]);
  feed.unsubscribeBars('a');
});

test('TradingView: bars that end between getBars and subscribeBars', async (t) => {
  const app = await newTestApp(t, { env: { NETWORK: 'none' }, gateway: GATEWAY });
  const client = new Client({ url: app.url });
  t.after(() => client.close());
  let id = 0;
  const feedTrades = (minutes: readonly number[], price: string) => {
    const lines = minutes.map((minute) => {
      id += 1;
      return lineOf({ ...tradeAt(NOON_MS + minute * 60_000, price), id: `${id}` });
    });
    return app.feed(lines.join('\n'));
  };
  const minuteOf = ({ time }: TradingViewBar) => (time - NOON_MS) / 60_000;
  const symbol = { ticker: TOKEN_COIN.base };
  const period = { from: 0, to: NOON_MS / 1000 + 90_000, firstDataRequest: true };
  let [resets, ticks]: [number, TradingViewBar[]] = [0, []];
  let close = () => {};
  t.after(() => close());
  const open = async (countBack: number) => {
    close();
    [resets, ticks] = [0, []];
    const feed = tradingViewDatafeed(client);
    const bars = await new Promise<TradingViewBar[]>((done, fail) => {
      const failed = (reason: string) => fail(new Error(reason));
      feed.getBars(symbol, '1', { ...period, countBack }, done, failed);
    });
    const subscribe = () =>
      feed.subscribeBars(
        symbol,
        '1',
        (bar) => void ticks.push(bar),
        'a',
        () => {
          resets += 1;
        },
      );
    close = () => feed.unsubscribeBars('a');
    return { bars, subscribe };
  };
  const heard = () => until('a tick or a reset', () => ticks.length + resets > 0, DEADLINE_MS);

  await feedTrades([0, 1, 2, 3, 4, 5], '2');
  const chart = await open(3);
  assert.deepEqual(chart.bars.map(minuteOf), [3, 4, 5]);
  await feedTrades([5, 6, 7, 9], '3');
  chart.subscribe();
  await until('the newest bar', () => ticks.some((bar) => minuteOf(bar) === 9), DEADLINE_MS);
  assert.deepEqual([ticks.map(minuteOf), resets], [[5, 6, 7, 9], 0]);
  assert.equal(ticks[0]?.close, 3, 'the bar that was open when it was loaded');

  // A rollback undid a bar that was loaded.
  const undone = await open(3);
  await app.feed(rollbackLine(NOON_MS + 6 * 60_000));
  await feedTrades([10], '4');
  undone.subscribe();
  await heard();
  assert.deepEqual([ticks, resets], [[], 1]);

  // More bars than the live part begins with.
  const away = await open(3);
  await feedTrades(
    Array.from({ length: 120 }, (_, at) => 11 + at),
    '5',
  );
  away.subscribe();
  await heard();
  assert.deepEqual([ticks, resets], [[], 1]);

  // Nothing changed.
  const later = await open(0);
  assert.equal(later.bars.length > 100, true);
  later.subscribe();
  await heard();
  assert.deepEqual([ticks.map(minuteOf), resets], [[130], 0]);
});
