/** The table of the market: what it asks the server, and the same for tokens that are here. */
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
  const all = [
    ticker('a', { marketCap: '500', createdOn: NOW - 2 * HOUR, graduated: true }),
    ticker('b', { marketCap: '1500.5', volume24h: '20' }),
    ticker('c', { marketCap: null, createdOn: null, graduated: null }),
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
  assert.equal(shown({ graduated: 'false' }), 'b');
});

test('the server is asked for what the reader chose, in its own units', () => {
  const within = { ...NO_BOUNDS, minMarketCap: '5', maxAgeHours: '3', minVolume: '7' };
  assert.deepEqual(tickersQuery('new', { by: 'price', order: 'asc' }, within, 200), {
    ...{ sort: 'price', order: 'asc', limit: 200 },
    ...{ minMarketCap: '5', minVolume24h: '7', maxAge: 3 * HOUR },
  });
  const sort = { by: 'progress', order: 'desc' } as const;
  // The tab says where its tokens trade, whatever was chosen on another.
  const curve = tickersQuery('graduating', sort, { ...NO_BOUNDS, graduated: 'true' }, 100);
  assert.equal(curve.graduated, 'false');
  assert.equal(countOf({ ...within, graduated: 'true' }, 'graduating'), 3);
  assert.equal(countOf({ ...within, graduated: 'true' }, 'new'), 4);
});

test('the order that is kept names new tokens last', () => {
  const all = ['a', 'b', 'c'].map((asset) => ticker(asset));
  assert.equal(names(inKeptOrder(all, ['c', 'x', 'b'])), 'cba');
});

test('lists of the market or of a side of it are live, lists within bounds are asked for', () => {
  const list = { sort: 'price', order: 'asc', limit: 100 } as const;
  assert.deepEqual(followedBy(list), list);
  assert.deepEqual(followedBy({ sort: 'price' }), { sort: 'price', limit: 100 });
  assert.deepEqual(followedBy(['a', 'b']), { assets: ['a', 'b'] });
  assert.equal(followedBy({ ...list, limit: 101 }), null);
  assert.deepEqual(followedBy({ ...list, graduated: 'true' }), { ...list, graduated: true });
  assert.equal(followedBy({ ...list, minProgress: 5 }), null);
});
