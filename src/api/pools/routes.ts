/**
 * Pools over HTTP: the main page (the lists, the pool on top, search), those a client follows, and
 * one pool with its token.
 */

import Type from 'typebox';
import type { AssetId } from '../../engine/market/asset.ts';
import {
  curveProgress,
  POOL_LIST_NAMES,
  type PoolListName,
  viewInfo,
} from '../../engine/market/poolView.ts';
import type { ListedPool } from '../../engine/pools/listedPool.ts';
import { Failure, invalid } from '../../engine/runtime/errors.ts';
import { MAX_SEARCH_CHARACTERS } from '../../engine/runtime/limits.ts';
import { VersionedCache } from '../../engine/runtime/versionedCache.ts';
import { LIST_BODY_BYTES } from '../gateway/bodyLimits.ts';
import type { Answer, Route } from '../gateway/port.ts';
import { type InputOf, route } from '../gateway/route.ts';
import { counted, MAX_ON_PAGE, READS } from './route.ts';
import {
  AssetInfo,
  AssetQuery,
  FollowedAssets,
  FollowingQuery,
  LiquidityPoolInfo,
  PoolListQuery,
  Pools,
  Progress,
  SearchQuery,
} from './schema.ts';
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
      summary: 'The data that the launch of a token declares',
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

const FOLLOWS = {
  ...READS,
  method: 'POST',
  body: FollowedAssets,
  maxBodyBytes: LIST_BODY_BYTES,
} as const satisfies Partial<Route>;

const ORDER =
  'In the order of the body. An asset id that comes twice keeps its first place, unknown ' +
  'ids are left out; `count` is the number of pools found.';

function followingRoutes(views: PoolViews): Route[] {
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
      summary: 'All pools of given tokens',
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

function mainPageRoutes(views: PoolViews): Route[] {
  const pages = new Pages(views);
  return [
    route({
      ...READS,
      method: 'GET',
      path: '/v1/pools-main-page/initial/state',
      operationId: 'poolList',
      summary: 'The first 100 pools of a list',
      description: 'Ties are ordered by asset id.',
      query: PoolListQuery,
      answers: { 200: { description: 'Pools', schema: Type.Array(LiquidityPoolInfo) } },
      etag: true,
      handle: ({ query }) => pages.of(query.filter),
    }),
    route({
      ...READS,
      method: 'GET',
      path: '/v1/pools-main-page/koth',
      operationId: 'topPool',
      summary: 'The pool with the highest market cap',
      description: 'King of the hill. Graduated pools take part; a tie goes by asset id.',
      answers: { 200: { description: 'The pool', schema: LiquidityPoolInfo } },
      causes: ['ASSET_NOT_FOUND'],
      handle: () => koth(views),
    }),
    route({
      ...READS,
      method: 'GET',
      path: '/v1/pools-main-page/search',
      operationId: 'searchPools',
      summary: 'Pools whose name, ticker or asset id holds a text',
      description:
        'The text is taken literally: no wildcards; space around it and its case do not count. ' +
        'First come pools where one of the three is the text, then pools where one begins with ' +
        'it, then the others; within each part the highest market cap first, ties by asset id.',
      query: SearchQuery,
      answers: { 200: { description: 'A page, and how many there are', schema: Pools } },
      handle: ({ query }) => search(query, views),
    }),
  ];
}

interface Page {
  readonly pools: readonly ListedPool[];
  readonly answer: Answer;
}

/** The page is right at this position. */
type PageVersion = Pick<PoolViews, 'directory' | 'appliedSeq'>;

/** Each list is rendered once per change: the same bytes again keep their ETag without hashing. */
class Pages {
  readonly #views: PoolViews;
  readonly #kept = new VersionedCache<PoolListName, Page, PageVersion>({
    max: POOL_LIST_NAMES.length,
  });

  constructor(views: PoolViews) {
    this.#views = views;
  }

  of(list: PoolListName): Answer {
    const { directory, appliedSeq } = this.#views;
    const isSame = (before: PageVersion) =>
      before.directory === directory &&
      !this.#views.changedBetween(list, before.appliedSeq, appliedSeq);
    const make = (before: Page | undefined) => this.#make(list, before);
    return this.#kept.of(list, { directory, appliedSeq }, make, isSame).answer;
  }

  #make(list: PoolListName, before: Page | undefined): Page {
    const pools = this.#views.page(list, MAX_ON_PAGE);
    if (before !== undefined && areSame(before.pools, pools)) return before;
    return { pools, answer: { body: Buffer.from(this.#views.texts(pools)) } };
  }
}

/** Another change of a pool makes another object. */
function areSame(a: readonly ListedPool[], b: readonly ListedPool[]): boolean {
  return a.length === b.length && a.every((listed, index) => listed === b[index]);
}

function koth(views: PoolViews): Answer | Failure {
  const top = views.directory.top();
  if (top !== null) return { body: Buffer.from(views.text(top)) };
  return new Failure('ASSET_NOT_FOUND', 'No token was launched here yet, so none is on top.');
}

function search(
  { pattern, offset, limit }: InputOf<typeof SearchQuery>,
  views: PoolViews,
): Answer | Failure {
  // The schema lets signs that are put together of several pass as one.
  const points = [...pattern].length;
  if (points > MAX_SEARCH_CHARACTERS) {
    const message = `must have at most ${MAX_SEARCH_CHARACTERS} code points, not ${points}`;
    return invalid('query.pattern', message);
  }
  const { count, items } = views.directory.search(pattern.trim(), offset, limit);
  return counted(count, views.texts(items));
}
