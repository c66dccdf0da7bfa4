/** The open-order book as a stream: whole each time, the best levels of each side. */
import { LRUCache } from 'lru-cache';
import sortedBtree from 'sorted-btree';
import { ordersTag } from '../../engine/fold/streamTags.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { formatPrice } from '../../engine/market/decimal.ts';
import type { RefText } from '../../engine/market/events.ts';
import { minimumOutput } from '../../engine/market/order.ts';
import { spotOf } from '../../engine/market/pool.ts';
import { type Ratio, reduced } from '../../engine/market/ratio.ts';
import { type OrderRecord, poolState, readRecord } from '../../engine/store/records.ts';
import type { StateStore } from '../../engine/store/state.ts';
import type { DataOf, Part, Source } from '../topics/port.ts';
import type { OrderNode } from './orderLookup.ts';
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
    const data = this.snapshot();
    const gone = data === null ? ({ isSnapshot: true } as const) : {};
    return [{ event: 'OrderBookUpdate', seq: applied, data, ...gone }];
  }
}

function shown(levels: readonly Level[]): [string, string][] {
  return levels.map(({ price, tokens }) => [inAda(price), String(tokens)]);
}

function inAda({ numerator, denominator }: Ratio): string {
  return formatPrice(numerator, denominator);
}

interface Level {
  /** Lovelace per token, reduced. */
  readonly price: Ratio;
  readonly tokens: bigint;
}

interface Entry extends Level {
  readonly side: OrderRecord['side'];
}

interface Sum {
  tokens: bigint;
  orders: number;
}

/** More than a token has open, or changes, at once. */
const MANY = 1_000_000;

/**
 * Open orders of a token by worst price. Prices are exact fractions (lovelace per token), so that
 * equal ones share a level however they were written. Made from the rows once, then it follows what
 * the fold says has changed: a new order costs as much in a long book as in a short one.
 */
class OpenBook {
  readonly #store: StateStore;
  readonly #token: AssetId;
  readonly #orders = new Map<RefText, Entry>();
  readonly #sides = {
    buy: new sortedBtree.default<Ratio, Sum>(undefined, (a, b) => compare(b, a)),
    sell: new sortedBtree.default<Ratio, Sum>(undefined, compare),
  };
  #seq: number;

  constructor(store: StateStore, token: AssetId) {
    this.#store = store;
    this.#token = token;
    this.#seq = store.checkpoint?.seq ?? 0;
    const open = store.withPrefix('open_orders', `${token}/`, MANY);
    for (const { value: ref } of open) this.#update(ref);
  }

  get size(): number {
    return this.#orders.size;
  }

  /** What changed up to now; false: that cannot be told, a new one has to be made. */
  follow(store: StateStore): boolean {
    if (store !== this.#store || this.#seq < store.horizonSeq) return false;
    const applied = store.checkpoint?.seq ?? 0;
    if (applied === this.#seq) return true;
    const touches = store.changedSince(ordersTag(this.#token), this.#seq, MANY);
    for (const { ref } of touches) this.#update(ref);
    this.#seq = applied;
    return true;
  }

  /** At most so many, the best first: the highest bids, the lowest asks. */
  levels(side: OrderRecord['side'], most: number): Level[] {
    const levels: Level[] = [];
    for (const [price, { tokens }] of this.#sides[side].entries()) {
      if (levels.length === most) break;
      levels.push({ price, tokens });
    }
    return levels;
  }

  #update(ref: RefText): void {
    const before = this.#orders.get(ref);
    const after = this.#read(ref);
    if (before !== undefined) this.#add(before, -1);
    if (after === null) this.#orders.delete(ref);
    else {
      this.#orders.set(ref, after);
      this.#add(after, 1);
    }
  }

  #read(ref: RefText): Entry | null {
    const text = this.#store.get('orders', ref);
    const order = text === null ? null : readRecord<OrderRecord>(text);
    if (order?.state !== 'open') return null;
    const { side } = order;
    const { amount } = order.rest ?? order;
    const worst = {
      numerator: BigInt(order.worstPrice.numerator),
      denominator: BigInt(order.worstPrice.denominator),
    };
    // It takes any price: it has none of its own, so no level of the book is its.
    if (worst.numerator === 0n) return null;
    return side === 'buy'
      ? {
          side,
          price: reduced(worst.denominator, worst.numerator),
          tokens: minimumOutput(BigInt(amount), worst),
        }
      : { side, price: reduced(worst.numerator, worst.denominator), tokens: BigInt(amount) };
  }

  #add({ side, price, tokens }: Entry, by: 1 | -1): void {
    const levels = this.#sides[side];
    const sum = levels.get(price) ?? { tokens: 0n, orders: 0 };
    sum.tokens += BigInt(by) * tokens;
    sum.orders += by;
    if (sum.orders === 0) levels.delete(price);
    else levels.set(price, sum);
  }
}

function compare(a: Ratio, b: Ratio): number {
  const [left, right] = [a.numerator * b.denominator, b.numerator * a.denominator];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
