/** Portfolios of payment keys, now and over time, and the insights into a token, over HTTP. */

import Type from 'typebox';
import type { Fold } from '../../engine/fold/fold.ts';
import { tradersOf } from '../../engine/fold/traderRows.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { PoolRecord } from '../../engine/store/records.ts';
import { LIST_BODY_BYTES } from '../gateway/bodyLimits.ts';
import type { Route } from '../gateway/port.ts';
import { jsonAnswer, route } from '../gateway/route.ts';
import type { OrderPage } from '../schemas/apiOrder.ts';
import { listOf } from '../schemas/format.ts';
import { type LockRow, locksOfOwner } from '../schemas/locks.ts';
import type { HeldState, SlicedReads, Steps } from '../schemas/slicedReads.ts';
import { refuseSpan } from '../schemas/timeSpan.ts';
import { HELD, Insights, insightsOf } from './insights.ts';
import { portfolioOf } from './portfolio.ts';
import { portfolioHistory } from './portfolioHistory.ts';
import {
  Portfolio,
  PortfolioHistoryQuery,
  PortfolioPoint,
  PortfolioQuery,
} from './portfolioSchema.ts';
import { AVERAGE_COST, COUNTED, distinct, poolOf } from './routes.ts';
import { InsightsQuery, Keys } from './schema.ts';
import { TopTraders, TradersQuery, topTraders } from './traders.ts';

const COMMON = {
  tag: 'Holders',
  rate: 'read',
  needsSync: true,
  positioned: true,
} as const satisfies Partial<Route>;
/** Reads that a history counts as: it folds all fills of its keys. */
const HISTORY_COST = 10;
const Points = Type.Array(PortfolioPoint);
const NEXT_TO = {
  'X-Next-To': 'Time of the oldest point returned; only when older ones were cut.',
};

/** Open orders of keys, newest first, as the orders service lists them. */
type OpenOrdersOf = (
  state: HeldState,
  pkhs: readonly string[],
) => Steps<Type.Static<typeof OrderPage>>;

/** Read `fold` each time: a new epoch replaces it. */
export function portfolioRoutes(
  node: { readonly fold: Fold },
  reads: SlicedReads,
  openOrdersOf: OpenOrdersOf,
): Route[] {
  return [
    ...[insightsRoute(node), tradersRoute(node, reads)],
    route({
      ...COMMON,
      method: 'POST',
      path: '/v1/portfolio',
      operationId: 'portfolio',
      summary: 'Holdings and profits of wallets over all tokens, with open orders and locks',
      description: `Sums over all keys. ${AVERAGE_COST} ${COUNTED}`,
      query: PortfolioQuery,
      body: Keys,
      maxBodyBytes: LIST_BODY_BYTES,
      answers: { 200: { description: 'The portfolio', schema: Portfolio } },
      handle: ({ query, body }) => {
        const keys = distinct(body);
        return reads.answer(function* (state) {
          const openOrders = yield* openOrdersOf(state, [...keys]);
          const totals = yield* portfolioOf(state.rows, keys, query);
          if (totals instanceof Failure) return totals;
          const locks: LockRow[] = [];
          for (const pkh of keys) locks.push(...(yield* locksOfOwner(state.rows, pkh)));
          return jsonAnswer({ ...totals, openOrders, locks });
        });
      },
    }),
    route({
      ...COMMON,
      method: 'POST',
      path: '/v1/portfolio/history',
      operationId: 'portfolioHistory',
      summary: 'Profits of wallets over time, by minute, hour or day',
      description:
        'A point for each interval from the first trade on, oldest first, folded from the fills; ' +
        `${AVERAGE_COST} Costs as much as ${HISTORY_COST} reads.`,
      query: PortfolioHistoryQuery,
      body: Keys,
      maxBodyBytes: LIST_BODY_BYTES,
      cost: () => HISTORY_COST,
      answers: { 200: { description: 'Points', schema: Points, headers: NEXT_TO } },
      csv: { file: 'portfolio', row: PortfolioPoint, rows: listOf },
      handle: ({ query, body }) => {
        const refused = refuseSpan(query);
        if (refused !== null) return refused;
        const keys = distinct(body);
        return reads.answer(function* ({ rows }) {
          const history = yield* portfolioHistory(node.fold, rows, keys, query);
          if (history instanceof Failure) return history;
          const { points, isCut } = history;
          const headers = isCut ? { 'X-Next-To': String(points[0]?.time ?? 0) } : {};
          return { body: JSON.stringify(points), headers };
        });
      },
    }),
  ];
}

/** Traders of a token that count as one read: what an answer of a few milliseconds looks at. */
const TRADERS_A_READ = 500;
/** Half of what an address may read at once. */
const MAX_READS = 100;

function tradersRoute(node: { readonly fold: Fold }, reads: SlicedReads): Route {
  return route({
    ...COMMON,
    method: 'GET',
    path: '/v1/tokens/traders',
    operationId: 'tokenTraders',
    summary: 'The traders of a token that made or traded the most, largest first',
    description:
      `Payment keys with a fill of the token. ${AVERAGE_COST} Costs a read, and another for ` +
      `each ${TRADERS_A_READ} keys that traded the token, at most ${MAX_READS}.`,
    query: TradersQuery,
    answers: { 200: { description: 'The traders', schema: TopTraders } },
    causes: ['ASSET_NOT_FOUND'],
    cost: ({ query }) => {
      const traders = tradersIn(node.fold, query.asset);
      return Math.min(MAX_READS, 1 + Math.floor(traders / TRADERS_A_READ));
    },
    handle: ({ query }) => {
      const asset = query.asset.toLowerCase();
      return reads.answer(function* (state) {
        const pool = state.rows.record<PoolRecord>('pools', asset);
        if (pool !== null) return jsonAnswer(yield* topTraders(state, pool, query));
        return new Failure('ASSET_NOT_FOUND', `No token ${asset} was launched here.`);
      });
    },
  });
}

function tradersIn({ store }: Fold, asset: AssetId): number {
  return Number(store.get('counts', tradersOf(asset.toLowerCase())) ?? 0);
}

function insightsRoute(node: { readonly fold: Fold }): Route {
  return route({
    ...COMMON,
    method: 'GET',
    path: '/v1/tokens/insights',
    operationId: 'tokenInsights',
    summary: 'Trust data of a token: its author, the first buyers, the largest holders',
    description: HELD,
    query: InsightsQuery,
    answers: { 200: { description: 'The insights', schema: Insights } },
    causes: ['ASSET_NOT_FOUND'],
    etag: true,
    handle: ({ query }) => {
      const asset = query.asset.toLowerCase();
      const pool = poolOf(node.fold, asset);
      if (pool !== null) return jsonAnswer(insightsOf(node.fold, pool));
      return new Failure('ASSET_NOT_FOUND', `No token ${asset} was launched here.`);
    },
  });
}
