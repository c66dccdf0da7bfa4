/**
 * Clients of every order topic over random markets with a mempool, on a chain that forks: some ask
 * after each entry, others seldom, some know `OrdersRevised` and some do not. Whenever they have
 * asked, they have what HTTP answers there, and that is what chain and mempool show; the first page
 * that is kept is never an old one.
 * Replay a failure: put the printed `{ seed, path }` into the options of `fc.assert`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Source } from '../../../src/api/topics/port.ts';
import type { Position } from '../../../src/engine/runtime/position.ts';
import { ownerOf } from '../../chain/foldState.ts';
import type { MempoolMarket } from '../../chain/mempoolMarket.ts';
import { anyOptions, anyStep, inMarket } from '../../chain/mempoolSteps.ts';
import { chainOf, type Shown, truthOf } from '../../chain/mempoolTruth.ts';
import { recordOf } from '../../support/subscription.ts';
import {
  BookClient,
  framesFor,
  type Heard,
  OrderClient,
  TradeClient,
  withoutTotals,
} from '../../support/topicClients.ts';
import { seedOf, untilSeen } from '../../support/untilSeen.ts';
import { bookOf } from './naiveBook.ts';
import { FEED, HISTORY, keyAddress, type Offer, offerOf } from './offer.ts';

interface TopicCase {
  readonly topic: string;
  data(token: string): object;
  http(offer: Offer, token: string): unknown;
  has(order: Shown, token: string): boolean;
}

const [ANN, BEN] = [ownerOf(0), ownerOf(1)];
const LIMIT = { limit: 100 };

function isOf({ from, to }: Shown, token: string): boolean {
  return from === token || to === token;
}

const TOPIC_CASES: readonly TopicCase[] = [
  {
    topic: 'LiveOrdersFeed',
    data: (asset) => ({ asset, pkhFilter: null }),
    http: (offer, asset) => offer.ask(FEED, { asset, ...LIMIT }),
    has: isOf,
  },
  {
    topic: 'LiveOrdersFeed',
    data: (asset) => ({ asset: asset.toUpperCase(), pkhs: [BEN.toUpperCase(), ANN, ANN] }),
    http: (offer, asset) => offer.ask(FEED, { asset, ...LIMIT }, [ANN, BEN]),
    has: (order, token) => isOf(order, token) && [ANN, BEN].includes(order.pkh),
  },
  {
    topic: 'UserHistoryByAddress',
    data: () => ({ address: keyAddress(BEN) }),
    http: (offer) => offer.ask(HISTORY, LIMIT, [BEN]),
    has: ({ pkh }) => pkh === BEN,
  },
  {
    topic: 'UserHistoryByAddressAndAsset',
    data: (asset) => ({ asset, address: keyAddress(ANN) }),
    http: (offer, asset) => offer.ask(`${HISTORY}/by/asset`, { asset, ...LIMIT }, [ANN]),
    has: (order, token) => isOf(order, token) && order.pkh === ANN,
  },
];

/** Every topic once, from where it was last asked. */
class Follower {
  readonly #own: (Position | null)[] = [];
  readonly orders: OrderClient[];
  readonly trades = new TradeClient();
  readonly book = new BookClient('snapshot');
  readonly changedBook = new BookClient('changes');

  constructor(knowsRevised: boolean) {
    this.orders = TOPIC_CASES.map(() => new OrderClient(knowsRevised));
  }

