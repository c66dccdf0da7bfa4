/** The most expensive legal request of each route and topic of a market without a chain. */
import { request } from 'node:http';
import { WebSocket } from 'ws';
import { launchedToken } from './launchedMarket.ts';
import { WALLET, WALLET_ADDRESS } from './tradedMarket.ts';

export interface Stage {
  readonly token: string;
  readonly marketMs: number;
  readonly pools: number;
  readonly minutes: number;
}

export interface Asked {
  readonly name: string;
  /**
   * Ends when the whole answer is there; returns the fault of the answer, null if there is none.
   */
  run(port: number): Promise<string | null>;
}

type Requests = Readonly<Record<string, Asked | readonly Asked[]>>;
type Query = Readonly<Record<string, string | number>>;

const KEYS = [WALLET, ...Array.from({ length: 999 }, (_, at) => at.toString(16).padStart(56, 'b'))];
const MAX_SUBSCRIPTIONS = 500;
/** This many subscriptions of the topic with the longest input fit into 64 KiB. */
const TOPICS_A_FRAME = 250;

function asked(name: string, path: string, query: Query = {}, body?: unknown): Asked {
  const text = new URLSearchParams(
    Object.fromEntries(Object.entries(query).map(([key, value]) => [key, String(value)])),
  ).toString();
  const target = text === '' ? path : `${path}?${text}`;
  const how =
    body === undefined
      ? {}
      : {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: typeof body === 'string' ? body : JSON.stringify(body),
        };
  const run = async (port: number) => {
    const answer = await fetch(`http://127.0.0.1:${port}${target}`, how);
    const bytes = await answer.arrayBuffer();
    return answer.ok ? null : `${answer.status} ${Buffer.from(bytes).toString().slice(0, 120)}`;
  };
  return { name, run };
}

const get = (path: string, query: Query = {}, note = '') =>
  asked(`GET ${path}${note}`, path, query);
const post = (path: string, query: Query, body: unknown, note = '') =>
  asked(`POST ${path}${note}`, path, query, body);

function tokens(stage: Stage, count: number): string[] {
  return Array.from({ length: count }, (_, at) => launchedToken(at % stage.pools));
}

export function routeRequests(stage: Stage): Requests {
  return { ...chartRequests(stage), ...marketRequests(stage), ...walletRequests(stage), ...OTHERS };
}

function chartRequests({ token, marketMs, pools, minutes }: Stage): Requests {
  const to = Math.ceil(marketMs / 1000) + 60;
  const pair = { base: token, quote: '.', resolution: 'min1' };
  const span = { from: to - minutes * 60, to };
  const all = { ...pair, ...span, fill: 'previous', limit: 5_000 };
  const wide = { ...all, from: 0, resolution: 'hour1' };
  const symbol = { symbol: token, resolution: '1', ...span, countback: 5_000 };
  const history = '/v1/charts/history';
  const bulk = Array.from({ length: 50 }, (_, at) => ({
    ...{ ...pair, ...span, limit: 400, fill: 'previous' },
    base: launchedToken(at % pools),
  }));
  return {
    [`GET ${history}`]: [
      get(history, all, ', 5,000 bars'),
      get(history, { ...all, format: 'csv' }, ', CSV'),
      get(history, { ...all, price: 'spot' }, ', spot'),
      get(history, wide, ', from 1970'),
    ],
    'GET /v1/charts/initial-state': get('/v1/charts/initial-state', pair),
    'GET /v1/charts/last': get('/v1/charts/last', pair),
    'GET /v1/charts/mcap/history': get('/v1/charts/mcap/history', all),
    'GET /v1/charts/mcap/initial-state': get('/v1/charts/mcap/initial-state', pair),
    'POST /v1/charts/bulk': [
      post('/v1/charts/bulk', {}, bulk, ', 50 × 400 bars'),
      post(
        '/v1/charts/bulk',
        {},
        bulk.map((each) => ({ ...each, from: 0 })),
        ', from 1970',
      ),
    ],
    'GET /udf/config': get('/udf/config'),
    'GET /udf/time': get('/udf/time'),
    'GET /udf/symbols': get('/udf/symbols', { symbol: token }),
    'GET /udf/search': get('/udf/search', { query: 'token', limit: 100 }),
    'GET /udf/history': get('/udf/history', symbol),
    'GET /udf/spot/config': get('/udf/spot/config'),
    'GET /udf/spot/time': get('/udf/spot/time'),
    'GET /udf/spot/symbols': get('/udf/spot/symbols', { symbol: token }),
    'GET /udf/spot/search': get('/udf/spot/search', { query: 'token', limit: 100 }),
    'GET /udf/spot/history': get('/udf/spot/history', symbol),
  };
}

