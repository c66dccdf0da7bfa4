/** The snapshot of every topic of protocol.md 6.3, on one plain socket, against the model. */
import assert from 'node:assert/strict';
import { crc32 } from 'node:zlib';
import { WebSocket } from 'ws';
import { PONG } from '../../api/marketApi.ts';
import { INTERVALS } from '../../support/model.ts';
import { recordOf } from '../../support/subscription.ts';
import { until } from '../../support/until.ts';
import type { Asker } from './asker.ts';
import { sortLocks } from './comparePools.ts';
import { sorted, type Ticker, tickerOf, trending } from './compareTickers.ts';
import type { NaiveMarket } from './model.ts';
import { barsOf, isRelevant, lastBar, lastCapBar } from './modelBars.ts';
import { LISTS } from './modelPools.ts';

const UNKNOWN = `${'ab'.repeat(28)}.00`;
/** Below the limits of a frame and of a socket. */
const AT_ONCE = 100;
const OF_A_SOCKET = 400;
const TOPICS_OF_AN_ASSET = ['PoolFeed', 'LiveOrdersFeed', 'Trades', 'OrderBook'];

interface Expected {
  readonly topic: string;
  readonly data: unknown;
  readonly snapshot: unknown;
}

type Frame = Readonly<Record<string, unknown>>;

export async function compareTopics(asker: Asker, market: NaiveMarket): Promise<void> {
  const expected = [
    ...charts(market),
    ...pools(market),
    ...orders(market),
    ...tickers(market),
    ...unknown(),
    ...health(market),
  ];
  const frames = await snapshots(asker.url, expected);
  for (const [index, { topic, data, snapshot }] of expected.entries()) {
    const frame = frames.get(String(index)) ?? assert.fail(`${topic} is answered`);
    if (frame.event === 'Error' && JSON.stringify(frame.data).includes('TOPIC_NOT_FOUND')) {
      asker.missing.add(`topic ${topic}`);
      continue;
    }
    const what = `${topic} ${JSON.stringify(data)}`;
    asker.asked.add(`topic ${topic}`);
    const event = `${topic}Update`;
    asker.judge(`topic ${topic}`, what, () => {
      assert.equal(frame.event, event, JSON.stringify(frame.data));
      assert.deepEqual([frame.snapshot, frame.prev], [true, null]);
      const position = `${frame.epoch}:${frame.seq} at ${market.chain.blocks.at(-1)?.point.hash}`;
      assert(asker.positions.has(position), `${position}, not ${[...asker.positions].join()}`);
      const found = topic === 'Health' ? healthOf(frame.data) : sortLocks(frame.data);
      assert.deepEqual(found, snapshot);
    });
    const named = event.replace(/Update$/, '');
    asker.judge(`topic ${topic}`, what, () => asker.documents.frame(named, event, frame));
  }
}

function charts(market: NaiveMarket): Expected[] {
  return market.tokens.flatMap((token) =>
    INTERVALS.flatMap((interval) => {
      const tape = market.tape(token);
      const spec = { token, interval };
      const text = { pair: `${token}_.` };
      const data = { pair: { base: token, quote: '.' }, interval };
      const live = (bar: ReturnType<typeof lastBar>) => {
        return { ...bar, ...text, isRelevant: isRelevant(tape, interval, bar) };
      };
      const bar = lastBar(tape, spec);
      const flat = barsOf(tape, { ...spec, fill: 'previous' }).at(-1) ?? bar;
      const cap = { ...lastCapBar(tape, spec), ...text };
      return [
        { topic: 'LastBar', data, snapshot: live(bar) },
        { topic: 'LastBar', data: { ...data, fill: 'previous' }, snapshot: live(flat) },
        { topic: 'MCapBar', data, snapshot: cap },
      ];
    }),
  );
}

function pools(market: NaiveMarket): Expected[] {
  const { pools: model, tokens, orders: book } = market;
  const king = model.koth();
  const lists = [...LISTS, 'Trending' as const].map((topic): Expected => {
    const all = topic === 'Trending' ? trending(market) : model.list(topic);
    const order = all.slice(0, 100);
    const items = order.map((token) => model.pool(token));
    return { topic, data: {}, snapshot: { items, order, crc32: crc32(order.join(',')) } };
  });
  const koth = king === null ? null : model.pool(king);
  /** Its texts lie in an output of the launch. */
  const launch = (token: string) => {
    const { info, pool } = model.pool(token);
    const [txHash] = info.outputId.split(':');
    return { ...info, poolId: pool.id, txHash, time: pool.createdOn, pending: false };
  };
  return [
    { topic: 'NewestTrades', data: { limit: 3 }, snapshot: newest(market).slice(0, 3) },
    { topic: 'NewestTrades', data: {}, snapshot: newest(market).slice(0, 20) },
    ...lists,
    { topic: 'KOTH', data: {}, snapshot: koth },
    { topic: 'NewLaunches', data: {}, snapshot: model.list('New').map((each) => launch(each)) },
    ...tokens.flatMap((asset) => [
      { topic: 'PoolFeed', data: { asset }, snapshot: model.pool(asset) },
      { topic: 'Trades', data: { asset }, snapshot: book.tape(asset) },
      { topic: 'OrderBook', data: { asset }, snapshot: book.book(asset) },
      {
        topic: 'Insights',
        data: { asset },
        snapshot: market.people.insights(asset, model.now(asset).y),
      },
    ]),
  ];
}

/** Ties by asset id: sorting keeps the order of equal rows. */
function newest({ tokens, orders, pools: model }: NaiveMarket): unknown[] {
  const rows = tokens.toSorted().flatMap((asset) => {
    const { ticker } = recordOf(recordOf(model.pool(asset)).info);
    return orders.tape(asset).map((row) => ({ asset, ticker, ...row }));
  });
  return rows.sort((a, b) => (a.id === b.id ? 0 : a.id > b.id ? -1 : 1));
}

