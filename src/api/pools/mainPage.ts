/** The main page: the lists, the pool on top, and search. */
import Type from 'typebox';
import type { ListedPool, PoolDirectory } from '../../engine/actors/directory.ts';
import type { PoolList } from '../../engine/market/poolView.ts';
import { Failure, invalid } from '../../engine/runtime/errors.ts';
import type { Answer, Route } from '../gateway/port.ts';
import { type InputOf, route } from '../gateway/route.ts';
import { counted, MOST_ON_PAGE, READS } from './route.ts';
import { LiquidityPoolInfo, MOST_POINTS, PoolListQuery, Pools, SearchQuery } from './schema.ts';
import type { PoolViews } from './views.ts';

export function mainPageRoutes(views: PoolViews): Route[] {
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
        'First come pools where one of the three is the text, then those where one begins with ' +
        'it, then the others; among them the highest market cap first, ties by asset id.',
      query: SearchQuery,
      answers: { 200: { description: 'A page, and how many there are', schema: Pools } },
      handle: ({ query }) => search(query, views),
    }),
  ];
}

interface Page {
  readonly directory: PoolDirectory;
  readonly pools: readonly ListedPool[];
  readonly answer: Answer;
  /** The page is right at this position. */
  readonly seq: number;
}

/** Each list is rendered once per change: the same bytes again keep their ETag without hashing. */
class Pages {
  readonly #views: PoolViews;
  readonly #kept = new Map<PoolList, Page>();

  constructor(views: PoolViews) {
    this.#views = views;
  }

  of(list: PoolList): Answer {
    const { directory, appliedSeq } = this.#views;
    const kept = this.#kept.get(list);
    if (kept?.directory === directory && !directory.changedBetween(kept.seq, appliedSeq)) {
      return kept.answer;
    }
    const pools = directory.page(list, MOST_ON_PAGE);
    if (kept !== undefined && areSame(kept.pools, pools)) {
      this.#kept.set(list, { ...kept, directory, seq: appliedSeq });
      return kept.answer;
    }
    const answer = { body: Buffer.from(this.#views.texts(pools)) };
    this.#kept.set(list, { directory, pools, answer, seq: appliedSeq });
    return answer;
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
  if (points > MOST_POINTS) {
    const message = `must have at most ${MOST_POINTS} code points, not ${points}`;
    return invalid('query.pattern', message);
  }
  const { count, items } = views.directory.search(pattern.trim(), offset, limit);
  return counted(count, views.texts(items));
}
