/**
 * Tickers equal a recount of all trades, whatever blocks, forks and restarts came before. A failure
 * prints `{ seed, path }` for the options of `fc.assert`.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { TrendingPools } from '../../../src/api/pools/trending.ts';
import { TokenDay } from '../../../src/api/tickers/day.ts';
import { daysOf, sorted, type TickerSort } from '../../../src/api/tickers/select.ts';
import { tickerTopics } from '../../../src/api/tickers/topics.ts';
import { viewTicker } from '../../../src/api/tickers/view.ts';
import { TickerViews } from '../../../src/api/tickers/views.ts';
import type { Source } from '../../../src/api/topics/port.ts';
import { tradesOf } from '../../../src/api/trades/routes.ts';
import type { Ticker } from '../../../src/client/types.ts';
import { intervalStart, MINUTE_MS } from '../../../src/engine/market/resolution.ts';
import { WINDOW_MS, WINDOWS, type Window } from '../../../src/engine/market/windows.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import type { Position } from '../../../src/engine/runtime/position.ts';
import { appendBlock, passTo, rollBackTo } from '../../chain/foldChain.ts';
import { type Action, BlockMaker } from '../../chain/foldMarket.ts';
import { FoldWorld } from '../../support/foldWorld.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { framesFor, ListClient } from '../../support/topicClients.ts';
import { launchBy, MAX_TRADES, recountedTicker, trade } from './recounted.ts';

const HOUR_MS = 3_600_000;

type Step =
  | { readonly do: 'block'; readonly actions: readonly Action[]; readonly afterMs: number }
  | { readonly do: 'back'; readonly blocks: number }
  | { readonly do: 'pass'; readonly forMs: number }
  | { readonly do: 'edge'; readonly window: Window; readonly trade: number }
  | { readonly do: 'read' | 'keep'; readonly steps: number }
  | { readonly do: 'restart' };

const pool = fc.nat(2);
const user = fc.nat(3);
const actions: fc.Arbitrary<Action[]> = fc.oneof(
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
const keep: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('keep' as const),
  steps: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.constant(1_000)),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('block' as const),
      actions: fc.array(actions, { maxLength: 4 }).map((lists) => lists.flat()),
      afterMs: fc.constantFrom(1_000, 20_000, 61_000, 300_000, HOUR_MS, 6 * HOUR_MS, 20 * HOUR_MS),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('back' as const), blocks: fc.nat(4) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      forMs: fc.constantFrom(30_000, MINUTE_MS, 400_000, 2 * HOUR_MS, 26 * HOUR_MS),
    }),
  },
  { weight: 3, arbitrary: keep },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('read' as const),
      steps: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ do: 'restart' as const }) },
);

/** A minute leaves a window, with lists that are in step, or partly. */
const turn: fc.Arbitrary<Step[]> = fc
  .record({
    edge: fc.record({
      do: fc.constant('edge' as const),
      window: fc.constantFrom(...WINDOWS),
      trade: fc.nat(5),
    }),
    kept: fc.array(keep, { maxLength: 2 }),
    turns: fc.array(
      fc.oneof(
        { weight: 4, arbitrary: fc.constant({ do: 'pass' as const, forMs: MINUTE_MS }) },
        { weight: 2, arbitrary: fc.constant({ do: 'back' as const, blocks: 1 }) },
        { weight: 1, arbitrary: step },
      ),
      { minLength: 1, maxLength: 3 },
    ),
  })
  .map(({ edge, kept, turns }) => [edge, ...kept, ...turns]);

/** Some steps pass unseen: no client reads the list in between, but it changes all the same. */
const looked = fc
  .tuple(
    fc.oneof({ weight: 3, arbitrary: step.map((only) => [only]) }, { weight: 2, arbitrary: turn }),
    fc.infiniteStream(fc.nat(3)),
  )
  .map(([steps, chances]) =>
    steps.map((next) => ({
      ...next,
      isLookedAt: chances.next().value > 0 && next.do !== 'read' && next.do !== 'keep',
    })),
  );

async function perform(world: FoldWorld, maker: BlockMaker, next: Step): Promise<FoldWorld> {
  if (next.do === 'restart') return world.restarted();
  if (next.do === 'read') readSome(world, next.steps);
  else if (next.do === 'keep') keepSome(world, next.steps);
  else if (next.do === 'edge') await passTo(world, edgeOf(world, maker, next));
  else if (next.do === 'block') await appendBlock(world, maker.block(next.actions, next.afterMs));
  else if (next.do === 'pass') await passTo(world, world.fold.marketMs + next.forMs);
  else if (next.do === 'back' && maker.state.height > 0) {
    await rollBackTo(world, maker.back(next.blocks));
  }
  return world;
}

/** As a node does before it serves: entries come in between. */
function readSome({ fold }: FoldWorld, steps: number): void {
  fold.readTickers(after(steps));
}

/** As a node does while it serves. */
function keepSome({ node, fold }: FoldWorld, steps: number): void {
  TickerViews.of(node).refresh(after(steps));
  TrendingPools.of(fold).refresh(after(steps));
}

function after(steps: number): () => boolean {
  let left = steps;
  return () => {
    left -= 1;
    return left < 0;
  };
}

