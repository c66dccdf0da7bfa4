/**
 * One sample request for each route and topic, by its name in the documents. A new route needs one
 * line here, and `node scripts/recordExamples.ts` to be run again.
 */
import type { JsonObject } from '../../../src/api/docs/definitions.ts';
import type { Stage } from './stage.ts';

export interface Sample {
  readonly params?: JsonObject;
  readonly query?: JsonObject;
  readonly body?: JsonObject | readonly (string | JsonObject)[];
  /** Sent with `DOCUMENTED_KEY`. */
  readonly needsKey?: true;
  /** Fields of a form; the image comes with it. */
  readonly form?: JsonObject;
}

type Samples = Readonly<Record<string, (stage: Stage) => Sample>>;

const pair = ({ asset }: Stage) => ({ base: asset, quote: '.' });
const bars = (stage: Stage): Sample => ({ query: { ...pair(stage), resolution: 'min1' } });
const history = (stage: Stage): Sample => {
  const { from, to } = stage;
  return { query: { ...pair(stage), from, to, resolution: 'min1', limit: 3 } };
};
const ofAsset = ({ asset }: Stage): Sample => ({ query: { asset } });
const ofWallet = ({ pkh }: Stage): Sample => ({ query: { limit: 2 }, body: [pkh] });
const none = (): Sample => ({});

const READS: Samples = {
  'GET /v1/charts/history': history,
  'GET /v1/charts/initial-state': bars,
  'GET /v1/charts/last': bars,
  'GET /v1/charts/mcap/history': history,
  'GET /v1/charts/mcap/initial-state': bars,
  'POST /v1/charts/bulk': (stage) => {
    const { from, to } = stage;
    const span = { ...pair(stage), resolution: 'min1', from, to, limit: 2 };
    return { body: [span, { ...span, kind: 'mcap' }] };
  },
  'GET /udf/config': none,
  'GET /udf/time': none,
  'GET /udf/symbols': ({ asset }) => ({ query: { symbol: asset } }),
  'GET /udf/search': () => ({ query: { query: 'exam', limit: 10 } }),
  'GET /udf/history': ({ asset, from, to }) => ({
    query: { symbol: asset, resolution: '1', from, to, countback: 3 },
  }),
  'GET /udf/spot/config': none,
  'GET /udf/spot/time': none,
  'GET /udf/spot/symbols': ({ asset }) => ({ query: { symbol: asset } }),
  'GET /udf/spot/search': () => ({ query: { query: 'exam', limit: 10 } }),
  'GET /udf/spot/history': ({ asset, from, to }) => ({
    query: { symbol: asset, resolution: '15', from, to, countback: 3 },
  }),
  'GET /v1/pools-main-page/initial/state': () => ({ query: { filter: 'Latest' } }),
  'GET /v1/pools-main-page/koth': none,
  'GET /v1/pools-main-page/search': () => ({ query: { pattern: 'exam', offset: 0, limit: 10 } }),
  'POST /v1/following': ({ asset }) => ({ query: { offset: 0, limit: 10 }, body: [asset] }),
  'POST /v1/following/list': ({ asset }) => ({ body: [asset] }),
  'GET /v1/pools-feed/initial/state': ofAsset,
  'GET /v1/pools-feed/curve/progress': ofAsset,
  'GET /v1/asset-info': ofAsset,
  'POST /v1/orders-feed/initial/state': ({ asset, pkh }) => ({
    query: { asset, limit: 2 },
    body: [pkh],
  }),
  'GET /v1/orders-feed/metrics': ({ asset, pkh }) => ({ query: { asset, pkh } }),
  'POST /v1/user-history-feed/initial/state': ofWallet,
  'POST /v1/user-history-feed/initial/state/open': ofWallet,
  'POST /v1/user-history-feed/initial/state/by/asset': ({ asset, pkh }) => ({
    query: { asset, limit: 2 },
    body: [pkh],
  }),
  'GET /v1/user-history-feed/order/trades': ({ beacon }) => ({ query: { beacon } }),
  'GET /v1/trades': ({ asset }) => ({ query: { asset, limit: 2 } }),
  'GET /v1/tickers': () => ({ query: { sort: 'marketCap', minAge: 0, limit: 2 } }),
  'POST /v1/tickers': ({ asset }) => ({ body: [asset] }),
  'GET /balances/v1/pool/holders': ({ asset }) => ({ query: { assetId: asset, limit: 10 } }),
  'POST /balances/v1/user/pnl-card': ({ asset, pkh }) => ({
    query: { assetId: asset },
    body: [pkh],
  }),
  'GET /v1/order-book': ofAsset,
  'GET /v1/tokens/insights': ofAsset,
  'GET /v1/tokens/traders': ({ asset }) => ({ query: { asset, limit: 2 } }),
  'POST /v1/portfolio': ({ pkh }) => ({ query: { limit: 2 }, body: [pkh] }),
  'POST /v1/portfolio/history': ({ pkh }) => ({
    query: { resolution: 'hour1', limit: 2 },
    body: [pkh],
  }),
  'GET /v1/utility/ada-usd/rate': none,
  'POST /balances/v1/asset/asset-balance': ({ asset, pkh }) => ({
    query: { assetId: asset },
    body: [pkh],
  }),
  'POST /v1/vesting/get-by-redeemer': ({ pkh }) => ({ query: { redeemerVkhs: pkh }, body: {} }),
  'POST /v1/vesting/get-by-asset/:assetId': ({ asset }) => ({
    params: { assetId: asset },
    body: {},
  }),
  'POST /getUtxos': ({ pkh }) => ({ body: { pkh, offset: 0, limit: 2, query: 'unspent' } }),
  'GET /ipfs/:cid': ({ logoCid }) => ({ params: { cid: logoCid } }),
  'GET /t/:asset': ({ asset }) => ({ params: { asset } }),
  'GET /og/:file': ({ asset }) => ({ params: { file: `${asset}.png` } }),
  'GET /v1/utility/server/time': none,
  'GET /v1/limits': none,
  'POST /v1/webhooks': ({ asset }) => ({
    needsKey: true,
    body: {
      url: 'https://127.0.0.1:9443/hook',
      topics: [{ topic: 'Trades', data: { asset } }, { topic: 'KOTH' }],
    },
  }),
  'GET /v1/webhooks': () => ({ needsKey: true }),
  'GET /v1/webhooks/:id': ({ webhook }) => ({ needsKey: true, params: { id: webhook } }),
  'DELETE /v1/webhooks/:id': ({ webhook }) => ({ needsKey: true, params: { id: webhook } }),
  'GET /v1/stream': () => ({ query: { sub: ['{"topic":"KOTH"}'] } }),
  'POST /v1/stream': ({ asset }) => ({ body: [{ topic: 'PoolFeed', data: { asset } }] }),
  'GET /parameters': none,
  'GET /snekfun-front/protocol-config.json': none,
  'GET /health/live': none,
  'GET /health/ready': none,
  'GET /metrics': none,
  'GET /v1/docs/openapi': none,
  'GET /v1/docs/asyncapi': none,
  'GET /v1/docs/openapi.json': none,
  'GET /v1/docs/asyncapi.json': none,
  'GET /docs': none,
  'GET /llms.txt': none,
  'GET /llms-full.txt': none,
  'GET /docs/style.css': none,
  'GET /docs/page.js': none,
};

