/**
 * Tokens by their places, of which only the first are kept in order: more is rarely shown, and to
 * keep 100,000 in order takes longer than everything else that tickers do.
 *
 * Cost: a token that moves behind the first is compared with the last of them. When too few are
 *       left, others are looked for among all, in slices.
 */
import sortedBtree from 'sorted-btree';
import type { AssetId } from '../market/asset.ts';

/** Negative when `a` comes first; 0 only for equal places of one token. */
type Compare<Place> = (a: Place, b: Place) => number;

/** Kept in order at most; when fewer than half of them are left, others are looked for. */
const FIRST = 2_000;
/** Keys of a node, as for lists of pools (engine/actors/directory.ts). */
const NODE_KEYS = 64;
const STOP = { break: true };

export class TopList<Place> {
  readonly #compare: Compare<Place>;
  readonly #most: number;
  readonly #places = new Map<AssetId, Place>();
  #first: First<Place>;
  /** What `#first` will be once all places are looked at. */
  #next: { readonly first: First<Place>; readonly rest: Iterator<Place> } | null = null;

  constructor(compare: Compare<Place>, most = FIRST) {
    this.#compare = compare;
    this.#most = most;
    this.#first = new First(compare, most);
  }

  /** All, in order or not. */
  get size(): number {
    return this.#places.size;
  }

  has(asset: AssetId): boolean {
    return this.#places.has(asset);
  }

  /** null: the token is not in the list. */
  put(asset: AssetId, place: Place | null): void {
    const before = this.#places.get(asset);
    if (before !== undefined) {
      if (place !== null && this.#compare(before, place) === 0) return;
      this.#first.remove(before);
      this.#next?.first.remove(before);
    }
    if (place === null) this.#places.delete(asset);
    else {
      this.#places.set(asset, place);
      this.#first.add(place);
      this.#next?.first.add(place);
    }
  }

  /** Finds the first `count`, until `isOver`. True: `walk` can go so far. */
  order(count: number, isOver: () => boolean): boolean {
    while (!this.#first.reaches(Math.max(count, this.#most / 2))) {
      if (!this.#look(count, isOver)) return this.#first.reaches(count);
    }
    return true;
  }

  /** In order, until `visit` answers false, as far as `order` said. */
  walk(visit: (place: Place) => boolean): void {
    this.#first.walk(visit);
  }

  #look(count: number, isOver: () => boolean): boolean {
    this.#next ??= {
      first: new First(this.#compare, Math.max(this.#most, 2 * count)),
      rest: this.#places.values(),
    };
    const { first, rest } = this.#next;
    while (!isOver()) {
      const { value, done } = rest.next();
      if (done === true) {
        this.#first = first;
        this.#next = null;
        return true;
      }
      first.add(value);
    }
    return false;
  }
}

/** The first `most` of what is added. */
class First<Place> {
  readonly #compare: Compare<Place>;
  readonly #most: number;
  readonly #tree: sortedBtree.default<Place, undefined>;
  /** Nothing from here on is among them, and nothing before it is missing; null: nothing is. */
  #end: Place | null = null;

  constructor(compare: Compare<Place>, most: number) {
    this.#compare = compare;
    this.#most = most;
    this.#tree = new sortedBtree.default(undefined, compare, NODE_KEYS);
  }

  reaches(count: number): boolean {
    return this.#end === null || this.#tree.size >= count;
  }

  add(place: Place): void {
    if (!this.#isBeforeEnd(place)) return;
    this.#tree.set(place, undefined);
    if (this.#tree.size <= this.#most) return;
    const last = this.#tree.maxKey() ?? place;
    this.#tree.delete(last);
    this.#end = last;
  }

  remove(place: Place): void {
    if (this.#isBeforeEnd(place)) this.#tree.delete(place);
  }

  walk(visit: (place: Place) => boolean): void {
    this.#tree.forEachPair((place) => (visit(place) ? undefined : STOP));
  }

  #isBeforeEnd(place: Place): boolean {
    return this.#end === null || this.#compare(place, this.#end) < 0;
  }
}
