/** Tickers over HTTP: each as the contract says, sorted, filtered, by asset. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Compile } from 'typebox/compile';
import { Ticker } from '../../../src/api/tickers/schema.ts';
import { recordOf } from '../../support/subscription.ts';
import { until } from '../../support/until.ts';
import { Listener, type MarketApi, openMarketApi } from '../marketApi.ts';
import { launchBy, MAX_TRADES, recountedTicker, type TradeRow, trade } from './recounted.ts';

const UNKNOWN = `${'ab'.repeat(28)}.00`;
const HOUR_MS = 3_600_000;
const shape = Compile(Ticker);

async function expectedOf(api: MarketApi, index: number) {
  const pool = api.pool(index);
  const rows = await api.json('/v1/trades', { asset: pool.token, limit: MAX_TRADES });
  assert(Array.isArray(rows));
  const { marketMs } = api.world.fold;
  return recountedTicker(pool, rows as TradeRow[], marketMs, api.maker.blocks); // trust: compared
}

async function post(api: MarketApi, body: unknown): Promise<Response> {
  const headers = { 'Content-Type': 'application/json' };
  return fetch(`${api.url}/v1/tickers`, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function listed(api: MarketApi, query: Record<string, string | number>) {
  const page = recordOf(await api.json('/v1/tickers', query));
  assert(Array.isArray(page.items));
  return { count: page.count, assets: page.items.map(({ asset }) => String(asset)) };
}

test('a ticker is the one of the contract, and POST keeps the order of its body', async (t) => {
  const api = await openMarketApi(t);
  await api.block([launchBy(0, 30)]);
  await api.block([launchBy(2, 0), ...trade('buy', 40)], 61_000);
  await api.block([...trade('sell', 50, { user: 0 }), ...trade('buy', 9, { pool: 1 })], HOUR_MS);
  await api.pass(400_000);
  const [first, second] = [await expectedOf(api, 0), await expectedOf(api, 1)];
  assert.equal(first.buys6h, 2);
  assert.equal(first.sells6h, 1);
  assert.notEqual(second.change24h, null);
  const young = { '6h': { since: 'launch' }, '24h': { since: 'launch' } };
  assert.deepEqual([first.changeBasis, second.changeBasis], [young, young]);
  const body = [second.asset, UNKNOWN, first.asset.toUpperCase(), second.asset];
  const answer = await post(api, body);
  assert.equal(answer.status, 200);
  const found = recordOf(await answer.json());
  assert.deepEqual(found, { count: 2, items: [second, first] });
  for (const item of [first, second]) assert.deepEqual([...shape.Errors(item)], []);
  assert.equal((await post(api, [])).status, 400);
  assert.equal((await post(api, ['ada'])).status, 400);
});

test('lists are sorted and filtered, null last both ways, ties by asset id', async (t) => {
  const api = await openMarketApi(t);
  await api.block([launchBy(0, 30)]);
  await api.block([launchBy(1, 0), launchBy(2, 0)], 7 * HOUR_MS);
  await api.block([...trade('buy', 20, { pool: 1 })], 30 * HOUR_MS);
  const [old, traded, quiet] = [0, 1, 2].map((index) => api.pool(index).token);
  assert(old !== undefined && traded !== undefined && quiet !== undefined);
  const ties = [old, quiet].sort();
  assert.deepEqual(await listed(api, {}), { count: 3, assets: [traded, ...ties] });
  const up = await listed(api, { sort: 'volume24h', order: 'asc' });
  assert.deepEqual(up.assets, [...ties, traded]);
  const byTrade = [traded, old, quiet];
  assert.deepEqual((await listed(api, { sort: 'lastTrade' })).assets, byTrade, 'null is last');
  const oldest = await listed(api, { sort: 'lastTradeTime', order: 'asc' });
  assert.deepEqual(oldest.assets, [old, traded, quiet], 'null is last this way too');
  const young = { maxAge: (30 * HOUR_MS) / 1000 };
  assert.deepEqual(await listed(api, { ...young, limit: 1 }), { count: 2, assets: [traded] });
  const page = await listed(api, { ...young, limit: 1, offset: 1 });
  assert.deepEqual(page, { count: 2, assets: [quiet] });
  assert.deepEqual((await listed(api, { minVolume24h: '0.5' })).assets, [traded]);
  assert.deepEqual((await listed(api, { minProgress: 12 })).assets, [old]);
  assert.equal((await listed(api, { graduated: 'true' })).count, 0);
  assert.equal((await listed(api, { graduated: 'false' })).count, 3);
  const cap = (await expectedOf(api, 1)).marketCap;
  const above = await listed(api, { minMarketCap: cap, sort: 'marketCap' });
  assert.deepEqual(above.assets, [old, traded], 'the bound itself counts');
  const below = await listed(api, { maxMarketCap: cap, sort: 'marketCap' });
  assert.deepEqual(below.assets, [traded, quiet]);
  const some = await listed(api, { assets: quiet.toUpperCase() });
  assert.deepEqual(some, { count: 1, assets: [quiet] });
  for (const [name, value] of [
    ['sort', 'name'],
    ['order', 'up'],
    ['limit', '501'],
    ['minMarketCap', '-1'],
    ['graduated', 'yes'],
    ['minProgress', '101'],
    ['assets', 'ada'],
  ] as const) {
    const answer = await api.get('/v1/tickers', { [name]: value });
    assert.equal(answer.status, 400, name);
  }
});

test('a token that graduates goes from one side of a list to the other, and back', async (t) => {
  const api = await openMarketApi(t);
  await api.block([launchBy(0, 0), launchBy(1, 50), ...trade('buy', 150), ...trade('buy', 53)]);
  const sides = await Promise.all(
    [false, true].map((graduated) =>
      Listener.open(t, api, 'Tickers', { sort: 'progress', graduated }),
    ),
  );
  const shown = (side: Listener) => {
    const frame = side.frames.findLast(({ event }) => event === 'TickersUpdate');
    return recordOf(frame?.data).order;
  };
  const areShown = (...expected: string[][]) =>
    until(
      () => `${JSON.stringify(expected)}: ${JSON.stringify(sides.map(shown))}`,
      () => JSON.stringify(sides.map(shown)) === JSON.stringify(expected),
    );
  const [full, other] = [api.pool(0).token, api.pool(1).token];
  await areShown([full, other], []);
  await api.block([{ do: 'execute', pool: 0 }]);
  await areShown([other], [full]);
  await api.back(1);
  await areShown([full, other], []);
});

test('a list within bounds is followed as tokens enter and leave it, forks included', async (t) => {
  const api = await openMarketApi(t);
  await api.block([launchBy(0, 30), launchBy(1, 0), launchBy(2, 0)]);
  const [full, other, quiet] = [0, 1, 2].map((index) => api.pool(index).token);
  assert(full !== undefined && other !== undefined && quiet !== undefined);
  const listeners = [
    { sort: 'marketCap', minVolume24h: '5' },
    { minVolume24h: '5', sort: 'marketCap' },
    { sort: 'marketCap', maxAge: 3_600 },
    { sort: 'marketCap', minProgress: 5, graduated: false },
  ] as const;
  const open = await Promise.all(
    listeners.map((bounds) => Listener.open(t, api, 'Tickers', bounds)),
  );
  const shown = (listener: Listener) => {
    const frame = listener.frames.findLast(({ event }) => event === 'TickersUpdate');
    return recordOf(frame?.data).order;
  };
  const isAsHttp = async (at: number) => {
    const { graduated, ...bounds } = { graduated: undefined, ...listeners[at] };
    const side = graduated === undefined ? {} : { graduated: String(graduated) };
    const { assets } = await listed(api, { ...bounds, ...side });
    const listener = open[at];
    assert(listener !== undefined);
    await until(
      () => `${at}: ${JSON.stringify(assets)}, shown ${JSON.stringify(shown(listener))}`,
      () => JSON.stringify(shown(listener)) === JSON.stringify(assets),
    );
    return assets;
  };
  const all = async () => {
    const lists: string[][] = [];
    for (const at of listeners.keys()) lists.push(await isAsHttp(at));
    return lists;
  };
  const ties = [other, quiet].sort();
  assert.deepEqual(await all(), [[full], [full], [full, ...ties], [full]]);
  await api.block(trade('buy', 40, { pool: 1 }));
  assert.deepEqual((await all())[0]?.toSorted(), [full, other].toSorted());
  await api.back(1);
  assert.deepEqual((await all())[0], [full]);
  await api.block([], 2 * HOUR_MS);
  assert.deepEqual((await all())[2], [], 'all have grown too old');
  const refused = await Listener.open(t, api, 'Tickers', { minMarketCap: '-1' });
  assert.equal(refused.last?.event, 'Error');
});
