/**
 * Tickers equal a recount of all trades, whatever blocks, forks and restarts came before. A failure
 * prints `{ seed, path }` for the options of `fc.assert`.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { TokenDay } from '../../../src/api/tickers/day.ts';
import type { Ticker } from '../../../src/api/tickers/schema.ts';
import { viewTicker } from '../../../src/api/tickers/view.ts';
import { tradesOf } from '../../../src/api/trades/routes.ts';
import { appendBlock, passTo, rollBackTo } from '../../chain/foldChain.ts';
import { BlockMaker, type Deed } from '../../chain/foldMarket.ts';
import { FoldWorld } from '../../support/foldWorld.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { launchBy, MOST_TRADES, recountedTicker, trade } from './recounted.ts';

const HOUR_MS = 3_600_000;

type Step =
  | { readonly do: 'block'; readonly deeds: readonly Deed[]; readonly afterMs: number }
  | { readonly do: 'back'; readonly blocks: number }
  | { readonly do: 'pass'; readonly forMs: number }
  | { readonly do: 'restart' };

const pool = fc.nat(2);
const user = fc.nat(3);
const deeds: fc.Arbitrary<Deed[]> = fc.oneof(
  { weight: 1, arbitrary: fc.tuple(user, fc.nat(60)).map(([who, buy]) => [launchBy(who, buy)]) },
  {
    weight: 4,
    arbitrary: fc
      .record({
        side: fc.constantFrom('buy' as const, 'sell' as const),
        amount: fc.integer({ min: 1, max: 100 }),
        pool,
        user,
      })
      .map(({ side, amount, ...who }) => trade(side, amount, who)),
  },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('block' as const),
      deeds: fc.array(deeds, { maxLength: 4 }).map((lists) => lists.flat()),
      afterMs: fc.constantFrom(1_000, 20_000, 61_000, 300_000, HOUR_MS, 6 * HOUR_MS, 20 * HOUR_MS),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('back' as const), blocks: fc.nat(4) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      forMs: fc.constantFrom(30_000, 400_000, 2 * HOUR_MS, 26 * HOUR_MS),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'restart' as const }) },
);

/** Some steps pass unseen: what is not read in between changes all the same. */
const looked = fc
  .tuple(step, fc.nat(3))
  .map(([next, chance]) => ({ ...next, isLookedAt: chance > 0 }));

async function perform(world: FoldWorld, maker: BlockMaker, next: Step): Promise<FoldWorld> {
  if (next.do === 'restart') return world.restarted();
  if (next.do === 'block') await appendBlock(world, maker.block(next.deeds, next.afterMs));
  else if (next.do === 'pass') await passTo(world, world.fold.marketMs + next.forMs);
  else if (maker.state.height > 0) await rollBackTo(world, maker.back(next.blocks));
  return world;
}

interface Seen {
  readonly seq: number;
  readonly ticker: Ticker;
}

/** `seen`: the tickers as they were when somebody looked, by token. */
function checkTickers({ fold }: FoldWorld, maker: BlockMaker, seen: Map<string, Seen>): void {
  const seq = fold.store.checkpoint?.seq ?? 0;
  for (const pool of maker.state.pools.values()) {
    const { token } = pool;
    const rows = tradesOf(fold, token, MOST_TRADES);
    const changedSeq = fold.tickers.changedSeq(token);
    const sparkSeq = fold.tickers.changes.sparkSeq(token);
    const day = TokenDay.of(fold, token);
    assert(day !== null, `${token} has a ticker`);
    const ticker = viewTicker(day);
    assert.deepEqual(ticker, recountedTicker(pool, rows, fold.marketMs));
    const before = seen.get(token) ?? null;
    if (before !== null && changedSeq <= before.seq) assert.deepEqual(ticker, before.ticker);
    if (before !== null && sparkSeq <= before.seq) {
      const { from, closes } = ticker.spark;
      // The last close is the price, which clients have.
      const old = before.ticker.spark;
      assert.deepEqual([from, closes.slice(0, -1)], [old.from, old.closes.slice(0, -1)]);
    }
    seen.set(token, { seq, ticker });
  }
}

test('tickers equal a recount of all trades after any blocks, forks and restarts', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(looked, { minLength: 4, maxLength: 24 }), async (steps) => {
      const maker = new BlockMaker();
      let world = await FoldWorld.open(t, join(temporaryDirectory(), 'data'));
      const seen = new Map<string, Seen>();
      await appendBlock(world, maker.block([launchBy(0, 20)], 20_000));
      for (const next of steps) {
        world = await perform(world, maker, next);
        if (next.isLookedAt) checkTickers(world, maker, seen);
      }
    }),
    { numRuns: 25, seed: 917 },
  );
});
