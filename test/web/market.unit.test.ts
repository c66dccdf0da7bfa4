/**
 * The table of the market: its requests, and the same rows computed from tokens that are already
 * loaded.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ticker } from '../../src/client/types.ts';
import {
  countOf,
  followedBy,
  inKeptOrder,
  NO_BOUNDS,
  shownTickers,
  tickersQuery,
} from '../../src/web/home/market.ts';
import { NOW, ticker } from './tickers.ts';

const HOUR = 3600;

const names = (all: readonly Ticker[]) => all.map(({ asset }) => asset).join('');

test('null comes last both ways, and ties by asset id', () => {
  const all = [
    ticker('d'),
    ticker('c', { change1h: '-9.50' }),
    ticker('b', { change1h: '10.00' }),
    ticker('a', { change1h: '10.00' }),
  ];
  const sorted = (order: 'asc' | 'desc') =>
    names(shownTickers(all, { by: 'change1h', order }, NO_BOUNDS, NOW));
  assert.equal(sorted('desc'), 'abcd');
  assert.equal(sorted('asc'), 'cabd');
  assert.equal(names(shownTickers(all, null, NO_BOUNDS, NOW)), 'dcba');
});

test('a token is shown within every bound, and one without the value is not', () => {
  const trusted = {
    holders: 9,
    top10Percent: '40.00',
    authorPercent: '0.00',
    snipersPercent: '1.50',
  };
  const doubtful = {
    ...{ holders: 2, top10Percent: '100.00', authorPercent: '80.01', snipersPercent: '1.51' },
  };
  const unknown = { holders: null, top10Percent: null, authorPercent: null, snipersPercent: null };
  const all = [
    ticker('a', { marketCap: '500', createdOn: NOW - 2 * HOUR, graduated: true, ...trusted }),
    ticker('b', { marketCap: '1500.5', volume24h: '20', ...doubtful }),
    ticker('c', { marketCap: null, createdOn: null, graduated: null, ...unknown }),
  ];
  const shown = (bounds: Partial<typeof NO_BOUNDS>) =>
    names(shownTickers(all, null, { ...NO_BOUNDS, ...bounds }, NOW));
  assert.equal(shown({}), 'abc');
  assert.equal(shown({ minMarketCap: '500' }), 'ab');
  assert.equal(shown({ maxMarketCap: '1500' }), 'a');
  assert.equal(shown({ minVolume: '20' }), 'b');
  assert.equal(shown({ minAgeHours: '2' }), 'a');
  assert.equal(shown({ maxAgeHours: '1' }), 'b');
  assert.equal(shown({ graduated: 'true' }), 'a');
  assert.equal(shown({ minHolders: '2' }), 'ab');
  assert.equal(shown({ minHolders: '3' }), 'a');
  assert.equal(shown({ maxTop10Percent: '40' }), 'a');
  assert.equal(shown({ maxAuthorPercent: '80' }), 'a');
  assert.equal(shown({ maxSnipersPercent: '1.5' }), 'a');
  assert.equal(shown({ maxSnipersPercent: '100' }), 'ab');
  assert.equal(shown({ graduated: 'false' }), 'b');
});

test('the server is asked for what the reader chose, in its own units', () => {
  const within = { ...NO_BOUNDS, minMarketCap: '5', maxAgeHours: '3', minVolume: '7' };
  assert.deepEqual(tickersQuery('new', { by: 'price', order: 'asc' }, within, 200), {
    ...{ sort: 'price', order: 'asc', limit: 200 },
    ...{ minMarketCap: '5', minVolume24h: '7', maxAge: 3 * HOUR },
  });
  const shares = { minHolders: '3', maxTop10Percent: '40', maxSnipersPercent: '1.5' };
  const query = tickersQuery(
    'new',
    { by: 'holders', order: 'asc' },
    { ...NO_BOUNDS, ...shares },
    9,
  );
  assert.deepEqual(query, {
    ...{ sort: 'holders', order: 'asc', limit: 9 },
    ...{ minHolders: 3, maxTop10Percent: 40, maxSnipersPercent: 1.5 },
  });
  const sort = { by: 'progress', order: 'desc' } as const;
  // The tab decides on curve or AMM, whatever was chosen on another tab.
  const curve = tickersQuery('graduating', sort, { ...NO_BOUNDS, graduated: 'true' }, 100);
  assert.equal(curve.graduated, 'false');
  assert.equal(countOf({ ...within, graduated: 'true' }, 'graduating'), 3);
  assert.equal(countOf({ ...within, graduated: 'true' }, 'new'), 4);
});

test('the order that is kept names new tokens last', () => {
  const all = ['a', 'b', 'c'].map((asset) => ticker(asset));
  assert.equal(names(inKeptOrder(all, ['c', 'x', 'b'])), 'cba');
});

test('lists are live as far as the topic reaches, within bounds too', () => {
  const list = { sort: 'price', order: 'asc', limit: 100 } as const;
  assert.deepEqual(followedBy(list), list);
  assert.deepEqual(followedBy({ sort: 'price' }), { sort: 'price', limit: 100 });
  assert.deepEqual(followedBy(['a', 'b']), { assets: ['a', 'b'] });
  assert.equal(followedBy({ ...list, limit: 101 }), null);
  assert.deepEqual(followedBy({ ...list, graduated: 'true' }), { ...list, graduated: true });
  const bounds = { minProgress: 5, maxTop10Percent: 40, minHolders: 3 };
  assert.deepEqual(followedBy({ ...list, ...bounds }), { ...list, ...bounds });
});