function marketRequests(stage: Stage): Requests {
  const { token } = stage;
  const many = tokens(stage, 1_000);
  const list = '/v1/pools-main-page/initial/state';
  const search = '/v1/pools-main-page/search';
  const filtered = { limit: 500, minVolume24h: '0.000001', minProgress: 0, sort: 'change1h' };
  return {
    [`GET ${list}`]: [
      'New',
      'Latest',
      'CompletedCreateOn',
      'CompletedMCap',
      'MCapDesc',
      'Trending',
    ].map((filter) => get(list, { filter }, `, ${filter}`)),
    'GET /v1/pools-main-page/koth': get('/v1/pools-main-page/koth'),
    [`GET ${search}`]: [
      get(search, { pattern: 'o', limit: 100, offset: stage.pools - 100 }, ', last page'),
      get(search, { pattern: 'Token 1', limit: 100 }, ''),
    ],
    'POST /v1/following': post('/v1/following', { limit: 60, offset: 900 }, many),
    'POST /v1/following/list': post('/v1/following/list', {}, many),
    'GET /v1/pools-feed/initial/state': get('/v1/pools-feed/initial/state', { asset: token }),
    'GET /v1/pools-feed/curve/progress': get('/v1/pools-feed/curve/progress', { asset: token }),
    'GET /v1/asset-info': get('/v1/asset-info', { asset: token }),
    'GET /balances/v1/pool/holders': get('/balances/v1/pool/holders', {
      assetId: token,
      limit: 101,
    }),
    'GET /v1/tokens/insights': get('/v1/tokens/insights', { asset: token }),
    'GET /v1/tokens/traders': get('/v1/tokens/traders', { asset: token, sort: 'unrealized' }),
    'GET /v1/order-book': get('/v1/order-book', { asset: token, levels: 100 }),
    'GET /v1/trades': [
      get('/v1/trades', { asset: token, limit: 500 }),
      get(
        '/v1/trades',
        { asset: token, limit: 500, pkh: 'ab'.repeat(28) },
        ', by a key without trades',
      ),
      get('/v1/trades', { asset: token, limit: 500, minQuote: '1000000000000' }, ', none so large'),
      get('/v1/trades', { asset: token, limit: 500, format: 'csv' }, ', CSV'),
    ],
    'GET /v1/tickers': [
      get('/v1/tickers', { limit: 500 }, ', 500'),
      get('/v1/tickers', filtered, ', filtered'),
      get('/v1/tickers', { limit: 500, sort: 'price', offset: stage.pools - 500 }, ', last page'),
    ],
    'POST /v1/tickers': [post('/v1/tickers', {}, many, ', 1,000')],
  };
}

function walletRequests(stage: Stage): Requests {
  const { token, marketMs } = stage;
  const to = Math.ceil(marketMs / 1000);
  const feed = '/v1/orders-feed/initial/state';
  const own = '/v1/user-history-feed/initial/state';
  const page = { limit: 100, offset: 400 };
  return {
    'GET /v1/orders-feed/metrics': get('/v1/orders-feed/metrics', { asset: token, pkh: WALLET }),
    'POST /balances/v1/user/pnl-card': post('/balances/v1/user/pnl-card', { assetId: token }, KEYS),
    'POST /balances/v1/asset/asset-balance': post(
      '/balances/v1/asset/asset-balance',
      { assetId: token },
      KEYS,
    ),
    'POST /v1/portfolio': post('/v1/portfolio', { limit: 500 }, KEYS),
    'POST /v1/portfolio/history': [
      post('/v1/portfolio/history', { resolution: 'hour1', limit: 1_000 }, KEYS),
      post(
        '/v1/portfolio/history',
        { resolution: 'day1', from: 0, to, limit: 1_000 },
        KEYS,
        ', from 1970',
      ),
    ],
    [`POST ${feed}`]: [
      post(feed, { asset: token, ...page }, [], ', everybody'),
      post(feed, { asset: token, ...page }, KEYS, ', 1,000 keys'),
      post(feed, { asset: token, limit: 100, from: 1, to: 2 }, KEYS, ', long ago'),
    ],
    [`POST ${own}`]: post(own, page, KEYS),
    [`POST ${own}/by/asset`]: post(`${own}/by/asset`, { asset: token, ...page }, KEYS),
    [`POST ${own}/open`]: post(`${own}/open`, { limit: 100 }, KEYS),
    'GET /v1/user-history-feed/order/trades': get('/v1/user-history-feed/order/trades', {
      beacon: 'ab'.repeat(28),
    }),
    'POST /v1/vesting/get-by-redeemer': post(
      '/v1/vesting/get-by-redeemer',
      { redeemerVkhs: WALLET },
      {},
    ),
    'POST /v1/vesting/get-by-asset/{assetId}': asked(
      'POST /v1/vesting/get-by-asset/{assetId}',
      `/v1/vesting/get-by-asset/${token}`,
      {},
      {},
    ),
    'GET /t/{asset}': asked('GET /t/{asset}', `/t/${token}`),
    'GET /og/{file}': asked('GET /og/{file}', `/og/${token}.png`),
  };
}