const terms = ({ asset }: Stage) => ({
  assetId: asset,
  side: 'BUY',
  amount: '5000000',
  slippage: '15',
});

/** An API key of the server whose examples are recorded. */
export const DOCUMENTED_KEY = 'upc_example';

/** Settings of the server that the samples are recorded from: with these, every route answers. */
export const DOCUMENTED_ENV = { ADA_USD: '0.4512' };

/** In this order; the last ones change the chain. */
const BUILDS: Samples = {
  'GET /quote': (stage) => ({ query: terms(stage) }),
  'POST /quotes': (stage) => ({ body: [terms(stage), { ...terms(stage), side: 'SELL' }] }),
  'POST /order': (stage) => ({
    body: { ...terms(stage), changeAddress: stage.address, utxos: 'splash-wallet' },
  }),
  'POST /launch': ({ address }) => ({
    form: {
      name: 'Second',
      ticker: 'SCND',
      assetType: 'Meme',
      description: 'Another token.',
      twitter: 'https://x.com/second',
      launchType: 'DEFAULT',
      initialDeposit: '25000000',
      changeAddress: address,
      utxos: 'splash-wallet',
      collaterals: null,
    },
  }),
  'POST /cancel': ({ placed, address }) => ({
    body: {
      txHash: placed.txHash,
      index: String(placed.index),
      changeAddress: address,
      utxos: 'splash-wallet',
      collaterals: null,
    },
  }),
  'POST /transfer': ({ asset, address, otherAddress }) => ({
    body: {
      utxos: 'splash-wallet',
      changeAddress: address,
      distAddress: otherAddress,
      transferAssets: { lovelace: '5000000', assets: [{ unit: asset, amount: '1000' }] },
    },
  }),
  'POST /create-lock': ({ address, asset, lockEndMs }) => ({
    body: { address, assetId: asset, amount: '1000', lockEnd: lockEndMs, stagesCount: 4 },
  }),
  'POST /withdraw': ({ dueLock, address }) => ({ body: { id: dueLock, address } }),
  'POST /sign': ({ built, address }) => ({ body: { ...built, changeAddress: address } }),
  'POST /sign-and-submit': ({ built, address }) => ({ body: { ...built, changeAddress: address } }),
  'POST /submit': ({ signed }) => ({ body: { cbor: signed } }),
  'POST /devnet/v1/faucet': ({ address }) => ({ body: { address, ada: 1000 } }),
  'POST /devnet/v1/mine': () => ({ body: { blocks: 1 } }),
  'POST /devnet/v1/fork': () => ({ body: { depth: 3, resubmit: 'none' } }),
};

export const REQUESTS: Samples = { ...READS, ...BUILDS };

/** `data` of a subscription; undefined where the topic takes none. */
export const SUBSCRIPTIONS: Readonly<Record<string, (stage: Stage) => JsonObject | undefined>> = {
  LastBar: (stage) => ({ pair: pair(stage), interval: 'min1' }),
  MCapBar: (stage) => ({ pair: pair(stage), interval: 'min1' }),
  Latest: () => undefined,
  Trending: () => undefined,
  New: () => undefined,
  MCapDesc: () => undefined,
  CompletedCreateOn: () => undefined,
  CompletedMCap: () => undefined,
  KOTH: () => undefined,
  PoolFeed: ({ asset }) => ({ asset }),
  LiveOrdersFeed: ({ asset }) => ({ asset, pkhFilter: null }),
  Trades: ({ asset }) => ({ asset }),
  NewestTrades: () => ({ limit: 2 }),
  OrderBook: ({ asset }) => ({ asset }),
  Tickers: ({ asset }) => ({ assets: [asset] }),
  UserHistoryByAddress: ({ address }) => ({ address }),
  UserHistoryByAddressAndAsset: ({ address, asset }) => ({ address, asset }),
  Insights: ({ asset }) => ({ asset }),
  NewLaunches: () => ({}),
  Health: () => undefined,
};