/** Market time with which a trade is in the last minute of a window. */
function edgeOf(
  { fold }: FoldWorld,
  maker: BlockMaker,
  { window, trade: index }: Extract<Step, { readonly do: 'edge' }>,
): number {
  const edges = [...maker.state.pools.values()].flatMap(({ token }) =>
    tradesOf(fold, token, MAX_TRADES)
      .map(({ time }) => intervalStart('min1', time * 1000) + WINDOW_MS[window])
      .filter((edgeMs) => edgeMs > fold.marketMs),
  );
  return edges[index % edges.length] ?? fold.marketMs;
}

const SUBSCRIPTIONS: readonly TickerSort[] = [
  { sort: 'volume24h', order: 'desc' },
  { sort: 'change1h', order: 'asc' },
  { sort: 'volume5m', order: 'asc' },
  { sort: 'traders24h', order: 'desc' },
  { sort: 'createdOn', order: 'desc' },
];
const LIMIT = 2;

/** Clients of all subscriptions, as one process answers them after the other. */
class TickerClients {
  readonly #clients = [...SUBSCRIPTIONS, null].map(() => new ListClient());
  #sources: readonly Source[] = [];
  #world: FoldWorld | null = null;
  #own: Position | null = null;

  check(world: FoldWorld, assets: readonly string[]): void {
    const { fold } = world;
    if (world !== this.#world) this.#sources = sourcesOf(world, assets.slice(0, 1));
    this.#world = world;
    const { epoch, seq } = fold.store.checkpoint ?? assert.fail('something is applied');
    const applied = { epoch, seq };
    for (const [index, source] of this.#sources.entries()) {
      const client = this.#clients[index] ?? assert.fail('each has a client');
      for (const { data, isSnapshot } of framesFor(source, this.#own, applied)) {
        client.take(data, isSnapshot);
      }
      const sort = SUBSCRIPTIONS[index];
      const days =
        sort === undefined
          ? daysOf(fold, assets.slice(0, 1))
          : sorted(daysOf(fold), sort).slice(0, LIMIT);
      const expected = days.map((day) => JSON.parse(JSON.stringify(viewTicker(day))));
      assert.deepEqual(client.page, expected, source.key);
    }
    this.#own = applied;
    checkTrending(world);
  }
}

function checkTrending({ fold }: FoldWorld): void {
  const expected = daysOf(fold)
    .filter(({ pool }) => pool !== null)
    .sort((a, b) => {
      const volumes = b.sums('24h').volume - a.sums('24h').volume;
      const caps = (b.marketCapLovelace ?? 0n) - (a.marketCapLovelace ?? 0n);
      return Number(volumes) || Number(caps) || (a.asset < b.asset ? -1 : 1);
    })
    .map(({ asset }) => asset);
  const shown = TrendingPools.of(fold).page(100);
  assert.deepEqual(
    shown.map(({ pool: { token } }) => token),
    expected,
  );
}

function sourcesOf({ node }: FoldWorld, assets: readonly string[]): Source[] {
  const [topic = assert.fail('the topic is there')] = tickerTopics(node);
  const subscriptions = [...SUBSCRIPTIONS.map((sort) => ({ ...sort, limit: LIMIT })), { assets }];
  return subscriptions.map((data) => {
    const open = topic.accept(data);
    assert(!(open instanceof Failure));
    const source = open();
    assert(!(source instanceof Failure));
    return source;
  });
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
    const rows = tradesOf(fold, token, MAX_TRADES);
    const before = seen.get(token) ?? null;
    const keepsSpark = before !== null && !fold.tickers.sparkChangedSince(token, before.seq);
    const day = TokenDay.of(fold, token);
    assert(day !== null, `${token} has a ticker`);
    const ticker = viewTicker(day);
    assert.deepEqual(ticker, recountedTicker(pool, rows, fold.marketMs, maker.blocks));
    if (before !== null && !fold.tickers.changedSince(token, before.seq)) {
      assert.deepEqual(ticker, before.ticker);
    }
    if (keepsSpark) {
      // The last close is the price, which clients have.
      const withoutPrice = ({ spark }: Ticker) => ({ ...spark, closes: spark.closes.slice(0, -1) });
      assert.deepEqual(withoutPrice(ticker), withoutPrice(before.ticker));
    }
    seen.set(token, { seq, ticker });
  }
}

test('tickers equal a recount of all trades after any blocks, forks and restarts', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(looked, { minLength: 4, maxLength: 24 }), async (sequences) => {
      const maker = new BlockMaker();
      let world = await FoldWorld.open(t, join(temporaryDirectory(), 'data'));
      const [seen, clients] = [new Map<string, Seen>(), new TickerClients()];
      let assets: readonly string[] = [];
      await appendBlock(world, maker.block([launchBy(0, 20)], 20_000));
      for (const next of sequences.flat()) {
        world = await perform(world, maker, next);
        if (!next.isLookedAt) continue;
        // The first was launched before everything else, and may be undone.
        if (assets.length === 0) assets = [...maker.state.pools.keys()];
        if (assets.length > 0) clients.check(world, assets);
        checkTickers(world, maker, seen);
      }
    }),
    { numRuns: 25, seed: 917 },
  );
});
