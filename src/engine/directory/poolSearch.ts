/**
 * Search by name, ticker and asset id: a literal piece of text, without regard to case.
 *
 * Which pools match is remembered for the latest patterns until a pool comes or goes; names never
 * change. Their order by market cap does, all the time, so a page is ordered when it is asked for:
 * few matches are sorted; of many, a walk from the nearer end of the market caps meets a page soon.
 */
import { LRUCache } from 'lru-cache';
import type { AssetId } from '../market/asset.ts';

interface Ranking<P> {
  compare(a: P, b: P): number;
  /** All pools in that order, until `visit` answers false. */
  walk(visit: (pool: P) => boolean): void;
  /** The same from the end. */
  walkUp(visit: (pool: P) => boolean): void;
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
    const size = Math.min(pools.length - offset, limit);
    const behind = pools.length - offset - size;
    let skip = Math.min(offset, behind);
    const visit = (pool: P) => {
      if ((ranks[pool.index] ?? NO_MATCH) !== rank) return true;
      if (skip > 0) skip -= 1;
      else page.push(pool);
      return page.length < size;
    };
    if (offset <= behind) this.#ranking.walk(visit);
    else this.#ranking.walkUp(visit);
    return offset <= behind ? page : page.reverse();
  }
}

function total(pools: readonly (readonly unknown[])[]): number {
  return pools.reduce((sum, { length }) => sum + length, 0);
}

/** The fields of a pool that the search reads, case folded; asset ids are in lower case. */
export interface SearchFields {
  readonly token: AssetId;
  readonly name: string;
  readonly ticker: string;
  /** Position in the index; valid until a pool is added or removed. */
  index: number;
}

/** Best of the three fields: 0 it is the pattern, 1 it begins with it, 2 it holds it. */
const NO_MATCH = 3;

const CHUNK = 512;
/** A part of an asset id can be nothing else. */
const OF_ASSET_ID = /^[0-9a-f.]*$/;

interface Chunk<P> {
  readonly pools: P[];
  /** Names, tickers, asset ids; null after a pool came or went. */
  fields: readonly Field[] | null;
}

/**
 * Joins the fields of some hundred pools into one text: scanning a long text costs a tenth of
 * scanning as many short ones scattered in memory.
 */
class SearchIndex<P extends SearchFields> {
  readonly #chunks: Chunk<P>[] = [];
  readonly #chunkOf = new Map<P, Chunk<P>>();

  add(pool: P): void {
    let chunk = this.#chunks.at(-1);
    if (chunk === undefined || chunk.pools.length >= CHUNK) {
      chunk = { pools: [], fields: null };
      this.#chunks.push(chunk);
    }
    chunk.pools.push(pool);
    chunk.fields = null;
    this.#chunkOf.set(pool, chunk);
  }

  remove(pool: P): void {
    const chunk = this.#chunkOf.get(pool);
    if (chunk === undefined) return;
    this.#chunkOf.delete(pool);
    chunk.pools.splice(chunk.pools.indexOf(pool), 1);
    chunk.fields = null;
  }

  /** The rank of every pool by its place; `found` hears of those that match. */
  ranksOf(pattern: string, found: (pool: P, rank: number) => void): Uint8Array {
    const ranks = new Uint8Array(this.#chunks.length * CHUNK).fill(NO_MATCH);
    const mayBeInIds = OF_ASSET_ID.test(pattern);
    for (const [index, chunk] of this.#chunks.entries()) {
      const from = index * CHUNK;
      chunk.fields ??= fieldsOf(chunk.pools, from);
      const own = ranks.subarray(from, from + CHUNK);
      const [names, tickers, ids] = chunk.fields;
      names?.rank(pattern, own);
      tickers?.rank(pattern, own);
      if (mayBeInIds) ids?.rank(pattern, own);
      for (const [at, pool] of chunk.pools.entries()) {
        const rank = own[at] ?? NO_MATCH;
        if (rank !== NO_MATCH) found(pool, rank);
      }
    }
    return ranks;
  }
}

function fieldsOf(pools: readonly SearchFields[], from: number): Field[] {
  for (const [index, pool] of pools.entries()) pool.index = from + index;
  return [
    new Field(pools.map(({ name }) => name)),
    new Field(pools.map(({ ticker }) => ticker)),
    new Field(pools.map(({ token }) => token)),
  ];
}

/** One field of many pools as one text. */
class Field {
  readonly #text: string;
  /** Where each begins, and where one more would. */
  readonly #starts: Uint32Array;

  constructor(texts: readonly string[]) {
    this.#text = texts.map((text) => `${text}\n`).join('');
    this.#starts = new Uint32Array(texts.length + 1);
    for (const [index, { length }] of texts.entries()) {
      this.#starts[index + 1] = (this.#starts[index] ?? 0) + length + 1;
    }
  }

  /** Lowers `ranks` where the pattern is found. */
  rank(pattern: string, ranks: Uint8Array): void {
    const text = this.#text;
    const starts = this.#starts;
    let index = 0;
    for (let at = text.indexOf(pattern); at >= 0; ) {
      while ((starts[index + 1] ?? text.length) <= at) index += 1;
      const start = starts[index] ?? 0;
      const next = starts[index + 1] ?? text.length;
      const length = next - 1 - start;
      const isWithin = at + pattern.length < next;
      if (isWithin) {
        const rank = at > start ? 2 : pattern.length < length ? 1 : 0;
        ranks[index] = Math.min(rank, ranks[index] ?? NO_MATCH);
      }
      at = text.indexOf(pattern, isWithin ? next : at + 1);
    }
  }
}
