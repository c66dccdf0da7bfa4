/** Insights, live: the topic sends the answer of the route at the same position. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Compile } from 'typebox/compile';
import { Insights } from '../../../src/api/holders/insights.ts';
import type { Action } from '../../chain/foldMarket.ts';
import { recordOf } from '../../support/subscription.ts';
import { until } from '../../support/until.ts';
import { Listener, openMarketApi } from '../marketApi.ts';
import { launchBy, trade } from '../tickers/recounted.ts';

const shape = Compile(Insights);
const transfer: Action = { do: 'transfer', user: 0, pool: 0, to: 3 };

test('every change of who holds a token is sent, and what a fork undoes', async (t) => {
  const api = await openMarketApi(t);
  await api.block([]);
  const unknown = await Listener.open(t, api, 'Insights', { asset: `${'ab'.repeat(28)}.00` });
  assert.equal(unknown.last?.data, null, 'not launched here');
  await api.block([launchBy(0, 30)]);
  const [launched = ''] = api.maker.state.pools.keys();
  const own = await Listener.open(t, api, 'Insights', { asset: launched });
  const follow = async (what: string, isThere: (insights: Record<string, unknown>) => boolean) => {
    const seen = () => (own.last?.data === null ? {} : recordOf(own.last?.data));
    await until(
      () => `${what}: ${JSON.stringify(seen())}`,
      () => isThere(seen()),
    );
    assert.deepEqual(seen(), await api.json('/v1/tokens/insights', { asset: launched }), what);
    assert.deepEqual([...shape.Errors(seen())], []);
  };
  await api.block(trade('buy', 9));
  await follow('a sniper', ({ snipers }) => recordOf(snipers).keys === 1);
  await api.block([transfer]);
  await follow('a transfer, without a trade', ({ insiders }) => recordOf(insiders).keys === 1);
  await api.block([launchBy(0, 0)]);
  await follow('another launch of the author', ({ author }) => recordOf(author).launches === 1);
  await api.back(2);
  await follow('both undone', ({ insiders, author }) => {
    return recordOf(insiders).keys === 0 && recordOf(author).launches === 0;
  });
  await api.back(2);
  await until('the token is gone', () => own.last?.data === null);
  assert.deepEqual(api.faults, []);
});
