/** Pools over HTTP: the main page, those a client follows, and one pool with its token. */
import type { ListedPool } from '../../engine/actors/directory.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { curveProgress, viewInfo } from '../../engine/market/poolView.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Answer, Route } from '../gateway/port.ts';
import { route } from '../gateway/route.ts';
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
    route({
      ...OF_ASSET,
      path: '/v1/pools-feed/initial/state',
      operationId: 'pool',
      summary: 'One pool',
      answers: { 200: { description: 'The pool', schema: LiquidityPoolInfo } },
      handle: ({ query }) => answer(query.asset, views, (listed) => views.text(listed)),
    }),
    route({
      ...OF_ASSET,
      path: '/v1/pools-feed/curve/progress',
      operationId: 'curveProgress',
      summary: 'How much of its cap a pool has, in percent',
      answers: { 200: { description: 'Progress', schema: Progress } },
      handle: ({ query }) =>
        answer(query.asset, views, ({ pool }) => JSON.stringify({ percent: curveProgress(pool) })),
    }),
    route({
      ...OF_ASSET,
      path: '/v1/asset-info',
      operationId: 'assetInfo',
      summary: 'What the launch said of a token',
      answers: { 200: { description: 'The token', schema: AssetInfo } },
      handle: ({ query }) =>
        answer(query.asset, views, ({ pool }) => JSON.stringify(viewInfo(pool))),
    }),
  ];
}

function answer(
  id: AssetId,
  { directory }: PoolViews,
  textOf: (listed: ListedPool) => string,
): Answer | Failure {
  const asset = id.toLowerCase();
  const listed = directory.find(asset);
  if (listed !== null) return { body: Buffer.from(textOf(listed)) };
  return new Failure('ASSET_NOT_FOUND', `No token ${asset} was launched here.`);
}
