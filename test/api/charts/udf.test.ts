/** The UDF datafeed against the charts of the same server: the same bars, as TradingView asks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Action } from '../../chain/foldMarket.ts';
import { type MarketApi, openMarketApi } from '../marketApi.ts';

interface Bar {
  readonly time: number;
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly volume: string;
}

const NAMES = {
  '1': 'min1',
  '3': 'min3',
  '5': 'min5',
  '15': 'min15',
  '30': 'min30',
  '60': 'hour1',
  '120': 'hour2',
  '240': 'hour4',
  '720': 'hour12',
  '1D': 'day1',
  '1W': 'week1',
  '1M': 'month1',
};
const END = 4_000_000_000;
const EXECUTE: Action = { do: 'execute', pool: 0 };
const buy: Action = { do: 'place', user: 1, pool: 0, side: 'buy', amount: 40 };

/** A market with trades in several minutes, and a gap, so that the older bars come out of pages. */
async function tradedDoor(scope: Parameters<typeof openMarketApi>[0]): Promise<MarketApi> {
  const api = await openMarketApi(scope);
  await api.block([{ do: 'launch', user: 0, buy: 0 }]);
  for (const afterMs of [30_000, 90_000, 5 * 3_600_000, 20_000]) {
    await api.block([buy], afterMs);
    await api.block([EXECUTE], 1_000);
  }
  await api.world.fold.store.commit();
  return api;
}

async function charted(
  api: MarketApi,
  symbol: string,
  resolution: string,
  price = 'trade',
): Promise<Bar[]> {
  const query = { base: symbol, quote: '.', resolution, price, from: 0, to: END };
  // trust: checked against its schema elsewhere; compared field by field here
  return (await api.json('/v1/charts/history', query)) as Bar[];
}

function columns(bars: readonly Bar[]): object {
  const of = (read: (bar: Bar) => string) => bars.map((bar) => Number(read(bar)));
  return {
    s: 'ok',
    t: bars.map(({ time }) => time),
    o: of(({ open }) => open),
    h: of(({ high }) => high),
    l: of(({ low }) => low),
    c: of(({ close }) => close),
    v: of(({ volume }) => volume),
  };
}

test('history has the bars of the chart, by each resolution and each way to ask', async (t) => {
  const api = await tradedDoor(t);
  const symbol = api.pool().token;
  for (const [resolution, name] of Object.entries(NAMES)) {
    const bars = await charted(api, symbol, name);
    assert.ok(bars.length > 0);
    const query = { symbol, resolution, from: 0, to: END };
    assert.deepEqual(await api.json('/udf/history', query), columns(bars));
    const connected = await charted(api, symbol, name, 'spot');
    assert.notDeepEqual(connected, bars);
    assert.deepEqual(await api.json('/udf/spot/history', query), columns(connected));
  }
  const bars = await charted(api, symbol, 'min1');
  assert.ok(bars.length >= 3);
  const [first, second, third] = bars;
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  const ask = (query: Record<string, string | number>) =>
    api.json('/udf/history', { symbol, resolution: '1', ...query });
  // `to` is not included, `countback` wins over `from`.
  assert.deepEqual(await ask({ from: first.time, to: second.time }), columns([first]));
  assert.deepEqual(await ask({ from: 0, to: third.time, countback: 1 }), columns([second]));
  assert.deepEqual(await ask({ to: END, countback: 500 }), columns(bars));
  assert.deepEqual(await ask({ to: END, countback: 20_000 }), columns(bars));
  assert.deepEqual(await ask({ from: -9_000_000_000, to: END }), columns(bars));
});

test('a span without bars names the newest one before it', async (t) => {
  const api = await tradedDoor(t);
  const symbol = api.pool().token;
  const bars = await charted(api, symbol, 'min1');
  const ask = (query: Record<string, string | number>) =>
    api.json('/udf/history', { symbol, resolution: '1', ...query });
  const last = bars.at(-1);
  const first = bars[0];
  assert.ok(last !== undefined && first !== undefined);
  const after = { from: last.time + 60, to: last.time + 120 };
  assert.deepEqual(await ask(after), { s: 'no_data', nextTime: last.time });
  assert.deepEqual(await ask({ from: 0, to: first.time }), { s: 'no_data' });
  assert.deepEqual(await ask({ to: first.time, countback: 10 }), { s: 'no_data' });
});

test('symbols are found by asset id and ticker; what is not there is said UDF way', async (t) => {
  const api = await tradedDoor(t);
  const { token } = api.pool();
  const info = await api.json('/udf/symbols', { symbol: token });
  const pools = await api.json('/v1/pools-main-page/initial/state', { filter: 'New' });
  // trust: the schema of the route is checked elsewhere
  const [{ info: known } = { info: { ticker: '', name: '' } }] = pools as {
    info: { ticker: string; name: string };
  }[];
  const name = `${known.ticker === '' ? known.name : known.ticker}/ADA`;
  assert.deepEqual(
    { ...Object(info), description: '' },
    {
      ...Object(info),
      name,
      ticker: token,
      pricescale: 10 ** 12,
      session: '24x7',
      description: '',
    },
  );
  for (const symbol of [name, `UPCURVE:${name}`, name.toLowerCase(), token.toUpperCase()]) {
    assert.deepEqual(await api.json('/udf/symbols', { symbol }), info, symbol);
  }
  const found = await api.json('/udf/search', { query: name.slice(0, 2) });
  assert.deepEqual(Object(found)[0], {
    symbol: name,
    full_name: `UPCURVE:${name}`,
    description: Object(info).description,
    exchange: 'UPCURVE',
    ticker: token,
    type: 'crypto',
  });
  assert.deepEqual(await api.json('/udf/search', {}), found);
  assert.deepEqual(await api.json('/udf/search', { query: 'nothing like it' }), []);
  const unknown = { s: 'error', errmsg: 'unknown_symbol' };
  for (const symbol of ['unknown', '_', '/ADA', `${token}_${token}`, `${'0'.repeat(56)}.00`]) {
    assert.deepEqual(await api.json('/udf/symbols', { symbol }), unknown, symbol);
    const query = { symbol, resolution: '1', from: 0, to: END };
    assert.deepEqual(await api.json('/udf/history', query), unknown, symbol);
  }
  const odd = await api.json('/udf/history', { symbol: token, resolution: '7', from: 0, to: 1 });
  assert.equal(Object(odd).s, 'error');
  const query = { symbol: token, resolution: '1', to: 'soon' };
  assert.equal((await api.get('/udf/history', query)).status, 400);
});

test('config and time', async (t) => {
  const api = await openMarketApi(t);
  const config = Object(await api.json('/udf/config', {}));
  assert.deepEqual(config.supported_resolutions, Object.keys(NAMES));
  const time = await api.get('/udf/time', {});
  assert.match(time.headers.get('content-type') ?? '', /^text\/plain/);
  assert.match(await time.text(), /^\d{10}$/);
});