  ask(offer: Offer, token: string, applied: Position): void {
    const topics: [Source, (heard: Heard) => void][] = TOPIC_CASES.map(({ topic, data }, at) => {
      return [offer.open(topic, data(token)), (heard) => this.orders[at]?.hear(heard)];
    });
    const asset = { asset: token };
    topics.push([offer.open('Trades', asset), (heard) => this.trades.hear(heard)]);
    topics.push([offer.open('OrderBook', asset), (heard) => this.book.hear(heard)]);
    const changes = { ...asset, mode: 'changes' };
    topics.push([offer.open('OrderBook', changes), (heard) => this.changedBook.hear(heard)]);
    for (const [at, [source, hear]] of topics.entries()) {
      for (const heard of framesFor(source, this.#own[at] ?? null, applied)) hear(heard);
      this.#own[at] = applied;
    }
  }

  check(offer: Offer, token: string): void {
    for (const [at, topicCase] of TOPIC_CASES.entries()) {
      const answer = topicCase.http(offer, token);
      const client = this.orders[at];
      assert(client !== undefined);
      const { ledger, mempool } =
        answer === null ? { ledger: { items: [], count: 0 }, mempool: [] } : recordOf(answer);
      const { items, count } = recordOf(ledger);
      assert.deepEqual(client.ledger, byId(items), `ledger of ${topicCase.topic} ${at}`);
      assert.deepEqual(client.mempool, byId(mempool), `mempool of ${topicCase.topic} ${at}`);
      assert.equal(client.count, count);
    }
    const trades = offer.ask('/v1/trades', { asset: token, limit: 500 }) ?? [];
    assert.deepEqual(this.trades.rows, trades);
  }
}

function byId(orders: unknown): Map<string, unknown> {
  assert(Array.isArray(orders));
  return new Map(orders.map((order) => [String(recordOf(order).entityId), order]));
}

/** HTTP against the market that made it all. */
function checkHttp({ world, facts }: MempoolMarket, offer: Offer, token: string): void {
  const truth = truthOf(facts, world.fold.store.horizonSeq);
  for (const topicCase of TOPIC_CASES) {
    const found = topicCase.http(offer, token);
    if (found === null) {
      assert(!chainOf(facts).venues.has(token), 'refused where it is unknown only');
      continue;
    }
    const ledger = truth.ledger.filter((order) => topicCase.has(order, token));
    const mempool = truth.mempool.filter((order) => topicCase.has(order, token));
    const items = ledger.slice(0, 100);
    assert.deepEqual(found, { ledger: { count: ledger.length, items }, mempool });
  }
}

/** Counts of events over all runs, to check that the runs covered each kind. */
const seen = { bookChanges: 0, revised: 0, graduated: 0, epochs: 0, waiting: 0, unknown: 0 };

async function follow(
  options: Parameters<typeof inMarket>[0],
  steps: Parameters<typeof inMarket>[1],
  asks: readonly number[],
): Promise<void> {
  let node: unknown = null;
  let offer: Offer | null = null;
  let epoch = '';
  let token = '';
  const live = [new Follower(false), new Follower(true)];
  const others = [new Follower(false), new Follower(true), new Follower(true)];
  let at = 0;
  const look = (market: MempoolMarket) => {
    const { world, facts } = market;
    if (offer === null || node !== world.node) offer = offerOf(world.node);
    node = world.node;
    // Known before it is launched.
    token ||= [...market.maker.state.pools.keys()][0] ?? '';
    if (token === '') return;
    const applied = world.node.applied();
    const { venues } = chainOf(facts);
    if (epoch !== '' && epoch !== applied.epoch) seen.epochs += 1;
    if (venues.get(token) === 'AMM') seen.graduated += 1;
    if (!venues.has(token)) seen.unknown += 1;
    if (facts.waiting.size > 0) seen.waiting += 1;
    epoch = applied.epoch;
    const due = others.filter((_, index) => index === (asks[at % asks.length] ?? -1));
    at += 1;
    for (const follower of [...live, ...due]) {
      follower.ask(offer, token, applied);
      follower.check(offer, token);
      if (!venues.has(token)) continue;
      const book = bookOf(facts, token);
      assert.deepEqual(follower.book.book, book);
      assert.deepEqual(follower.changedBook.untotalled, withoutTotals(book));
    }
    checkHttp(market, offer, token);
  };
  await inMarket(options, steps, look);
  for (const { changedBook } of live) seen.bookChanges += changedBook.changes;
  for (const { orders } of live) for (const { revised } of orders) seen.revised += revised;
}

/** Rare by chance: a pool that graduates, and a rollback beyond the horizon. */
const RARE: Parameters<typeof follow> = [
  { horizonBlocks: 3, commitEveryMs: 0 },
  [
    {
      do: 'plan',
      actions: [{ do: 'place', user: 0, pool: 0, side: 'buy', amount: 100 }],
      afterMs: 1_000,
    },
    { do: 'confirm' },
    { do: 'plan', actions: [{ do: 'execute', pool: 0 }], afterMs: 1_000 },
    { do: 'announce', count: 1 },
    { do: 'confirm' },
    { do: 'plan', actions: [], afterMs: 1_000 },
    { do: 'confirm' },
    { do: 'plan', actions: [], afterMs: 1_000 },
    { do: 'confirm' },
    { do: 'back', blocks: 2 },
    { do: 'back', blocks: 6 },
    { do: 'plan', actions: [{ do: 'launch', user: 2, buy: 5 }], afterMs: 1_000 },
    { do: 'confirm' },
  ],
  [0, 1, 2, 3, 4, 5, 6],
];

test('a snapshot equals the HTTP answer, and both equal chain and mempool', async () => {
  const property = fc.asyncProperty(
    anyOptions,
    fc.array(anyStep, { minLength: 5, maxLength: 30 }),
    fc.array(fc.nat(6), { minLength: 7, maxLength: 7 }),
    follow,
  );
  const numRuns = Number(process.env.RUNS ?? 12);
  const examples = [RARE];
  await untilSeen(seen, (round) =>
    fc.assert(property, { ...seedOf(round), numRuns, examples, includeErrorInReport: true }),
  );
});