const KEY_NEEDED = 'needs an API key';
const HOOK = { url: 'https://example.com/', topics: [{ topic: 'Health' }] };

/** Refused without a key: the cost of the refusal of the largest body. */
const OTHERS: Requests = {
  'GET /v1/utility/server/time': get('/v1/utility/server/time'),
  'GET /v1/limits': get('/v1/limits'),
  'GET /v1/utility/ada-usd/rate': get('/v1/utility/ada-usd/rate'),
  'GET /v1/stream': stream(1),
  'POST /v1/stream': stream(20),
  'POST /v1/webhooks': post('/v1/webhooks', {}, HOOK, `, ${KEY_NEEDED}`),
  'GET /v1/webhooks': get('/v1/webhooks', {}, `, ${KEY_NEEDED}`),
  'GET /v1/webhooks/{id}': asked(`GET /v1/webhooks/{id}, ${KEY_NEEDED}`, '/v1/webhooks/x'),
  'DELETE /v1/webhooks/{id}': [],
  'GET /health/live': get('/health/live'),
  'GET /health/ready': get('/health/ready'),
  'GET /metrics': get('/metrics'),
  'GET /v1/docs/openapi': get('/v1/docs/openapi'),
  'GET /v1/docs/asyncapi': get('/v1/docs/asyncapi'),
  'GET /v1/docs/openapi.json': get('/v1/docs/openapi.json'),
  'GET /v1/docs/asyncapi.json': get('/v1/docs/asyncapi.json'),
  'GET /llms.txt': get('/llms.txt'),
  'GET /llms-full.txt': get('/llms-full.txt'),
  'GET /docs': get('/docs'),
  'GET /docs/style.css': get('/docs/style.css'),
  'GET /docs/page.js': get('/docs/page.js'),
};

/** 500 at once, as different as they can be. */
export function subscriptionRequests(stage: Stage): Requests {
  const { token } = stage;
  const each = (topic: string, dataAt: (at: number) => object) =>
    frame(`topic ${topic}, 500 at once`, MAX_SUBSCRIPTIONS, (at) => ({
      topic,
      data: dataAt(at),
    }));
  const ofToken =
    (more: object = {}) =>
    (at: number) => ({
      asset: launchedToken(at % stage.pools),
      ...more,
    });
  const bar = (at: number) => ({
    pair: { base: launchedToken(at % stage.pools), quote: '.' },
    interval: 'min1',
  });
  const lists = [
    'KOTH',
    'New',
    'Latest',
    'CompletedCreateOn',
    'CompletedMCap',
    'MCapDesc',
    'Trending',
  ];
  const ofList = lists.map((topic) => [`topic ${topic}`, each(topic, () => ({}))] as const);
  return {
    ...Object.fromEntries(ofList),
    'topic LastBar': each('LastBar', bar),
    'topic MCapBar': each('MCapBar', bar),
    'topic PoolFeed': each('PoolFeed', ofToken()),
    'topic LiveOrdersFeed': each('LiveOrdersFeed', ofToken({ pkhFilter: null })),
    'topic UserHistoryByAddress': each('UserHistoryByAddress', () => ({ address: WALLET_ADDRESS })),
    'topic UserHistoryByAddressAndAsset': each(
      'UserHistoryByAddressAndAsset',
      ofToken({ address: WALLET_ADDRESS }),
    ),
    'topic OrderBook': [
      each('OrderBook', ofToken()),
      frame('topic OrderBook, of one token', 1, () => ({
        topic: 'OrderBook',
        data: { asset: token },
      })),
    ],
    'topic Trades': each('Trades', ofToken()),
    'topic NewestTrades': each('NewestTrades', (at) => ({ limit: 50, minQuote: String(at) })),
    'topic Tickers': [
      each('Tickers', () => ({})),
      each('Tickers', (at) => ({ sort: 'price', minMarketCap: String(at) })),
      frame('topic Tickers, 500 tokens', 1, () => ({
        topic: 'Tickers',
        data: { assets: tokens(stage, Math.min(500, stage.pools)) },
      })),
    ],
    'topic Insights': each('Insights', ofToken()),
    'topic NewLaunches': each('NewLaunches', () => ({})),
    'topic Health': each('Health', () => ({})),
  };
}

