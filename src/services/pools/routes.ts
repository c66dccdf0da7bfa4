/** Pools over HTTP: the lists of the main page, one pool, how far its curve is, its token. */
import Type from 'typebox';
import type { Answer, Route, RouteRequest } from '../../gateway/port.ts';
import { curveProgress, POOL_LISTS, type PoolList, viewInfo } from '../../market/poolView.ts';
import { assert } from '../../runtime/assert.ts';
import { Failure } from '../../runtime/errors.ts';
import type { Checkpoint } from '../../store/state.ts';
import { type KnownPool, PoolDirectory, type PoolNode } from './directory.ts';
import { AssetInfo, AssetQuery, LiquidityPoolInfo, PoolListQuery, Progress } from './schema.ts';

const COMMON = {
  method: 'GET',
  tag: 'Pools',
  rate: 'read',
  needsSync: true,
  positioned: true,
  etag: false,
  gzip: false,
} as const;
const OF_ASSET = { ...COMMON, query: AssetQuery, causes: ['ASSET_NOT_FOUND'] } as const;

export function poolRoutes(node: PoolNode): Route[] {
  const directory = new PoolDirectory(node);
  const pages = new Pages(directory);
  return [
    {
      ...COMMON,
      path: '/v1/pools-main-page/initial/state',
      operationId: 'poolList',
      summary: 'The first 100 pools of a list',
      description: 'Ties are ordered by asset id.',
      query: PoolListQuery,
      answers: { 200: { description: 'Pools', schema: Type.Array(LiquidityPoolInfo) } },
      etag: true,
      handle: ({ query }) => pages.of(readList(query.filter)),
    },
    {
      ...OF_ASSET,
      path: '/v1/pools-feed/initial/state',
      operationId: 'pool',
      summary: 'One pool',
      answers: { 200: { description: 'The pool', schema: LiquidityPoolInfo } },
      handle: (request) => answer(request, directory, (known) => directory.viewOf(known)),
    },
    {
      ...OF_ASSET,
      path: '/v1/pools-feed/curve/progress',
      operationId: 'curveProgress',
      summary: 'How much of its cap a pool has, in percent',
      answers: { 200: { description: 'Progress', schema: Progress } },
      handle: (request) =>
        answer(request, directory, ({ pool }) => ({ percent: curveProgress(pool) })),
    },
    {
      ...OF_ASSET,
      path: '/v1/asset-info',
      operationId: 'assetInfo',
      summary: 'What the launch said of a token',
      answers: { 200: { description: 'The token', schema: AssetInfo } },
      handle: (request) => answer(request, directory, ({ pool }) => viewInfo(pool)),
    },
  ];
}

/** Each list is rendered once for a position. */
class Pages {
  readonly #directory: PoolDirectory;
  #checkpoint: Checkpoint | null = null;
  readonly #kept = new Map<PoolList, Answer>();

  constructor(directory: PoolDirectory) {
    this.#directory = directory;
  }

  of(list: PoolList): Answer {
    const { checkpoint } = this.#directory;
    if (checkpoint !== this.#checkpoint) this.#kept.clear();
    this.#checkpoint = checkpoint;
    let page = this.#kept.get(list);
    if (page === undefined) {
      page = json(this.#directory.page(list));
      this.#kept.set(list, page);
    }
    return page;
  }
}

function answer(
  { query }: RouteRequest,
  directory: PoolDirectory,
  of: (pool: KnownPool) => object,
): Answer | Failure {
  const asset = String(query.asset).toLowerCase();
  const pool = directory.find(asset);
  if (pool !== null) return json(of(pool));
  return new Failure('ASSET_NOT_FOUND', `No token ${asset} was launched here.`);
}

function readList(value: string | number | undefined): PoolList {
  const list = POOL_LISTS.find((name) => name === value);
  assert(list !== undefined, 'the schema has checked the filter');
  return list;
}

function json(value: object): Answer {
  return { body: Buffer.from(JSON.stringify(value)) };
}
