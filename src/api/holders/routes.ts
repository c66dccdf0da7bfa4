/** Holders of a token, and the balances and profits of wallets, over HTTP. */
import type { Fold } from '../../engine/actors/fold.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Route } from '../gateway/port.ts';
import { jsonAnswer, route } from '../gateway/route.ts';
import { holderPage, metricsOf, pnlCardOf, poolOf, worthOf } from './holdings.ts';
import {
  AssetBalanceOrNull,
  Holders,
  HoldersQuery,
  Keys,
  PnlCardOrNull,
  TokenQuery,
  TraderQuery,
  TradingMetricsOrNull,
} from './schema.ts';

const COMMON = {
  tag: 'Holders',
  rate: 'read',
  needsSync: true,
  positioned: true,
} as const satisfies Partial<Route>;

const COUNTED =
  'Addresses of the deployment’s scripts are left out: tokens in pools, open orders and locks ' +
  'do not count.';
const AVERAGE_COST =
  'Average cost over fills, a launch’s initial buy included; transfers are ignored. A buy costs ' +
  'what its order offered (with the percent fee) and the executor’s fee, but not the deposit; an ' +
  'initial buy what entered the pool. A sell brings what was paid beyond the deposit. ' +
  'A sell takes open cost × sold / open tokens from the open cost; tokens sold beyond the open ' +
  'ones came by transfer: they have no cost, and their share of what the sell brought is not ' +
  'realized. Realized: matched proceeds − their cost, over all sells. Unrealized: open tokens × ' +
  'spot price − open cost. Everything is exact to the lovelace, a half rounded to the even one.';

/** Read `fold` each time: a new epoch replaces it. */
export function holderRoutes(node: { readonly fold: Fold }): Route[] {
  return [
    route({
      ...COMMON,
      method: 'GET',
      path: '/balances/v1/pool/holders',
      operationId: 'holders',
      summary: 'Who holds a token, the largest balance first',
      description:
        `One row for each address with confirmed tokens; ties are ordered by address. ${COUNTED} ` +
        '`dev` is the author: all addresses with the payment key of the launch.',
      query: HoldersQuery,
      answers: { 200: { description: 'A page', schema: Holders } },
      causes: ['ASSET_NOT_FOUND'],
      etag: true,
      handle: ({ query }) => {
        const asset = query.assetId.toLowerCase();
        const pool = poolOf(node.fold, asset);
        if (pool === null) {
          return new Failure('ASSET_NOT_FOUND', `No token ${asset} was launched here.`);
        }
        return jsonAnswer(holderPage(node.fold, pool, query));
      },
    }),
    route({
      ...COMMON,
      method: 'GET',
      path: '/v1/orders-feed/metrics',
      operationId: 'tradingMetrics',
      summary: 'What a wallet bought and sold of a token, and its profit',
      description: `${AVERAGE_COST} null where the key has no fill of the token.`,
      query: TraderQuery,
      answers: { 200: { description: 'Metrics, or null', schema: TradingMetricsOrNull } },
      handle: ({ query }) =>
        jsonAnswer(metricsOf(node.fold, query.asset.toLowerCase(), query.pkh.toLowerCase())),
    }),
    ...walletRoutes(node),
  ];
}

function walletRoutes(node: { readonly fold: Fold }): Route[] {
  const ofKeys = { ...COMMON, method: 'POST', query: TokenQuery, body: Keys } as const;
  return [
    route({
      ...ofKeys,
      path: '/balances/v1/user/pnl-card',
      operationId: 'pnlCard',
      summary: 'Profit of a user’s wallets with a token, in ADA and in percent',
      description: `Of all keys together. ${AVERAGE_COST} null where none of them bought.`,
      answers: { 200: { description: 'The card, or null', schema: PnlCardOrNull } },
      handle: ({ query, body }) =>
        jsonAnswer(pnlCardOf(node.fold, query.assetId.toLowerCase(), distinct(body))),
    }),
    route({
      ...ofKeys,
      path: '/balances/v1/asset/asset-balance',
      operationId: 'assetBalance',
      summary: 'What the tokens of a user’s wallets are worth at the spot price',
      description:
        'Confirmed tokens at all addresses with these payment keys, however they came. ' +
        `${COUNTED} null where there are none.`,
      answers: { 200: { description: 'The balance, or null', schema: AssetBalanceOrNull } },
      handle: ({ query, body }) =>
        jsonAnswer(worthOf(node.fold, query.assetId.toLowerCase(), distinct(body))),
    }),
  ];
}

function distinct(keys: readonly string[]): Set<string> {
  return new Set(keys.map((pkh) => pkh.toLowerCase()));
}
