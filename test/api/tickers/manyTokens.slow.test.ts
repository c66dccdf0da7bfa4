/**
 * Lists of more tokens than one turn of the loop takes: over HTTP and on a socket they are made in
 * slices, and are right though entries come meanwhile.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { daysOf, filterOf, sorted, type TickerSort } from '../../../src/api/tickers/select.ts';
import { recordOf } from '../../support/subscription.ts';
import { Listener, type MarketApi, openMarketApi } from '../marketApi.ts';
import { launchBy, trade } from './recounted.ts';

const TOKENS = 1_200;
const A_BLOCK = 100;
const LIMIT = 500;

async function launched(t: TestContext): Promise<MarketApi> {
  const api = await openMarketApi(t);
  for (let count = 0; count < TOKENS; count += A_BLOCK) {
    const launches = Array.from({ length: A_BLOCK }, (_, index) => launchBy(index % 4, index % 7));
    await api.block(launches, 61_000);
  }
  return api;
}

function expectedOf({ world: { fold } }: MarketApi, question: Filtered): unknown {
  const { sort = 'volume24h', order = 'desc', ...filter } = question;
  const matches = filterOf(fold, filter);
  const days = daysOf(fold).filter((day) => matches?.(day) !== false);
  const assets = sorted(days, { sort, order }).map(({ asset }) => asset);
  return { count: assets.length, assets: assets.slice(0, LIMIT) };
}

type Filtered = Partial<TickerSort> & Parameters<typeof filterOf>[1];

async function listed(api: MarketApi, question: Filtered): Promise<unknown> {
  const query = Object.entries({ ...question, limit: LIMIT });
  const page = recordOf(await api.json('/v1/tickers', Object.fromEntries(query)));
  assert(Array.isArray(page.items));
  return { count: page.count, assets: page.items.map(({ asset }) => asset) };
}

const QUESTIONS: readonly Filtered[] = [
  {},
  { sort: 'marketCap', order: 'asc' },
  { graduated: 'false' },
  { minVolume24h: '2' },
  { minVolume24h: '3', sort: 'change1h' },
  { minProgress: 1, sort: 'progress' },
  { maxAge: 300 },
  { minAge: 120, sort: 'createdOn', order: 'asc' },
  { maxMarketCap: '100000', sort: 'volume5m' },
];

test('lists are right for any filters at once, and stay right', async (t) => {
  const api = await launched(t);
  const check = async () => {
    const pages = await Promise.all(QUESTIONS.map((question) => listed(api, question)));
    for (const [index, question] of QUESTIONS.entries()) {
      assert.deepEqual(pages[index], expectedOf(api, question), JSON.stringify(question));
    }
  };
  await check();
  // In a cached list, only the changed items are computed again.
  await api.block([...trade('buy', 40, { pool: 7 }), ...trade('buy', 90, { pool: 1_001 })]);
  await check();
  await api.pass(70_000);
  await check();
  await api.back(1);
  await check();
  // An entry comes while they are made.
  const asked = QUESTIONS.map((question) => listed(api, { ...question, minMarketCap: '1' }));
  await api.block([launchBy(1, 30)]);
  await Promise.all(asked);
  await check();
  assert.deepEqual(api.faults, []);
});

test('a subscription to a list that is not made yet waits, and is then right', async (t) => {
  const api = await launched(t);
  const { fold } = api.world;
  const data = { sort: 'volume1h', order: 'desc', limit: 100 };
  const listeners = await Promise.all([
    Listener.open(t, api, 'Tickers', data),
    Listener.open(t, api, 'Tickers', { ...data, sort: 'high24h', order: 'asc' }),
    Listener.open(t, api, 'Trending', {}),
  ]);
  const [list, other, trending] = listeners;
  assert(list !== undefined && other !== undefined && trending !== undefined);
  const orderOf = (frame: unknown) => recordOf(frame).order;
  const assetsOf = (sort: TickerSort) =>
    sorted(daysOf(fold), sort)
      .slice(0, 100)
      .map(({ asset }) => asset);
  for (const { frames } of listeners) {
    assert.deepEqual(
      frames.map(({ snapshot }) => snapshot),
      [true],
    );
  }
  assert.deepEqual(orderOf(list.last?.data), assetsOf({ sort: 'volume1h', order: 'desc' }));
  assert.deepEqual(orderOf(other.last?.data), assetsOf({ sort: 'high24h', order: 'asc' }));
  await api.block(trade('buy', 90, { pool: 1_001 }));
  const [changed] = await list.after(1, 1);
  assert.deepEqual(orderOf(changed), assetsOf({ sort: 'volume1h', order: 'desc' }));
  assert.deepEqual(api.faults, []);
});
