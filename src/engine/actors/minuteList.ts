/**
 * Tokens in order of a value that changes with what happens to a token, and when a minute leaves a
 * window. The order is kept for this minute of market time and, as it is without further trades,
 * for the next: when that begins the trees change places, so the turn of a minute costs the same
 * whatever leaves.
 *
 * Assumes: `prepare` is called often in a minute. What it did not get to, the next reader does.
 * Cost:    a token that changes or leaves is placed once in either tree.
 */
import sortedBtree from 'sorted-btree';
import type { AssetId } from '../market/asset.ts';
import { MINUTE_MS } from '../market/resolution.ts';
import type { Window } from '../market/windows.ts';
import type { TickerChanges, TickerFollower } from './tickerChanges.ts';

interface MinuteListOptions<Place> {
  /** The place changes when a minute leaves one of them. */
  readonly windows: readonly Window[];
  /** 0 only for equal places of one token. */
  compare(a: Place, b: Place): number;
  /** At market time `atMs`, cut to the minute. null: the token is not in the list. */
  placeOf(asset: AssetId, atMs: number): Place | null;
}

type Tree<Place> = sortedBtree.default<Place, undefined>;

/** Where a token is in the trees, as of a number of swaps: later ones find `next` in both. */
interface Held<Place> {
  swaps: number;
  now: Place | null;
  next: Place | null;
}

/** Keys of a node, as for lists of pools (engine/actors/directory.ts). */
const NODE_KEYS = 64;
const STOP = { break: true };
/** Steps of market time whose tokens are to be placed; after more of them all are. */
const MOST_LATE = 32;

export class MinuteList<Place> implements TickerFollower {
  readonly #changes: TickerChanges;
  readonly #options: MinuteListOptions<Place>;
  readonly #held = new Map<AssetId, Held<Place>>();
  #swaps = 0;
  #now: Tree<Place>;
  /** To be placed in `#now`, besides what is left of `#late`. */
  #changed = new Set<AssetId>();
  #late: Iterator<AssetId>[];
  /** null: to be made of `#now` when that is whole. */
  #next: Tree<Place> | null = null;
  /** To be placed in `#next`, besides what is left of `#leaving`. */
  #changedNext = new Set<AssetId>();
  #leaving: Iterator<AssetId> | null = null;

  /** `assets`: all that may be in the list. */
  constructor(
    changes: TickerChanges,
    assets: Iterable<AssetId>,
    options: MinuteListOptions<Place>,
  ) {
    this.#changes = changes;
    this.#options = options;
    const compare = (a: Place, b: Place) => options.compare(a, b);
    this.#now = new sortedBtree.default(undefined, compare, NODE_KEYS);
    this.#late = [assets[Symbol.iterator]()];
    changes.follow(this);
  }

  close(): void {
    this.#changes.unfollow(this);
  }

