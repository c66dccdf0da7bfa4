/**
 * All tokens sorted by a field of their tickers. A list is made when it is first asked for, and
 * then kept in step by the tokens whose tickers changed.
 */
import { LRUCache } from 'lru-cache';
import { type TickerList, TickerLists } from '../../engine/directory/tickerLists.ts';
import type { Fold } from '../../engine/fold/fold.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { WINDOWS } from '../../engine/market/windows.ts';
import { TokenDay } from './day.ts';
import type { SortField } from './schema.ts';
import {
  compareRanked,
  eachAsset,
  filterName,
  filterOf,
  isBounded,
  type Ranked,
  sideOf,
  type TickerFilter,
  type TickerSort,
} from './select.ts';
import { SORT_VALUES } from './view.ts';

/** Lists that are kept in step at once, some 20 MB each where there are 100,000 tokens. */
const MAX_LISTS = 12;
/** A ranking that no client requests is dropped, because each change costs work. */
const UNASKED_MS = 600_000;
export type Ranking = TickerList<TokenDay, Ranked>;

export class Rankings {
  #fold: Fold | null = null;
  #all: TickerLists<TokenDay> | null = null;
  readonly #filtered = new FilteredLists();
  readonly #lists = new LRUCache<string, Ranking>({
    max: MAX_LISTS,
    ttl: UNASKED_MS,
    dispose: (list) => list.close(),
  });

  /** As of the applied entry. null: `isOver` came first. */
  list(fold: Fold, question: TickerSort & TickerFilter, isOver: () => boolean): Ranking | null {
    const all = this.#allOf(fold);
    const { sort, order } = question;
    const field = sort === 'lastTrade' ? 'lastTradeTime' : sort;
    const matches = filterOf(fold, question);
    const hasBounds = isBounded(question);
    const name = `${field} ${order} ${filterName(fold, question)}`;
    const make = () => rankingOf(fold, all, field, sideOf(order), matches, hasBounds);
    if (hasBounds) return this.#filtered.list(name, make, (list) => list.refresh(isOver));
    const list = this.#lists.get(name) ?? make();
    this.#lists.set(name, list);
    return list.refresh(isOver) ? list : null;
  }

  /** Keeps all in step, until `isOver`. True: they are. */
  refresh(fold: Fold, isOver: () => boolean): boolean {
    if (fold !== this.#fold || this.#all === null) return true;
    this.#lists.purgeStale();
    this.#filtered.purge();
    return this.#all.refresh(isOver);
  }

  #allOf(fold: Fold): TickerLists<TokenDay> {
    if (this.#all !== null && fold === this.#fold) return this.#all;
    this.#lists.clear();
    this.#filtered.clear();
    this.#fold = fold;
    this.#all = new TickerLists({
      changes: fold.tickers.changes,
      assets: () => eachAsset(fold),
      read: (asset, isOver) => TokenDay.read(fold, asset, isOver),
      day: (asset) => TokenDay.of(fold, asset),
      crossed: (...steps) => fold.tickers.crossed(...steps),
    });
    return this.#all;
  }
}

function rankingOf(
  fold: Fold,
  all: TickerLists<TokenDay>,
  field: SortField,
  side: 1 | -1,
  matches: ((day: TokenDay) => boolean) | null,
  hasBounds: boolean,
): Ranking {
  const value = SORT_VALUES[field];
  return all.make<Ranked>({
    // A bound may concern the volume of the longest window, and no other value of a window.
    windows: WINDOWS.filter((window) => field.endsWith(window) || (hasBounds && window === '24h')),
    compare: (a, b) => compareRanked(a, b, side),
    read: (asset, isOver) => field !== 'traders24h' || TokenDay.readTraders(fold, asset, isOver),
    placeOf(day) {
      return matches?.(day) === false ? null : { asset: day.asset, value: value(day) };
    },
  });
}

/** A page of a list, in the list's order. */
export function pageOf(list: Ranking, offset: number, limit: number): readonly AssetId[] {
  const assets: AssetId[] = [];
  let skipped = 0;
  list.visitInOrder(({ asset }) => {
    if (skipped < offset) skipped += 1;
    else if (assets.length < limit) assets.push(asset);
    return assets.length < limit;
  });
  return assets;
}

/** Tokens in all lists that are kept, 20 MB for 100,000 of them. */
const MAX_KEPT_TOKENS = 400_000;
/** A page asks again within seconds; only tokens that changed until then are computed again. */
const UNASKED_FILTERED_MS = 60_000;
const MAX_MADE = 4;
/**
 * After this many calls without a request for a list that is being made, its client counts as gone.
 */
const LEFT_CALLS = 1_000;

interface Making {
  readonly list: Ranking;
  lastCall: number;
}

/**
 * Lists of the tokens that are within bounds. Clients choose bounds freely, so only a few lists are
 * kept, the ones requested last; a list that is being made is kept until it is complete, so that
 * requests with many different filters do not remove each other's lists.
 */
class FilteredLists {
  readonly #kept = new LRUCache<string, Ranking>({
    maxSize: MAX_KEPT_TOKENS,
    // A list in which nothing is left costs a look at what changes all the same.
    sizeCalculation: ({ size }) => Math.min(size + 1_000, MAX_KEPT_TOKENS / 4),
    ttl: UNASKED_FILTERED_MS,
    dispose: (list) => list.close(),
  });
  readonly #making = new Map<string, Making>();
  #calls = 0;

  /**
   * The list once `refresh` is done with it. null: it is not, or another list comes first; call
   * again.
   */
  list(name: string, make: () => Ranking, refresh: (list: Ranking) => boolean): Ranking | null {
    const kept = this.#kept.get(name);
    if (kept !== undefined) return refresh(kept) ? kept : null;
    this.#calls += 1;
    const making = this.#making.get(name) ?? this.#begin(name, make);
    if (making === null) return null;
    making.lastCall = this.#calls;
    if (!refresh(making.list)) return null;
    this.#making.delete(name);
    this.#kept.set(name, making.list);
    return making.list;
  }

  /** Drops what no client asks for. */
  purge(): void {
    this.#kept.purgeStale();
  }

  clear(): void {
    this.#kept.clear();
    for (const { list } of this.#making.values()) list.close();
    this.#making.clear();
  }

  #begin(name: string, make: () => Ranking): Making | null {
    if (this.#making.size >= MAX_MADE) this.#dropLeft();
    if (this.#making.size >= MAX_MADE) return null;
    const making = { list: make(), lastCall: this.#calls };
    this.#making.set(name, making);
    return making;
  }

  #dropLeft(): void {
    for (const [name, { list, lastCall }] of this.#making) {
      if (lastCall > this.#calls - LEFT_CALLS) continue;
      list.close();
      this.#making.delete(name);
    }
  }
}
