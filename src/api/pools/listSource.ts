/**
 * The first page of a list as a stream: pools that changed or are new on the page, and the order of
 * all of it, so that a client that was complete before has every pool that the order names.
 *
 * What a client had at a position cannot be told from the rows, so the pages that were given out
 * are remembered, the last of them. For a position without one the whole page is the answer.
 */
import { crc32 } from 'node:zlib';
import type { ListedPool, PoolDirectory } from '../../engine/directory/directory.ts';
import { POOLS_TAG, TICKERS_TAG } from '../../engine/fold/streamTags.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import type { PoolListName } from '../../engine/market/poolView.ts';
import type { DataOf, Part, Source } from '../topics/port.ts';
import { MOST_ON_PAGE } from './route.ts';
import type { PoolListUpdate } from './schema.ts';
import type { PoolViews } from './views.ts';

type ListData = DataOf<typeof PoolListUpdate>;

export function listSource<const List extends PoolListName>(
  list: List,
  views: PoolViews,
): Source<ListData, Part<`${List}Update`, ListData>> {
  const pages = new GivenPages(list, views);
  const update = ({ order }: Page, items: readonly ListedPool[]): ListData => ({
    items: items.map((listed) => views.view(listed)),
    order,
    crc32: crc32(order.join(',')),
  });
  const event = `${list}Update` as const;
  return {
    key: `PoolList:${list}`,
    tags: list === 'Trending' ? [POOLS_TAG, TICKERS_TAG] : [POOLS_TAG],
    prepare: (isOver) => views.prepare(list, isOver),
    snapshot() {
      const page = pages.now();
      return update(page, page.pools);
    },
    since(seq) {
      const { appliedSeq, horizonSeq } = views;
      if (seq < horizonSeq) return null;
      if (!views.changedBetween(list, seq, appliedSeq)) return [];
      const page = pages.now();
      const items = newsOf(page, pages.orderAt(seq), seq);
      return items === null ? [] : [{ event, seq: appliedSeq, data: update(page, items) }];
    },
  };
}

/** Pools of the page that who had `order` at `seq` lacks; null: there is no news at all. */
function newsOf(
  page: Page,
  order: readonly AssetId[] | null,
  seq: number,
): readonly ListedPool[] | null {
  if (order === null) return page.pools;
  const had = new Set(order);
  const items = page.pools.filter(
    ({ changedSeq }, index) => changedSeq > seq || !had.has(page.order[index] ?? ''),
  );
  return items.length === 0 && areSame(order, page.order) ? null : items;
}

interface Page {
  readonly seq: number;
  readonly pools: readonly ListedPool[];
  readonly order: readonly AssetId[];
}

/** Positions; a flush makes one, so with a change in each flush it is some 13 seconds. */
const REMEMBERED = 128;

class GivenPages {
  readonly #list: PoolListName;
  readonly #views: PoolViews;
  /** Oldest first; without the pools, which are many when each page has others. */
  readonly #past: Pick<Page, 'seq' | 'order'>[] = [];
  #directory: PoolDirectory | null = null;
  #page: Page = { seq: 0, pools: [], order: [] };

  constructor(list: PoolListName, views: PoolViews) {
    this.#list = list;
    this.#views = views;
  }

  /** The page at the applied position. */
  now(): Page {
    const { directory, appliedSeq: seq } = this.#views;
    if (this.#directory === directory) {
      if (!this.#views.changedBetween(this.#list, this.#page.seq, seq)) return this.#page;
    } else this.#past.length = 0;
    this.#directory = directory;
    const pools = this.#views.page(this.#list, MOST_ON_PAGE);
    const tokens = pools.map(({ pool }) => pool.token);
    const order = areSame(tokens, this.#page.order) ? this.#page.order : tokens;
    this.#page = { seq, pools, order };
    this.#past.push({ seq, order });
    if (this.#past.length > REMEMBERED) this.#past.shift();
    return this.#page;
  }

  /** The order of the page as it was at a position of before; null: not known. */
  orderAt(seq: number): readonly AssetId[] | null {
    const given = this.#past.findLast((page) => page.seq <= seq);
    const hasChanged =
      given === undefined || this.#views.changedBetween(this.#list, given.seq, seq);
    return hasChanged ? null : given.order;
  }
}

function areSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index]);
}
