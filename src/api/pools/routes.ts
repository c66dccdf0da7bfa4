/** Pools over HTTP: the main page, those a client follows, and one pool with its token. */
import type { ListedPool } from '../../engine/actors/directory.ts';
import { curveProgress, viewInfo } from '../../engine/market/poolView.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Answer, Route, RouteRequest } from '../gateway/port.ts';
import { followingRoutes } from './following.ts';
import { mainPageRoutes } from './mainPage.ts';
import { READS } from './route.ts';
import { AssetInfo, AssetQuery, LiquidityPoolInfo, Progress } from './schema.ts';
import { type PoolNode, PoolViews } from './views.ts';

const OF_ASSET = {
  ...READS,
  method: 'GET',
  query: AssetQuery,
  causes: ['ASSET_NOT_FOUND'],
} as const satisfies Partial<Route>;

export function poolRoutes(node: PoolNode): Route[] {
  const views = new PoolViews(node);
  return [...mainPageRoutes(views), ...followingRoutes(views), ...feedRoutes(views)];
}

function feedRoutes(views: PoolViews): Route[] {
  return [
    {
      ...OF_ASSET,
      path: '/v1/pools-feed/initial/state',
      operationId: 'pool',
      summary: 'One pool',
      answers: { 200: { description: 'The pool', schema: LiquidityPoolInfo } },
      handle: (request) => answer(request, views, (listed) => views.text(listed)),
    },
    {
      ...OF_ASSET,
      path: '/v1/pools-feed/curve/progress',
      operationId: 'curveProgress',
      summary: 'How much of its cap a pool has, in percent',
      answers: { 200: { description: 'Progress', schema: Progress } },
      handle: (request) =>
        answer(request, views, ({ pool }) => JSON.stringify({ percent: curveProgress(pool) })),
    },
    {
      ...OF_ASSET,
      path: '/v1/asset-info',
      operationId: 'assetInfo',
      summary: 'What the launch said of a token',
      answers: { 200: { description: 'The token', schema: AssetInfo } },
      handle: (request) => answer(request, views, ({ pool }) => JSON.stringify(viewInfo(pool))),
    },
  ];
}

function answer(
  { query }: RouteRequest,
  { directory }: PoolViews,
  textOf: (listed: ListedPool) => string,
): Answer | Failure {
  const asset = String(query.asset).toLowerCase();
  const listed = directory.find(asset);
  if (listed !== null) return { body: Buffer.from(textOf(listed)) };
  return new Failure('ASSET_NOT_FOUND', `No token ${asset} was launched here.`);
}
