/**
 * The pools that the fold lists, as clients see them. A pool is rendered once per change: another
 * change makes another `ListedPool`, so the rendered bytes belong to the object, not to a position.
 */
import type { PoolDirectory } from '../../engine/directory/directory.ts';
import type { Fold } from '../../engine/fold/fold.ts';
import { type PoolListName, viewPool } from '../../engine/market/poolView.ts';
import type { ListedPool } from '../../engine/pools/listedPool.ts';
import { finish } from '../../engine/runtime/slices.ts';
import { VersionedCache } from '../../engine/runtime/versionedCache.ts';
import { locksOfToken } from '../schemas/locks.ts';
import { TrendingPools } from './trending.ts';

/** Ask for `fold` each time: a new epoch replaces it. */
export interface PoolNode {
  readonly fold: Fold;
}

interface Rendered {
  readonly view: ReturnType<typeof viewOf>;
  text: string | null;
}

/** Lists overlap, and most pools are not on a first page. */
const REMEMBERED = 5_000;

export class PoolViews {
  readonly #node: PoolNode;
  /** By token. */
  readonly #rendered = new VersionedCache<string, Rendered, ListedPool>({ max: REMEMBERED });

  constructor(node: PoolNode) {
    this.#node = node;
  }

  get fold(): Fold {
    return this.#node.fold;
  }

  get directory(): PoolDirectory {
    return this.fold.directory;
  }

  get appliedSeq(): number {
    return this.#node.fold.store.checkpoint?.seq ?? 0;
  }

  get horizonSeq(): number {
    return this.#node.fold.store.horizonSeq;
  }

  /** The first of a list, in its order. */
  page(list: PoolListName, limit: number): readonly ListedPool[] {
    const { fold } = this.#node;
    if (list === 'Trending') return TrendingPools.of(fold).page(limit);
    return fold.directory.page(list, limit);
  }

  /** Puts a list in order, until `isOver`. True: it is. */
  prepare(list: PoolListName, isOver: () => boolean): boolean {
    return list !== 'Trending' || TrendingPools.of(this.#node.fold).refresh(isOver);
  }

  /** Whether a page may have changed in (fromSeq, toSeq]; false only if surely not. */
  changedBetween(list: PoolListName, fromSeq: number, toSeq: number): boolean {
    const { fold } = this.#node;
    if (fold.directory.changedBetween(fromSeq, toSeq)) return true;
    return list === 'Trending' && fold.tickers.changes.between(fromSeq, toSeq);
  }

  /** LiquidityPoolInfo of a pool as the directory has it now. */
  view(listed: ListedPool): Rendered['view'] {
    return this.#render(listed).view;
  }

  /** The same as JSON. */
  text(listed: ListedPool): string {
    const rendered = this.#render(listed);
    rendered.text ??= JSON.stringify(rendered.view);
    return rendered.text;
  }

  /** A JSON array of them. */
  texts(pools: readonly ListedPool[]): string {
    return `[${pools.map((listed) => this.text(listed)).join(',')}]`;
  }

  #render(listed: ListedPool): Rendered {
    return this.#rendered.of(listed.pool.token, listed, () => {
      return { view: viewOf(listed, this.#node.fold), text: null };
    });
  }
}

function viewOf({ pool, marketCapLovelace }: ListedPool, fold: Fold) {
  return viewPool(pool, marketCapLovelace, finish(locksOfToken(fold.store, pool.token)));
}
