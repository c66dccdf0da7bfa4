/**
 * The newest trades of the market equal the merged trade lists of its tokens, after every kind of
 * change.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { NewestWindow } from '../../../src/api/trades/newestWindow.ts';
import type { Action } from '../../chain/foldMarket.ts';
import { recordOf } from '../../support/subscription.ts';
import { until } from '../../support/until.ts';
import { Listener, type MarketApi, openMarketApi } from '../marketApi.ts';
import { launchBy, trade } from '../tickers/recounted.ts';

const LIMIT = 5;

type Row = Readonly<Record<string, unknown>>;

/** The trades of all tokens, newest first, ties by asset id. */
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
  { weight: 1, arbitrary: pool.map((pool): Action[] => [{ do: 'lock', pool, user: 1, to: 2 }]) },
);
type Step =
  | { readonly actions: readonly Action[]; readonly afterMs: number }
  | { readonly back: number };
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      actions: fc.array(anyDeeds, { maxLength: 4 }).map((some) => some.flat()),
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
      const small = new NewestWindow(LIMIT);
      for (const step of taken) {
        if ('back' in step) await api.back(Math.min(step.back, api.maker.state.height));
        else await api.block(step.actions, step.afterMs);
        const { seq } = api.world.node.applied();
        // A window that is full loses its oldest trades, and gets them back after a rollback.
        assert.ok(small.refresh(api.world.fold, () => false));
        const kept = small.newest(LIMIT, () => true);
        assert.deepEqual(kept, await expectedOf(api, LIMIT));
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

interface Filter {
  readonly minQuote?: string;
  readonly side?: 'buy' | 'sell';
  readonly minMarketCap?: string;
  readonly maxMarketCap?: string;
  readonly maxAge?: number;
}
const anyFilter: fc.Arbitrary<Filter> = fc.record(
  {
    minQuote: fc.integer({ min: 0, max: 60 }).map((ada) => `${ada}000000`),
    side: fc.constantFrom('buy' as const, 'sell' as const),
    minMarketCap: fc.integer({ min: 2_500, max: 3_500 }).map(String),
    maxMarketCap: fc.integer({ min: 2_500, max: 3_500 }).map(String),
    maxAge: fc.constantFrom(0, 1, 40, 100),
  },
  { requiredKeys: [] },
);

/** By the rows of tapes, as a reader would. */
function passes(row: Row, createdOn: number, filter: Filter): boolean {
  const cap = Number(row.spotAfter) * 1e9;
  const { minQuote = '0', side, minMarketCap = '0', maxMarketCap = '1e30', maxAge } = filter;
  return (
    BigInt(String(row.quoteAmount)) >= BigInt(minQuote) &&
    (side === undefined || row.side === side) &&
    cap >= Number(minMarketCap) &&
    cap <= Number(maxMarketCap) &&
    (maxAge === undefined || Number(row.time) - createdOn <= maxAge)
  );
}

test('filtered trades are those of the tapes that pass, rollbacks included', async (t) => {
  const api = await openMarketApi(t);
  const steps = fc.array(anyStep, { minLength: 4, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(steps, anyFilter, async (taken, filter) => {
      const listener = await Listener.open(t, api, 'NewestTrades', { limit: LIMIT, ...filter });
      for (const step of taken) {
        if ('back' in step) await api.back(Math.min(step.back, api.maker.state.height));
        else await api.block(step.actions, step.afterMs);
        const created = new Map<unknown, number>();
        for (const { token } of api.maker.state.pools.values()) {
          const { pool } = recordOf(
            await api.json('/v1/pools-feed/initial/state', { asset: token }),
          );
          created.set(token, Number(recordOf(pool).createdOn));
        }
        const expected = (await expectedOf(api, 10_000))
          .filter((row) => passes(row, created.get(row.asset) ?? 0, filter))
          .slice(0, LIMIT);
        const shown = () => JSON.stringify(listener.last?.data);
        await until(
          () => `${JSON.stringify(filter)}: ${shown()}, not ${JSON.stringify(expected)}`,
          () => shown() === JSON.stringify(expected),
        );
      }
      listener.close();
    }),
    { numRuns: 15 },
  );
  assert.deepEqual(api.faults, []);
});

test('a trade on the curve stays one when its token has graduated', async (t) => {
  const api = await openMarketApi(t);
  await api.block([launchBy(0, 0), ...trade('buy', 150), ...trade('buy', 53)]);
  const sides = await Promise.all(
    [false, true].map((graduated) => Listener.open(t, api, 'NewestTrades', { graduated })),
  );
  const counts = () => sides.map(({ last }) => (Array.isArray(last?.data) ? last.data.length : -1));
  const are = (...expected: number[]) =>
    until(
      () => `${counts()}, not ${expected}`,
      () => counts().join() === expected.join(),
    );
  await are(2, 0);
  await api.block([{ do: 'execute', pool: 0 }]);
  await api.block(trade('buy', 30));
  await are(2, 1);
  await api.back(1);
  await are(2, 0);
});

test('a client that returns gets the present list, without a snapshot', async (t) => {
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
