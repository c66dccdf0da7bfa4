/** Many spans in one call: each as history answers it, all at one position. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Action } from '../../chain/foldMarket.ts';
import { recordOf } from '../../support/subscription.ts';
import { type MarketApi, openMarketApi } from '../marketApi.ts';

const UNKNOWN = `${'ab'.repeat(28)}.00`;
const PATH = '/v1/charts/bulk';

function post(api: MarketApi, body: unknown): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(api.url + PATH, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function trade(api: MarketApi): Promise<void> {
  await api.block([
    { do: 'launch', user: 0, buy: 20 },
    { do: 'launch', user: 1, buy: 0 },
  ]);
  for (let round = 0; round < 12; round += 1) {
    const actions: Action[] = [0, 1].flatMap((pool): Action[] => [
      { do: 'place', user: 1, pool, side: 'buy', amount: 3 + round },
      { do: 'execute', pool },
    ]);
    await api.block(actions, 45_000 * (1 + (round % 3)));
  }
}

test('each item is what history answers, in the order asked and at one position', async (t) => {
  const api = await openMarketApi(t);
  await trade(api);
  const tokens = [api.pool(0).token, api.pool(1).token, UNKNOWN];
  const [from, to] = [0, Math.floor(api.world.fold.marketMs / 1000) + 600];
  const item = fc.record(
    {
      base: fc.constantFrom(...tokens),
      quote: fc.constant('.'),
      resolution: fc.constantFrom('min1', 'min5', 'hour1'),
      from: fc.integer({ min: Math.max(from, to - 3_000), max: to - 1 }),
      to: fc.constant(to),
      limit: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constant(null)),
      fill: fc.constantFrom('none', 'previous', ''),
      kind: fc.constantFrom('price', 'mcap', null),
      price: fc.constantFrom('trade', null),
    },
    { requiredKeys: ['base', 'quote', 'resolution', 'from', 'to'] },
  );
  let [bars, cuts, errors] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 12 }), async (items) => {
      const response = await post(api, items);
      const found: unknown = await response.json();
      assert.equal(response.status, 200, JSON.stringify(found));
      assert(Array.isArray(found) && found.length === items.length);
      for (const [index, { kind, limit, fill, price: _, ...rest }] of items.entries()) {
        const path = kind === 'mcap' ? '/v1/charts/mcap/history' : '/v1/charts/history';
        const query = { ...rest, limit: limit ?? 400, ...(fill ? { fill } : {}) };
        const one = await api.get(path, query);
        const body: unknown = await one.json();
        const next = one.headers.get('x-next-to');
        if (one.status === 200) {
          const nextTo = next === null ? {} : { nextTo: Number(next) };
          assert.deepEqual(found[index], { bars: body, ...nextTo });
          assert.equal(response.headers.get('x-position'), one.headers.get('x-position'));
          bars += Array.isArray(body) ? body.length : 0;
          cuts += next === null ? 0 : 1;
        } else {
          const { cause, message } = recordOf(body);
          assert.deepEqual(found[index], { error: { cause, message, path: `body.${index}` } });
          errors += 1;
        }
      }
    }),
    { numRuns: 25 },
  );
  // Some 13 answers are cut; fewer than six were seen.
  assert(bars > 50 && cuts > 0 && errors > 5, `${bars} bars, ${cuts} cuts, ${errors} errors`);
  assert.deepEqual(api.faults, []);
});

test('an item with a fault is refused before any work, by its path', async (t) => {
  const api = await openMarketApi(t);
  const good = { base: UNKNOWN, quote: '.', resolution: 'min1', from: 0, to: 60 };
  const refused: readonly [unknown, string][] = [
    [[], 'body'],
    [{}, 'body'],
    [null, 'body'],
    [[good, 7], 'body.1'],
    [Array(51).fill(good), 'body'],
    [Array(50).fill({ ...good, limit: 401 }), 'body'],
    [[good, { ...good, limit: 5_001 }], 'body.1.limit'],
    [[{ ...good, limit: 0 }], 'body.0.limit'],
    [[good, { ...good, to: 0 }], 'body.1.from'],
    [[{ ...good, resolution: 'min2' }], 'body.0.resolution'],
    [[{ ...good, base: 'x' }], 'body.0.base'],
    [[{ ...good, kind: 'volume' }], 'body.0.kind'],
    [[{ ...good, base: '.', kind: 'mcap' }], 'body.0.base'],
    [[good, { ...good, kind: 'mcap', price: 'spot' }], 'body.1.price'],
    [[{ quote: '.' }], 'body.0.base'],
  ];
  for (const [body, path] of refused) {
    const response = await post(api, body);
    const said = recordOf(await response.json());
    const what = `${JSON.stringify(body).slice(0, 100)}: ${JSON.stringify(said)}`;
    assert.deepEqual([response.status, said.cause], [400, 'INVALID_PARAMS'], what);
    const { details } = said;
    const paths = Array.isArray(details) ? details.map((detail) => recordOf(detail).path) : [];
    assert(paths.includes(path), what);
  }
  assert.equal((await post(api, Array(50).fill(good))).status, 200);
});
