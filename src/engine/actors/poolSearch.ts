/**
 * Search by name, ticker and asset id: a literal piece of text, without regard to case.
 *
 * Which pools match is remembered for the latest patterns until a pool comes or goes; names never
 * change. Their order by market cap does, all the time, so a page is ordered when it is asked for:
 * few matches are sorted; of many, a walk down the market caps meets a page's worth soon.
 */
import { LRUCache } from 'lru-cache';
import { NO_MATCH, type SearchFields, SearchIndex } from './searchTexts.ts';

export interface Ranking<P> {
  compare(a: P, b: P): number;
  /** All pools in that order, until `visit` answers false. */
  walk(visit: (pool: P) => boolean): void;
}

interface Matches<P> {
  /** By the place of a pool in the texts. */
  readonly ranks: Uint8Array;
  /** By rank: equal, prefix, inside. */
  readonly pools: readonly [P[], P[], P[]];
}

const REMEMBERED_BYTES = 16 * 1_048_576;
const POINTER_BYTES = 8;
/** Sorting more than that costs more than walking. */
const MOST_SORTED = 1_000;

/**
 * Texts that are equal but for case become equal, in any locale. Equal letters in different Unicode
 * forms are equal too; a Greek sigma is one letter, wherever in the word it stands.
 */
export function foldCase(text: string): string {
  return text.normalize('NFC').toLowerCase().replaceAll('ς', 'σ');
}

export class PoolSearch<P extends SearchFields> {
  readonly #ranking: Ranking<P>;
  readonly #texts = new SearchIndex<P>();
  readonly #remembered = new LRUCache<string, Matches<P>>({
    maxSize: REMEMBERED_BYTES,
    sizeCalculation: ({ ranks, pools }, pattern) =>
      pattern.length + ranks.length + POINTER_BYTES * total(pools),
  });

  constructor(ranking: Ranking<P>) {
    this.#ranking = ranking;
  }

  add(pool: P): void {
    this.#texts.add(pool);
    this.#remembered.clear();
  }

  remove(pool: P): void {
    this.#texts.remove(pool);
    this.#remembered.clear();
  }

  /** `count`: of all matches; `items`: at most `limit` of them, the first `offset` left out. */
  find(text: string, offset: number, limit: number): { count: number; items: P[] } {
    const pattern = foldCase(text);
    const matches = this.#remembered.get(pattern) ?? this.#match(pattern);
    const items: P[] = [];
    let skip = offset;
    for (const [rank, { length }] of matches.pools.entries()) {
      if (skip < length && items.length < limit) {
        items.push(...this.#take(matches, rank, skip, limit - items.length));
      }
      skip = Math.max(0, skip - length);
    }
    return { count: total(matches.pools), items };
  }

  #match(pattern: string): Matches<P> {
    const pools: Matches<P>['pools'] = [[], [], []];
    const ranks = this.#texts.ranksOf(pattern, (pool, rank) => pools[rank]?.push(pool));
    const matches = { ranks, pools };
    this.#remembered.set(pattern, matches);
    return matches;
  }

  /** Of the pools that match in this way, a page by market cap. */
  #take(matches: Matches<P>, rank: number, offset: number, limit: number): readonly P[] {
    const { ranks } = matches;
    const pools = matches.pools[rank] ?? [];
    if (pools.length <= MOST_SORTED) {
      return pools.toSorted(this.#ranking.compare).slice(offset, offset + limit);
    }
    const page: P[] = [];
    const last = Math.min(pools.length - offset, limit);
    let skip = offset;
    this.#ranking.walk((pool) => {
      if ((ranks[pool.index] ?? NO_MATCH) !== rank) return true;
      if (skip > 0) skip -= 1;
      else page.push(pool);
      return page.length < last;
    });
    return page;
  }
}

function total(pools: readonly (readonly unknown[])[]): number {
  return pools.reduce((sum, { length }) => sum + length, 0);
}
