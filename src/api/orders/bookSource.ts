/**
 * The order book as a stream: a whole book each time, or changes of the book that was sent before.
 *
 * A book is a function of the applied position. For changes the newest books that were sent are
 * remembered, each at its position; if the subscriber's book is not among them, the answer is the
 * whole book.
 */
import { LRUCache } from 'lru-cache';
import type { AssetId } from '../../engine/market/asset.ts';
import type { DepthDigits } from '../../engine/market/depth.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { DataOf, Part, Source } from '../topics/port.ts';
import type { Books } from './book.ts';
import type { OrderNode } from './orderLookup.ts';
import { type Book, type BookChanges, MAX_LEVELS, type OrderBookOutput } from './schema.ts';

type BookData = DataOf<typeof OrderBookOutput>;
type BookPart = Part<'OrderBookUpdate', BookData>;

/** Limit for one token, because a slower subscriber asks for changes since some time ago. */
const MAX_SENT = 16;
/**
 * Most remembered books of all tokens, some 30 KB each; a subscriber whose book is forgotten gets a
 * whole one.
 */
const MAX_BOOKS = 2_000;

interface Sent {
  readonly seq: number;
  readonly book: Book;
}

/** Books as they were sent, oldest first, by token and digits. */
export class SentBooks {
  readonly #sent = new LRUCache<string, readonly Sent[]>({
    maxSize: MAX_BOOKS,
    sizeCalculation: ({ length }) => length,
  });

  add(name: string, sent: Sent): void {
    const list = this.#sent.get(name) ?? [];
    if (list.at(-1)?.seq === sent.seq) return;
    this.#sent.set(name, [...list.slice(1 - MAX_SENT), sent]);
  }

  /** The newest book that was sent up to `seq`. */
  upTo(name: string, seq: number): Book | null {
    return this.#sent.get(name)?.findLast((sent) => sent.seq <= seq)?.book ?? null;
  }

  clear(): void {
    this.#sent.clear();
  }
}

interface BookTerms {
  readonly token: AssetId;
  readonly digits: DepthDigits;
  readonly mode: 'snapshot' | 'changes';
}

export class BookSource implements Source<BookData, BookPart> {
  readonly key: string;
  readonly tags: readonly string[];
  /** A subscription always begins with a whole book, even with `since`. */
  readonly beginsWhole = true;
  readonly #node: OrderNode;
  readonly #books: Books;
  readonly #sent: SentBooks;
  readonly #terms: BookTerms;
  readonly #name: string;

  constructor(
    node: OrderNode,
    { books, sent }: { readonly books: Books; readonly sent: SentBooks },
    terms: BookTerms,
    tags: readonly string[],
  ) {
    const { token, digits, mode } = terms;
    this.#name = `${token}:${digits}`;
    this.key = `OrderBook:${this.#name}:${mode}`;
    this.tags = tags;
    this.#node = node;
    this.#books = books;
    this.#sent = sent;
    this.#terms = terms;
  }

  snapshot(): BookData | Failure {
    const book = this.#books.of(this.#terms.token, this.#terms.digits, MAX_LEVELS);
    const seq = this.#node.fold.store.checkpoint?.seq ?? 0;
    if (this.#terms.mode === 'changes' && book !== null && !(book instanceof Failure)) {
      this.#sent.add(this.#name, { seq, book });
    }
    return book;
  }

  since(seq: number): BookPart[] | null | Failure {
    const { store } = this.#node.fold;
    if (seq < store.horizonSeq) return null;
    const applied = store.checkpoint?.seq ?? 0;
    if (seq >= applied) return [];
    const before = this.#terms.mode === 'changes' ? this.#sent.upTo(this.#name, seq) : null;
    const data = this.snapshot();
    if (data instanceof Failure) return data;
    const event = 'OrderBookUpdate' as const;
    const whole: BookPart = { event, seq: applied, data, isSnapshot: true };
    if (this.#terms.mode === 'snapshot' || data === null) {
      return [data === null ? whole : { event, seq: applied, data }];
    }
    const now = this.#sent.upTo(this.#name, applied);
    if (before === null || now === null) return [whole];
    const changes = changesOf(before, now);
    if (changes === null) return [];
    const isSmaller = JSON.stringify(changes).length < JSON.stringify(now).length;
    return [isSmaller ? { event, seq: applied, data: changes } : whole];
  }
}

/** null: nothing has changed. */
function changesOf(before: Book, now: Book): BookChanges | null {
  const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  const changes = {
    bids: changedLevels(before.bids, now.bids),
    asks: changedLevels(before.asks, now.asks),
    ...(isSame(before.limits, now.limits) ? {} : { limits: now.limits }),
    ...(isSame(before.pending, now.pending) ? {} : { pending: now.pending }),
  };
  const isNothing =
    Object.keys(changes).length === 2 && changes.bids.length + changes.asks.length === 0;
  if (isNothing && before.pool === now.pool) return null;
  const { asset, pool, spot, checksum } = now;
  return { asset, pool, spot, ...changes, checksum };
}

/** In the order of the side; what left it has the amount 0. */
function changedLevels(before: Book['bids'], now: Book['bids']) {
  const amounts = new Map(before.map(({ price, amount }) => [price, amount]));
  const changed = now
    .filter(({ price, amount }) => amounts.get(price) !== amount)
    .map(({ price, amount }) => ({ price, amount }));
  for (const { price } of now) amounts.delete(price);
  const gone = [...amounts.keys()].map((price) => ({ price, amount: '0' }));
  return [...gone, ...changed];
}
