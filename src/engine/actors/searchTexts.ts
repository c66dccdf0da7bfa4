/**
 * The texts that a search looks through, some hundred pools in one: looking through a long text
 * costs a tenth of looking through as many short ones that lie all over the memory.
 */
import type { AssetId } from '../market/asset.ts';

/** What is looked at, case folded (asset ids are in lower case already). */
export interface SearchFields {
  readonly token: AssetId;
  readonly name: string;
  readonly ticker: string;
  /** Place in the texts; valid until a pool comes or goes. */
  index: number;
}

/** Best of the three fields: 0 it is the pattern, 1 it begins with it, 2 it holds it. */
export const NO_MATCH = 3;

const CHUNK = 512;
/** A part of an asset id can be nothing else. */
const OF_ASSET_ID = /^[0-9a-f.]*$/;

interface Chunk<P> {
  readonly pools: P[];
  /** Names, tickers, asset ids; null after a pool came or went. */
  fields: readonly Field[] | null;
}

export class SearchIndex<P extends SearchFields> {
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
