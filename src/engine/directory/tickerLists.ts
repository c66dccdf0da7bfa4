/**
 * Lists of tokens, whole and in order, that are kept in step with tickers. A token that changed,
 * or that a minute left a window of, is looked at once for all lists, in slices.
 */
import sortedBtree from 'sorted-btree';
import type { AssetId } from '../market/asset.ts';
import { MINUTE_MS } from '../market/resolution.ts';
import type { Window } from '../market/windows.ts';
import type { TickerChanges, TickerFollower } from './tickerChanges.ts';

interface ListOptions<Day, Place> {
  /** The place changes when a minute leaves one of these windows. */
  readonly windows: readonly Window[];
  /** 0 only for equal places of one token. */
  compare(a: Place, b: Place): number;
  /** Reads what `placeOf` needs besides the day, until `isOver`. True: it is read. */
  read?(asset: AssetId, isOver: () => boolean): boolean;
  /** null: the token is not in the list. */
  placeOf(day: Day): Place | null;
}

/** The source of lists of tickers. */
interface ListedTickers<Day> {
  readonly changes: Pick<TickerChanges, 'atMs' | 'follow'>;
  /** All tokens that may be in a list. */
  assets(): Iterable<AssetId>;
  /** Reads what `day` answers from, until `isOver`. True: it is read. */
  read(asset: AssetId, isOver: () => boolean): boolean;
  /** As of the applied entry. null: the token is in no list. */
  day(asset: AssetId): Day | null;
  /** As `TickerBook.crossed`. */
  crossed(windows: ReadonlySet<Window>, fromMs: number, toMs: number): Iterator<AssetId | null>;
}

/** Market time stepped between these moments; the tokens that are left to be looked at. */
interface Crossing {
  readonly fromMs: number;
  readonly toMs: number;
  readonly rest: Iterator<AssetId | null>;
}

/** After longer steps all tokens are looked at. Minutes are kept for longer than this. */
const LONGEST_MS = 30 * MINUTE_MS;

export class TickerLists<Day> implements TickerFollower {
  readonly #tickers: ListedTickers<Day>;
  readonly #lists = new Set<KeptList<Day>>();
  /** Tokens to check, besides the rest of `#crossing`. */
  readonly #changed = new Set<AssetId>();
  #crossing: Crossing | null = null;

  constructor(tickers: ListedTickers<Day>) {
    this.#tickers = tickers;
    tickers.changes.follow(this);
  }

