/**
 * Tickers equal a recount of all trades, whatever blocks, forks and restarts came before. A failure
 * prints `{ seed, path }` for the options of `fc.assert`.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { TokenDay } from '../../../src/api/tickers/day.ts';
import { daysOf, sorted, type TickerSort } from '../../../src/api/tickers/select.ts';
import { tickerTopics } from '../../../src/api/tickers/topics.ts';
import { viewTicker } from '../../../src/api/tickers/view.ts';
import type { Source } from '../../../src/api/topics/port.ts';
import { tradesOf } from '../../../src/api/trades/routes.ts';
import type { Ticker, TickersUpdate } from '../../../src/client/types.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import type { Position } from '../../../src/engine/runtime/position.ts';
import { appendBlock, passTo, rollBackTo } from '../../chain/foldChain.ts';
import { BlockMaker, type Deed } from '../../chain/foldMarket.ts';
import { FoldWorld } from '../../support/foldWorld.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { crcOf, pull } from '../pools/strictClient.ts';
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

const SUBSCRIPTIONS: readonly TickerSort[] = [
  { sort: 'volume24h', order: 'desc' },
  { sort: 'change1h', order: 'asc' },
  { sort: 'createdOn', order: 'desc' },
];
const LIMIT = 2;

/** A client of the topic, which keeps to the contract. */
class TickerClient {
  #known = new Map<string, Ticker>();
  #order: readonly string[] = [];

  take(data: unknown, isSnapshot: boolean): void {
    const { items, order, crc32 } = data as TickersUpdate; // trust: compared as a whole
    if (isSnapshot) this.#known.clear();
    for (const item of items) {
      const spark = item.spark ?? this.#known.get(item.asset)?.spark;
      assert(spark !== undefined, 'a new ticker has its spark');
      this.#known.set(item.asset, { ...item, spark });
    }
    this.#known = new Map([...this.#known].filter(([asset]) => order.includes(asset)));
    this.#order = order;
    assert.equal(crc32, crcOf(order.join(',')));
  }

  get tickers(): unknown[] {
    return this.#order.map((asset) => this.#known.get(asset));
  }
}

/** Clients of all subscriptions, as one process answers them after the other. */
class TickerClients {
  readonly #clients = [...SUBSCRIPTIONS, null].map(() => new TickerClient());
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
      pull(source, this.#own, applied, (...update) => client.take(...update));
      const sort = SUBSCRIPTIONS[index];
      const days =
        sort === undefined
          ? daysOf(fold, assets.slice(0, 1))
          : sorted(daysOf(fold), sort).slice(0, LIMIT);
      const expected = days.map((day) => JSON.parse(JSON.stringify(viewTicker(day))));
      assert.deepEqual(client.tickers, expected, source.key);
    }
    this.#own = applied;
  }
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
      const [seen, clients] = [new Map<string, Seen>(), new TickerClients()];
      let assets: readonly string[] = [];
      await appendBlock(world, maker.block([launchBy(0, 20)], 20_000));
      for (const next of steps) {
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