function tickers(market: NaiveMarket): Expected[] {
  const all = market.tokens.map((token) => tickerOf(market, token));
  const update = (items: readonly Ticker[]) => {
    const order = items.map(({ asset }) => asset);
    return { items, order, crc32: crc32(order.join(',')) };
  };
  const volume = ({ volume24h }: Ticker) => Number(volume24h);
  const change = ({ change5m }: Ticker) => (change5m === null ? null : Number(change5m));
  const progress = (each: Ticker) => (each.progress === null ? null : Number(each.progress));
  const risen = { sort: 'change5m', order: 'asc', limit: 2 };
  const given = all.toReversed();
  const assets = [UNKNOWN, ...given.map(({ asset }) => asset.toUpperCase())];
  return [
    { topic: 'Tickers', data: {}, snapshot: update(sorted(all, volume, -1).slice(0, 100)) },
    { topic: 'Tickers', data: risen, snapshot: update(sorted(all, change, 1).slice(0, 2)) },
    { topic: 'Tickers', data: { assets }, snapshot: update(given) },
    ...[true, false].map((graduated) => ({
      topic: 'Tickers',
      data: { sort: 'progress', graduated },
      snapshot: update(
        sorted(
          all.filter((each) => each.graduated === graduated),
          progress,
          -1,
        ),
      ),
    })),
  ];
}

function orders(market: NaiveMarket): Expected[] {
  const { tokens, pkhs, chain } = market;
  const snapshot = (filter: Parameters<typeof market.orders.feed>[0]) => {
    const { ledger, mempool } = market.orders.feed(filter);
    return { ledger: ledger.items, mempool, removed: [], count: ledger.count };
  };
  const addresses = new Map(
    market.orders.all().map(({ address, pkh }): [string, string] => [address, pkh]),
  );
  assert(addresses.size > 0 || chain.orders.length === 0);
  const feeds = tokens.flatMap((asset) =>
    [null, [], ...pkhs.map((pkh) => [pkh]), pkhs].flatMap((filter) => {
      const expected = snapshot({ token: asset, pkhs: filter ?? [] });
      return [{ topic: 'LiveOrdersFeed', data: { asset, pkhFilter: filter }, snapshot: expected }];
    }),
  );
  const histories = [...addresses].flatMap(([address, pkh]) => [
    { topic: 'UserHistoryByAddress', data: { address }, snapshot: snapshot({ pkhs: [pkh] }) },
    ...tokens.map((token) => {
      const data = { address, asset: token };
      const expected = snapshot({ token, pkhs: [pkh] });
      return { topic: 'UserHistoryByAddressAndAsset', data, snapshot: expected };
    }),
  ]);
  return [...feeds, ...histories];
}

/** The tip of the chain; what else it says is the node's own. */
function health({ chain }: NaiveMarket): Expected[] {
  const { point } = chain.blocks.at(-1) ?? assert.fail('a chain has a block');
  return [{ topic: 'Health', data: {}, snapshot: { tip: point, synced: true, stale: false } }];
}

function healthOf(data: unknown): unknown {
  const { tip, synced, stale } = { tip: null, synced: null, stale: null, ...Object(data) };
  const { slot, hash } = { slot: null, hash: null, ...Object(tip) };
  return { tip: { slot, hash }, synced, stale };
}

/** Subscriptions to unknown things are accepted, and their snapshots are empty. */
function unknown(): Expected[] {
  const pair = { base: UNKNOWN, quote: '.' };
  return [
    ...TOPICS_OF_AN_ASSET.map((topic) => ({ topic, data: { asset: UNKNOWN }, snapshot: null })),
    { topic: 'LastBar', data: { pair, interval: 'min1' }, snapshot: null },
    { topic: 'MCapBar', data: { pair, interval: 'min1' }, snapshot: null },
  ];
}

/** The first update or error of each subscription, by its index in the list. */
async function snapshots(
  url: string,
  subscriptions: readonly Expected[],
): Promise<Map<string, Frame>> {
  const first = new Map<string, Frame>();
  for (let from = 0; from < subscriptions.length; from += OF_A_SOCKET) {
    await oneSocket(url, subscriptions.slice(from, from + OF_A_SOCKET), from, first);
  }
  return first;
}

async function oneSocket(
  url: string,
  subscriptions: readonly Expected[],
  base: number,
  first: Map<string, Frame>,
): Promise<void> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/websocket/ws`);
  socket.on('message', (text: Buffer) => {
    const frame: unknown = JSON.parse(text.toString());
    assert(typeof frame === 'object' && frame !== null);
    const { requestId, event } = { requestId: null, event: '', ...frame };
    if (event === 'Ping') socket.send(PONG);
    if (event === 'Subscribed' || event === 'Ping') return;
    const id = String(requestId);
    if (!first.has(id)) first.set(id, { ...frame });
  });
  try {
    await until('the socket opens', () => socket.readyState === WebSocket.OPEN);
    for (let from = 0; from < subscriptions.length; from += AT_ONCE) {
      const some = subscriptions.slice(from, from + AT_ONCE);
      const topics = some.map(({ topic, data }, index) => {
        return { requestId: String(base + from + index), topic, data };
      });
      socket.send(JSON.stringify({ messageType: 'subscribe', topics }));
    }
    const last = base + subscriptions.length;
    await until(
      () => `${last} subscriptions are answered, not ${first.size}`,
      () => first.size >= last,
    );
  } finally {
    socket.terminate();
  }
}