  changed(asset: AssetId): void {
    this.#changed.add(asset);
    if (this.#next !== null) this.#changedNext.add(asset);
  }

  moved(fromMs: number): void {
    const { atMs } = this.#changes;
    const isNext = atMs === fromMs + MINUTE_MS;
    if (this.#next === null) {
      this.#addLate(this.#crossed(fromMs, atMs));
      return;
    }
    this.#now = this.#next;
    this.#next = null;
    this.#swaps += 1;
    this.#changed = this.#changedNext;
    this.#changedNext = new Set();
    // After any other step those that are placed as if they had left are not.
    const leaving = isNext ? this.#leaving : this.#crossed(fromMs, fromMs + MINUTE_MS);
    this.#late = leaving === null ? [] : [leaving];
    this.#leaving = null;
    if (!isNext) this.#addLate(this.#crossed(fromMs, atMs));
  }

  /** Places what changed, until `isOver`. True: the list is as of the applied entry. */
  refresh(isOver: () => boolean): boolean {
    if (!takeAll(this.#changed, isOver, (asset) => this.#place(asset))) return false;
    for (let first = this.#late[0]; first !== undefined; first = this.#late[0]) {
      if (!drain(first, this.#changed, isOver, (asset) => this.#place(asset))) return false;
      this.#late.shift();
    }
    return true;
  }

  /** Makes the list of the next minute as far as it can be known, until `isOver`. True: it is. */
  prepare(isOver: () => boolean): boolean {
    if (this.#options.windows.length === 0) return true;
    if (this.#next === null) {
      if (!this.refresh(isOver)) return false;
      this.#next = this.#now.clone();
      const { atMs } = this.#changes;
      this.#leaving = this.#crossed(atMs, atMs + MINUTE_MS);
    }
    const next = this.#next;
    const place = (asset: AssetId) => this.#placeNext(next, asset);
    if (!takeAll(this.#changedNext, isOver, place)) return false;
    const leaving = this.#leaving;
    if (leaving !== null && !drain(leaving, this.#changedNext, isOver, place)) return false;
    this.#leaving = null;
    return true;
  }

  /** Once `refresh` answered true: as `size` and `walk` do. */
  has(asset: AssetId): boolean {
    const held = this.#held.get(asset);
    return held !== undefined && (held.swaps === this.#swaps ? held.now : held.next) !== null;
  }

  get size(): number {
    return this.#now.size;
  }

  /** In order, until `visit` answers false. */
  walk(visit: (place: Place) => boolean): void {
    this.#now.forEachPair((place) => (visit(place) ? undefined : STOP));
  }

  #addLate(assets: Iterator<AssetId>): void {
    if (this.#options.windows.length === 0) return;
    this.#late.push(assets);
    // The list is not read, and what is remembered of each step would not end.
    if (this.#late.length > MOST_LATE) this.#late = [this.#all()];
  }

  #crossed(fromMs: number, toMs: number): Iterator<AssetId> {
    const { windows } = this.#options;
    return eachOf(windows.flatMap((window) => this.#changes.crossed(window, fromMs, toMs)));
  }

  /** That are in the list, or may be. */
  *#all(): Generator<AssetId> {
    yield* this.#held.keys();
    yield* this.#changes.inWindows();
  }

  #place(asset: AssetId): void {
    const held = this.#heldOf(asset);
    const place = this.#options.placeOf(asset, this.#changes.atMs);
    held.now = this.#replace(this.#now, held.now, place);
    if (this.#next === null) held.next = held.now;
    this.#release(asset, held);
  }

  #placeNext(next: Tree<Place>, asset: AssetId): void {
    const held = this.#heldOf(asset);
    const place = this.#options.placeOf(asset, this.#changes.atMs + MINUTE_MS);
    // One object where both are equal.
    held.next = this.#replace(next, held.next, this.#isSame(held.now, place) ? held.now : place);
    this.#release(asset, held);
  }

  #heldOf(asset: AssetId): Held<Place> {
    const swaps = this.#swaps;
    const held = this.#held.get(asset);
    if (held === undefined) {
      const added = { swaps, now: null, next: null };
      this.#held.set(asset, added);
      return added;
    }
    if (held.swaps !== swaps) held.now = held.next;
    held.swaps = swaps;
    return held;
  }

  #release(asset: AssetId, { now, next }: Held<Place>): void {
    if (now === null && next === null) this.#held.delete(asset);
  }

  /** Answers the one that is in the tree then. */
  #replace(tree: Tree<Place>, before: Place | null, after: Place | null): Place | null {
    if (this.#isSame(before, after)) return before;
    if (before !== null) tree.delete(before);
    if (after !== null) tree.set(after, undefined);
    return after;
  }

  #isSame(a: Place | null, b: Place | null): boolean {
    if (a === null || b === null) return a === b;
    return this.#options.compare(a, b) === 0;
  }
}

function* eachOf(lists: readonly Iterable<AssetId>[]): Generator<AssetId> {
  for (const assets of lists) yield* assets;
}

/** Empties the set, until `isOver`. True: it is empty. */
function takeAll(
  assets: Set<AssetId>,
  isOver: () => boolean,
  take: (asset: AssetId) => void,
): boolean {
  for (const asset of assets) {
    if (isOver()) return false;
    take(asset);
    assets.delete(asset);
  }
  return true;
}

/** Until `isOver`. True: nothing is left. One that cannot be taken stays in `kept`. */
function drain(
  assets: Iterator<AssetId>,
  kept: Set<AssetId>,
  isOver: () => boolean,
  take: (asset: AssetId) => void,
): boolean {
  while (!isOver()) {
    const { value, done } = assets.next();
    if (done === true) return true;
    kept.add(value);
    take(value);
    kept.delete(value);
  }
  return false;
}