  /** Kept in step until it is closed. */
  make<Place>(options: ListOptions<Day, Place>): TickerList<Day, Place> {
    const list: TickerList<Day, Place> = new TickerList(options, this.#tickers.assets(), {
      takeIn: (isOver) => this.#takeIn(isOver),
      look: (asset, isOver) => this.#look(asset, [list], isOver),
      close: () => this.#lists.delete(list),
    });
    this.#lists.add(list);
    return list;
  }

  changed(asset: AssetId): void {
    if (this.#lists.size > 0) this.#changed.add(asset);
  }

  moved(beforeMs: number): void {
    const { changes } = this.#tickers;
    const windows = new Set([...this.#lists].flatMap((list) => list.windows));
    if (windows.size === 0) return;
    const { fromMs, toMs } = this.#crossing ?? { fromMs: beforeMs, toMs: beforeMs };
    const span = {
      fromMs: Math.min(fromMs, beforeMs, changes.atMs),
      toMs: Math.max(toMs, beforeMs, changes.atMs),
    };
    const isLong = span.toMs - span.fromMs > LONGEST_MS;
    const rest = isLong
      ? this.#tickers.assets()[Symbol.iterator]()
      : this.#tickers.crossed(windows, span.fromMs, span.toMs);
    this.#crossing = { ...span, rest };
  }

  /** Brings all lists to the applied entry, until `isOver`. True: they are. */
  refresh(isOver: () => boolean): boolean {
    return this.#takeIn(isOver) && [...this.#lists].every((list) => list.refresh(isOver));
  }

  #takeIn(isOver: () => boolean): boolean {
    for (const asset of this.#changed) {
      if (isOver() || !this.#look(asset, this.#lists, isOver)) return false;
    }
    while (this.#crossing !== null) {
      if (isOver()) return false;
      const { value, done } = this.#crossing.rest.next();
      if (done === true) this.#crossing = null;
      else if (value !== null && !this.#look(value, this.#lists, isOver)) return false;
    }
    return true;
  }

  /** False: `isOver` came before it was read. It stays to be looked at; also where that fails. */
  #look(asset: AssetId, lists: Iterable<KeptList<Day>>, isOver: () => boolean): boolean {
    this.#changed.add(asset);
    if (!this.#tickers.read(asset, isOver)) return false;
    for (const list of lists) if (!list.read(asset, isOver)) return false;
    const day = this.#tickers.day(asset);
    for (const list of lists) list.put(asset, day);
    this.#changed.delete(asset);
    return true;
  }
}

/** The part of `TickerLists` that a list needs. */
interface AllLists {
  /** Brings tokens that were already checked to the applied entry, until `isOver`. True: it is. */
  takeIn(isOver: () => boolean): boolean;
  /** Like `TickerLists.look`, for one list. */
  look(asset: AssetId, isOver: () => boolean): boolean;
  close(): void;
}

type KeptList<Day> = Pick<TickerList<Day, never>, 'windows' | 'read' | 'put' | 'refresh'>;

/** Keys of a node, as for lists of pools (engine/directory/directory.ts). */
const NODE_KEYS = 64;
const STOP = { break: true };

export class TickerList<Day, Place> {
  readonly windows: readonly Window[];
  readonly #options: ListOptions<Day, Place>;
  readonly #lists: AllLists;
  readonly #places = new Map<AssetId, Place>();
  /** The same places, sorted. */
  readonly #order: sortedBtree.default<Place, undefined>;
  /** Not looked at yet; null: all were. */
  #rest: Iterator<AssetId> | null;

  constructor(options: ListOptions<Day, Place>, assets: Iterable<AssetId>, lists: AllLists) {
    this.windows = options.windows;
    this.#options = options;
    this.#lists = lists;
    const compare = (a: Place, b: Place) => options.compare(a, b);
    this.#order = new sortedBtree.default(undefined, compare, NODE_KEYS);
    this.#rest = assets[Symbol.iterator]();
  }

  close(): void {
    this.#lists.close();
  }

  /** Reads what `put` needs, until `isOver`. True: it is read. */
  read(asset: AssetId, isOver: () => boolean): boolean {
    return this.#options.read?.(asset, isOver) ?? true;
  }

  put(asset: AssetId, day: Day | null): void {
    const before = this.#places.get(asset);
    const place = day === null ? null : this.#options.placeOf(day);
    if (before !== undefined) {
      if (place !== null && this.#options.compare(before, place) === 0) return;
      this.#order.delete(before);
    }
    if (place === null) this.#places.delete(asset);
    else {
      this.#places.set(asset, place);
      this.#order.set(place, undefined);
    }
  }

  /** Brings the list to the applied entry, until `isOver`. True: it is, and may be read. */
  refresh(isOver: () => boolean): boolean {
    if (!this.#lists.takeIn(isOver)) return false;
    while (this.#rest !== null) {
      if (isOver()) return false;
      const { value, done } = this.#rest.next();
      if (done === true) this.#rest = null;
      else if (!this.#lists.look(value, isOver)) return false;
    }
    return true;
  }

  get size(): number {
    return this.#places.size;
  }

  has(asset: AssetId): boolean {
    return this.#places.has(asset);
  }

  /** In order, until `visit` answers false. */
  visitInOrder(visit: (place: Place) => boolean): void {
    this.#order.forEachPair((place) => (visit(place) ? undefined : STOP));
  }
}
