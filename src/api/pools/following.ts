/** Pools that a client names: those it follows. */
import type { ListedPool } from '../../engine/actors/directory.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import type { Route } from '../gateway/port.ts';
import { route } from '../gateway/route.ts';
import { counted, READS } from './route.ts';
import { FollowedAssets, FollowingQuery, Pools } from './schema.ts';
import type { PoolViews } from './views.ts';

const FOLLOWS = {
  ...READS,
  method: 'POST',
  body: FollowedAssets,
} as const satisfies Partial<Route>;

const ORDER =
  'In the order of the body. An asset id that comes twice keeps its first place, those that are ' +
  'not known here are left out; `count` is how many were found.';

export function followingRoutes(views: PoolViews): Route[] {
  return [
    route({
      ...FOLLOWS,
      path: '/v1/following',
      operationId: 'following',
      summary: 'A page of the pools of given tokens',
      description: ORDER,
      query: FollowingQuery,
      answers: { 200: { description: 'A page, and how many there are', schema: Pools } },
      handle({ body, query }) {
        const found = findAll(views, body);
        const { offset, limit } = query;
        return counted(found.length, views.texts(found.slice(offset, offset + limit)));
      },
    }),
    route({
      ...FOLLOWS,
      path: '/v1/following/list',
      operationId: 'followingList',
      summary: 'The pools of given tokens, all of them',
      description: ORDER,
      answers: { 200: { description: 'All, and how many they are', schema: Pools } },
      handle({ body }) {
        const found = findAll(views, body);
        return counted(found.length, views.texts(found));
      },
    }),
  ];
}

function findAll({ directory }: PoolViews, assets: readonly AssetId[]): ListedPool[] {
  const wanted = new Set(assets.map((asset) => asset.toLowerCase()));
  return [...wanted].flatMap((asset) => directory.find(asset) ?? []);
}
