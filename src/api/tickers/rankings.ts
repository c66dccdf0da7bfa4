/**
 * All tokens sorted by a field of their tickers. A list is made when it is first asked for, and
 * then kept in step by the tokens whose tickers changed.
 */
import { LRUCache } from 'lru-cache';
import type { Fold } from '../../engine/actors/fold.ts';
import { MinuteList } from '../../engine/actors/minuteList.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { WINDOWS } from '../../engine/market/windows.ts';
import { TokenDay } from './day.ts';
import { FilteredLists } from './filteredLists.ts';
import type { SortField } from './schema.ts';
import {
  compareRanked,
  eachAsset,
  filterName,
  filterOf,
  type Ranked,
  sideOf,
  type TickerFilter,
  type TickerSort,
} from './select.ts';
import { SORT_VALUES } from './view.ts';

/** Lists that are kept in step at once, some 20 MB each where there are 100,000 tokens. */
const MOST_LISTS = 12;
/** One that no client asks for is dropped: to keep it in step takes work. */
const UNASKED_MS = 600_000;
/** More than a second changes. */
const MOST_DAYS = 4_000;

export type Ranking = MinuteList<Ranked>;

export class Rankings {
  #fold: Fold | null = null;
  #days: SharedDays | null = null;
  readonly #filtered = new FilteredLists();
  readonly #lists = new LRUCache<string, Ranking>({
    max: MOST_LISTS,
    ttl: UNASKED_MS,
    dispose: (list) => list.close(),
  });

  /** As of the applied entry. null: `isOver` came first; call again. */
  list(fold: Fold, question: TickerSort & TickerFilter, isOver: () => boolean): Ranking | null {
    const days = this.#daysOf(fold);
    const { sort, order } = question;
    const field = sort === 'lastTrade' ? 'lastTradeTime' : sort;
    const matches = filterOf(fold, question);
    const name = `${field} ${order}`;
    if (matches !== null) {
      const make = () => rankingOf(days, field, sideOf(order), matches);
      return this.#filtered.list(`${name} ${filterName(fold, question)}`, make, isOver);
    }
    const list = this.#lists.get(name) ?? rankingOf(days, field, sideOf(order), null);
    this.#lists.set(name, list);
    return list.refresh(isOver) ? list : null;
  }

  /** Keeps all in step, until `isOver`. True: they are. */
  refresh(fold: Fold, isOver: () => boolean): boolean {
    return this.#each(fold, (list) => list.refresh(isOver));
  }

  /** Makes all ready for the next minute, until `isOver`. True: they are. */
  prepare(fold: Fold, isOver: () => boolean): boolean {
    return this.#each(fold, (list) => list.prepare(isOver));
  }

  #each(fold: Fold, visit: (list: Ranking) => boolean): boolean {
    if (fold !== this.#fold) return true;
    this.#lists.purgeStale();
    this.#filtered.purge();
    return [...this.#lists.values()].every(visit);
  }

  #daysOf(fold: Fold): SharedDays {
    if (this.#days !== null && fold === this.#fold) return this.#days;
    this.#lists.clear();
    this.#filtered.clear();
    this.#fold = fold;
    this.#days = new SharedDays(fold);
    return this.#days;
  }
}

/** The days of tokens that were read since the applied entry: lists are kept in step in turn. */
class SharedDays {
  readonly fold: Fold;
  readonly #days = new Map<AssetId, TokenDay | null>();
  #seq = 0;
  #atMs = 0;

  constructor(fold: Fold) {
    this.fold = fold;
  }

  of(asset: AssetId, atMs: number): TokenDay | null {
    const seq = this.fold.store.checkpoint?.seq ?? 0;
    if (seq !== this.#seq || atMs !== this.#atMs || this.#days.size >= MOST_DAYS) {
      this.#days.clear();
    }
    this.#seq = seq;
    this.#atMs = atMs;
    const known = this.#days.get(asset);
    if (known !== undefined) return known;
    const day = TokenDay.of(this.fold, asset, atMs);
    this.#days.set(asset, day);
    return day;
  }
}

function rankingOf(
  days: SharedDays,
  field: SortField,
  side: 1 | -1,
  matches: ((day: TokenDay) => boolean) | null,
): Ranking {
  const { fold } = days;
  // A filter may ask for the volume of the longest one, and for nothing else of a window.
  const windows = WINDOWS.filter(
    (window) => field.endsWith(window) || (matches !== null && window === '24h'),
  );
  return new MinuteList<Ranked>(fold.tickers.changes, eachAsset(fold), {
    windows,
    compare: (a, b) => compareRanked(a, b, side),
    placeOf(asset, atMs) {
      const day = days.of(asset, atMs);
      if (day === null || matches?.(day) === false) return null;
      return { asset, value: SORT_VALUES[field](day) };
    },
  });
}

/** Of a list, in its order. */
export function pageOf(list: Ranking, offset: number, limit: number): readonly AssetId[] {
  const assets: AssetId[] = [];
  let skipped = 0;
  list.walk(({ asset }) => {
    if (skipped < offset) skipped += 1;
    else if (assets.length < limit) assets.push(asset);
    return assets.length < limit;
  });
  return assets;
}