/** Ends when each subscription has its first frame. */
function frame(
  name: string,
  count: number,
  topicAt: (at: number) => { readonly topic: string; readonly data: object },
): Asked {
  const run = async (port: number) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`);
    await new Promise((resolve) => socket.once('open', resolve));
    const left = new Set(Array.from({ length: count }, (_, at) => at));
    let problem: string | null = null;
    const done = new Promise<void>((resolve) => {
      socket.on('message', (bytes) => {
        const { requestId, event, data } = JSON.parse(String(bytes));
        if (event === 'Subscribed' || (requestId === null && event !== 'Error')) return;
        if (event === 'Error') problem ??= `${data.cause} ${data.message}`;
        left.delete(requestId);
        if (requestId === null) left.clear();
        if (left.size === 0) resolve();
      });
    });
    const topics = Array.from({ length: count }, (_, at) => ({ ...topicAt(at), requestId: at }));
    for (let at = 0; at < count; at += TOPICS_A_FRAME) {
      const some = topics.slice(at, at + TOPICS_A_FRAME);
      socket.send(JSON.stringify({ messageType: 'subscribe', topics: some }));
    }
    await done;
    socket.close();
    return problem;
  };
  return { name, run };
}

/** Many requests at once. */
function crowd(name: string, count: number, each: (port: number) => Promise<unknown>): Asked {
  const run = async (port: number) => {
    await Promise.all(Array.from({ length: count }, () => each(port)));
    return null;
  };
  return { name, run };
}

function stream(count: number): Asked {
  const topics = Array.from({ length: count }, () => ({ topic: 'Tickers', data: {} }));
  const name = count === 1 ? 'GET /v1/stream' : `POST /v1/stream, ${count} topics`;
  const run = async (port: number) => {
    const left = new AbortController();
    const url = `http://127.0.0.1:${port}/v1/stream`;
    const { signal } = left;
    const sub = encodeURIComponent(JSON.stringify(topics[0]));
    const { body } =
      count === 1
        ? await fetch(`${url}?sub=${sub}`, { signal })
        : await fetch(url, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify(topics),
            signal,
          });
    await body?.getReader().read();
    left.abort();
    return null;
  };
  return { name, run };
}

/** Its first event; each call opens a separate connection. */
function firstEvent(topic: string): (port: number) => Promise<void> {
  const sub = encodeURIComponent(JSON.stringify({ topic, data: {} }));
  return (port) =>
    new Promise((resolve, reject) => {
      const path = `/v1/stream?sub=${sub}`;
      const asking = request({ port, host: '127.0.0.1', path, agent: false }, (answer) => {
        answer.once('data', () => {
          resolve();
          setTimeout(() => asking.destroy(), 100);
        });
        answer.on('error', () => {});
      });
      asking.on('error', reject);
      asking.end();
    });
}

export const CROWDS: readonly Asked[] = [
  crowd('500 event streams of Tickers', 500, firstEvent('Tickers')),
  crowd('5,000 event streams of KOTH', 5_000, firstEvent('KOTH')),
  crowd('200 × GET /v1/tickers, 500', 200, async (port) => {
    const url = `http://127.0.0.1:${port}/v1/tickers?limit=500&offset=1`;
    await (await fetch(url)).arrayBuffer();
  }),
];
