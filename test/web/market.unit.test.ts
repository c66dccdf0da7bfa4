/** The table of the market: what it asks the server, and the same for tokens that are here. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ticker } from '../../src/client/types.ts';
import {
  countOf,
  inKeptOrder,
  NO_BOUNDS,
  shownTickers,
  tickersQuery,
} from '../../src/web/home/market.ts';

const NOW = 1_700_000_000;
const HOUR = 3600;

const NO_TRADES = {
  ...{ change5m: null, change1h: null, change6h: null, change24h: null },
  ...{ volume5m: '0', volume1h: '0', volume6h: '0', volume24h: '0' },
  ...{ buys5m: 0, sells5m: 0, buys1h: 0, sells1h: 0 },
  ...{ buys6h: 0, sells6h: 0, buys24h: 0, sells24h: 0 },
} as const;

function ticker(asset: string, change: Partial<Ticker> = {}): Ticker {
  return {
    ...NO_TRADES,
    ...{ asset, name: asset, ticker: asset, logoCID: '', price: '0.001' },
    ...{ marketCap: '1000', high24h: '0.001', low24h: '0.001', traders24h: 0, liquidity: '10' },
    ...{ progress: '1', createdOn: NOW, lastTradeTime: null, graduated: false },
    spark: { from: NOW, closes: [] },
    ...change,
  };
}

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
