/** The newest trades of the market: those that the tapes of its tokens have, whatever happened. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Deed } from '../../chain/foldMarket.ts';
import { recordOf } from '../../support/subscription.ts';
import { until } from '../../support/until.ts';
import { Listener, type MarketApi, openMarketApi } from '../marketApi.ts';
import { launchBy, trade } from '../tickers/recounted.ts';

const LIMIT = 5;

type Row = Readonly<Record<string, unknown>>;

/** Of all tapes, newest first, ties by asset id. */
async function expectedOf(api: MarketApi, limit: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { token: asset } of api.maker.state.pools.values()) {
    const tape = await api.json('/v1/trades', { asset });
    const { ticker } = recordOf(await api.json('/v1/asset-info', { asset }));
    assert(Array.isArray(tape));
    rows.push(...tape.map((row) => ({ asset, ticker, ...recordOf(row) })));
  }
  const place = ({ id }: Row) => String(id);
  rows.sort((a, b) => (String(a.asset) < String(b.asset) ? -1 : 1));
  return rows
    .toSorted((a, b) => (place(a) < place(b) ? 1 : place(a) > place(b) ? -1 : 0))
    .slice(0, limit);
}

const pool = fc.nat(3);
const anyDeeds = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom('buy', 'sell'), pool, fc.nat(60))
      .map(([side, pool, by]) => trade(side, by + 1, { pool })),
  },
  { weight: 1, arbitrary: fc.nat(30).map((buy) => [launchBy(1, buy)]) },
  { weight: 1, arbitrary: pool.map((pool): Deed[] => [{ do: 'lock', pool, user: 1, to: 2 }]) },
);
type Step =
  | { readonly deeds: readonly Deed[]; readonly afterMs: number }
  | { readonly back: number };
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      deeds: fc.array(anyDeeds, { maxLength: 4 }).map((some) => some.flat()),
      // Also several blocks within a second.
      afterMs: fc.constantFrom(0, 1_000, 40_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ back: fc.integer({ min: 1, max: 3 }) }) },
);

test('the newest trades of all tokens are followed, rollbacks included', async (t) => {
  const api = await openMarketApi(t);
  const steps = fc.array(anyStep, { minLength: 4, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      const few = await Listener.open(t, api, 'NewestTrades', { limit: LIMIT });
      const many = await Listener.open(t, api, 'NewestTrades', {});
      for (const step of taken) {
        if ('back' in step) await api.back(Math.min(step.back, api.maker.state.height));
        else await api.block(step.deeds, step.afterMs);
        const { seq } = api.world.node.applied();
        const shown = (listener: Listener) => JSON.stringify(listener.last?.data);
        for (const [listener, limit] of [
          [few, LIMIT],
          [many, 20],
        ] as const) {
          const expected = JSON.stringify(await expectedOf(api, limit));
          await until(
            () => `at ${seq}: ${shown(listener)}, not ${expected}`,
            () => shown(listener) === expected,
          );
        }
      }
      few.close();
      many.close();
    }),
    { numRuns: 12 },
  );
  assert.deepEqual(api.faults, []);
});

test('who comes back gets the list as it is now, without a snapshot', async (t) => {
  const api = await openMarketApi(t);
  await api.block([launchBy(0, 30), launchBy(1, 0)]);
  const first = await Listener.open(t, api, 'NewestTrades', {});
  assert.equal(first.last?.snapshot, true);
  const { epoch, seq } = api.world.node.applied();
  await api.block(trade('buy', 40, { pool: 1 }));
  const late = await Listener.open(t, api, 'NewestTrades', {}, { since: { epoch, seq } });
  const [, answer] = await late.after(0, 2);
  assert.deepEqual(answer, await expectedOf(api, 20));
  assert.deepEqual(
    late.frames.map(({ event }) => event),
    ['Subscribed', 'NewestTradesUpdate'],
  );
  const none = await Listener.open(t, api, 'NewestTrades', { limit: 51 });
  assert.equal(none.last?.event, 'Error');
});
