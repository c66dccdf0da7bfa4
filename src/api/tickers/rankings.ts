/**
 * All tokens sorted by a field of their tickers. A list is made when it is first asked for, and
 * then kept in step by the tokens whose tickers changed.
 */
import { LRUCache } from 'lru-cache';
import sortedBtree from 'sorted-btree';
import type { Fold } from '../../engine/actors/fold.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { TokenDay } from './day.ts';
import type { SortField } from './schema.ts';
import { allAssets, compareRanked, type Ranked, sideOf, type TickerSort } from './select.ts';
import { SORT_VALUES } from './view.ts';

/** Lists that are kept in step at once, some 15 MB each where there are 100,000 tokens. */
const MOST_LISTS = 12;

export class Rankings {
  #fold: Fold | null = null;
  readonly #lists = new LRUCache<string, Ranking>({
    max: MOST_LISTS,
    dispose: (list) => list.close(),
  });

  /** As of the applied entry. */
  list(fold: Fold, { sort, order }: TickerSort): Ranking {
    if (fold !== this.#fold) this.#lists.clear();
    this.#fold = fold;
    const field = sort === 'lastTrade' ? 'lastTradeTime' : sort;
    const name = `${field} ${order}`;
    const list = this.#lists.get(name) ?? new Ranking(fold, field, sideOf(order));
    this.#lists.set(name, list);
    list.refresh();
    return list;
  }
}

const STOP = { break: true };
/** Keys of a node, as for lists of pools (engine/actors/directory.ts). */
const NODE_KEYS = 64;

class Ranking {
  readonly #fold: Fold;
  readonly #field: SortField;
  readonly #tree: sortedBtree.default<Ranked, undefined>;
  readonly #places = new Map<AssetId, Ranked>();
  readonly #changed: Set<AssetId>;

  constructor(fold: Fold, field: SortField, side: 1 | -1) {
    this.#fold = fold;
    this.#field = field;
    const compare = (a: Ranked, b: Ranked) => compareRanked(a, b, side);
    this.#tree = new sortedBtree.default(undefined, compare, NODE_KEYS);
    this.#changed = fold.tickers.changes.follow();
    for (const asset of allAssets(fold)) this.#changed.add(asset);
  }

  get size(): number {
    return this.#tree.size;
  }

  /** In order. */
  page(offset: number, limit: number): readonly AssetId[] {
    const assets: AssetId[] = [];
    let skipped = 0;
    this.#tree.forEachPair(({ asset }) => {
      if (skipped < offset) skipped += 1;
      else if (assets.length < limit) assets.push(asset);
      return assets.length < limit ? undefined : STOP;
    });
    return assets;
  }

  refresh(): void {
    for (const asset of this.#changed) this.#place(asset);
    this.#changed.clear();
  }

  close(): void {
    this.#fold.tickers.changes.unfollow(this.#changed);
  }

  #place(asset: AssetId): void {
    const day = TokenDay.of(this.#fold, asset);
    const value = day === null ? null : SORT_VALUES[this.#field](day);
    const place = this.#places.get(asset);
    if (place !== undefined && day !== null && place.value === value) return;
    if (place !== undefined) this.#tree.delete(place);
    this.#places.delete(asset);
    if (day === null) return;
    const next = { asset, value };
    this.#places.set(asset, next);
    this.#tree.set(next, undefined);
  }
}
