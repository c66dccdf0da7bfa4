/**
 * One list of pools, kept in order: the larger rank first, ties by asset id. A B+ tree, so that one
 * of 100,000 pools moves in about a microsecond and a page is read without sorting.
 */
import sortedBtree from 'sorted-btree';
import type { AssetId } from '../market/asset.ts';

/** The package is CommonJS: its default export is a field here. */
const BTree = sortedBtree.default;

/** Where a pool stands. Never changed while it stands there. */
export interface RankedPool<P> {
  readonly rank: number | bigint;
  readonly token: AssetId;
  readonly of: P;
}

/** Keys of a node: of 16 to 256, what moved pools fastest (bench/listUpdates.ts). */
const NODE_KEYS = 64;
const STOP = { break: true };

export class RankedPools<P> {
  readonly #tree = new BTree<RankedPool<P>, undefined>(undefined, compare, NODE_KEYS);

  get size(): number {
    return this.#tree.size;
  }

  add(place: RankedPool<P>): void {
    this.#tree.set(place, undefined);
  }

  remove(place: RankedPool<P>): void {
    this.#tree.delete(place);
  }

  first(): P | null {
    return this.#tree.minKey()?.of ?? null;
  }

  /** From the first on, until `visit` answers false. */
  walk(visit: (of: P) => boolean): void {
    this.#tree.forEachPair(({ of }) => (visit(of) ? undefined : STOP));
  }
}

/** Ranks of one list are all numbers or all bigints. */
function compare(a: RankedPool<unknown>, b: RankedPool<unknown>): number {
  if (a.rank !== b.rank) return a.rank > b.rank ? -1 : 1;
  if (a.token === b.token) return 0;
  return a.token < b.token ? -1 : 1;
}
