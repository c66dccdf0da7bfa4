/** The open-order book as a stream: whole each time, the best levels of each side. */
import { LRUCache } from 'lru-cache';
import type { AssetId } from '../../engine/market/asset.ts';
import { formatPrice } from '../../engine/market/decimal.ts';
import { spotOf } from '../../engine/market/pool.ts';
import type { Ratio } from '../../engine/market/ratio.ts';
import { poolState } from '../../engine/store/records.ts';
import type { StateStore } from '../../engine/store/state.ts';
import type { DataOf, Part, Source } from '../topics/port.ts';
import type { OrderNode } from './market.ts';
import { type Level, OpenBook } from './openBook.ts';
import type { OrderBookOutput } from './schema.ts';

const MOST_LEVELS = 100;
/** Orders in all books that are kept; those read least recently are rebuilt. */
const MOST_KEPT = 1_000_000;

type BookData = DataOf<typeof OrderBookOutput>;
type BookPart = Part<'OrderBookUpdate', BookData>;

/** One book for each token, shared by all callers. */
export class Books {
  readonly #node: OrderNode;
  /** Of the epoch; a new one has another. */
  #store: StateStore | null = null;
  readonly #kept = new LRUCache<AssetId, OpenBook>({
    maxSize: MOST_KEPT,
    sizeCalculation: ({ size }) => size + 1,
  });

  constructor(node: OrderNode) {
    this.#node = node;
  }

  /** null for a token that we do not know. */
  of(token: AssetId): BookData {
    const { store, directory } = this.#node.fold;
    const listed = directory.find(token);
    if (listed === null) return null;
    const book = this.#book(store, token);
    return {
      bids: shown(book.levels('buy', MOST_LEVELS)),
      asks: shown(book.levels('sell', MOST_LEVELS)),
      spot: inAda(spotOf(poolState(listed.pool))),
    };
  }

  #book(store: StateStore, token: AssetId): OpenBook {
    if (store !== this.#store) this.#kept.clear();
    this.#store = store;
    const kept = this.#kept.get(token);
    if (kept?.follow(store) === true) return kept;
    const book = new OpenBook(store, token);
    this.#kept.set(token, book);
    return book;
  }
}

export class BookSource implements Source<BookData, BookPart> {
  readonly key: string;
  readonly tags: readonly string[];
  readonly #node: OrderNode;
  readonly #books: Books;
  readonly #token: AssetId;

  constructor(node: OrderNode, books: Books, token: AssetId, tags: readonly string[]) {
    this.key = `OrderBook:${token}`;
    this.tags = tags;
    this.#node = node;
    this.#books = books;
    this.#token = token;
  }

  snapshot(): BookData {
    return this.#books.of(this.#token);
  }

  /** The whole book is a recovery too. */
  since(seq: number): BookPart[] | null {
    const { store } = this.#node.fold;
    if (seq < store.horizonSeq) return null;
    const applied = store.checkpoint?.seq ?? 0;
    if (seq >= applied) return [];
    return [{ event: 'OrderBookUpdate', seq: applied, data: this.snapshot() }];
  }
}

function shown(levels: readonly Level[]): [string, string][] {
  return levels.map(({ price, tokens }) => [inAda(price), String(tokens)]);
}

function inAda({ numerator, denominator }: Ratio): string {
  return formatPrice(numerator, denominator);
}
