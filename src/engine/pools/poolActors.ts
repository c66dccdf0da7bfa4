/**
 * All actors, found by token, by pair or by the id of a pair. A rollback opens and closes some.
 */
import { type AssetId, COIN } from '../market/asset.ts';
import { MARKET_CAP, type Pair } from '../market/pair.ts';
import { type OrderRecord, readRecord } from '../store/records.ts';
import { type RowChange, type RowValue, recordOf } from '../store/rows.ts';
import type { StateStore } from '../store/state.ts';
import { PoolActor, type PoolPair } from './poolActor.ts';

/** Open orders and levels of depth in memory; books read least recently are made again. */
const MAX_BOOK_ROWS = 1_000_000;

interface PairOwner {
  readonly actor: PoolActor;
  readonly quote: AssetId;
}

export class PoolActors {
  readonly #store: StateStore;
  /** By quote of the price, then by base. */
  readonly #byQuote = new Map<AssetId, Map<AssetId, PoolActor>>();
  readonly #byPair = new Map<number, PairOwner>();
  /** Actors whose book is in memory, the one read least recently first. */
  readonly #books = new Set<PoolActor>();
  readonly #maxBookRows: number;
  #bookRows = 0;

  /** Everything must be committed. `PoolDirectory` adds the pools. */
  constructor(store: StateStore, maxBookRows = MAX_BOOK_ROWS) {
    this.#store = store;
    this.#maxBookRows = maxBookRows;
    for (const { value } of store.all('pairs')) this.openPair(readRecord<Pair>(value));
  }

  /** The pool of a token, or a feed's pair against the coin. */
  of(token: AssetId): PoolActor | null {
    return this.#byQuote.get(COIN)?.get(token) ?? null;
  }

  /** Actors that have a price in the coin, or a pool. */
  all(): Iterable<PoolActor> {
    return this.#byQuote.get(COIN)?.values() ?? [];
  }

  pair(base: AssetId, quote: AssetId): PoolPair | null {
    return this.#find(base, quote)?.pair(quote) ?? null;
  }

  /** `name`: `base_quote`. */
  named(name: string): PoolPair | null {
    const [base, quote] = assetsOf(name);
    return this.pair(base, quote);
  }

  /** The actor whose price or market cap this pair is, and which of them. */
  ofPair(id: number): PairOwner | null {
    return this.#byPair.get(id) ?? null;
  }

  pairOf(id: number): PoolPair | null {
    const owner = this.#byPair.get(id);
    return owner === undefined ? null : owner.actor.pair(owner.quote);
  }

  open(base: AssetId, quote: AssetId = COIN): PoolActor {
    const known = this.#find(base, quote);
    if (known !== null) return known;
    const priceQuote = priceOf(quote);
    const actor = new PoolActor(this.#store, base, priceQuote);
    const ofQuote = this.#byQuote.get(priceQuote);
    if (ofQuote === undefined) this.#byQuote.set(priceQuote, new Map([[base, actor]]));
    else ofQuote.set(base, actor);
    return actor;
  }

  openPair(pair: Pair): PoolPair {
    const actor = this.open(pair.base, pair.quote);
    this.#byPair.set(pair.id, { actor, quote: pair.quote });
    return actor.openPair(pair);
  }

  /** A rollback put the row of a pair back, or took it away. */
  restorePair(name: string, row: RowValue | null): void {
    const [base, quote] = assetsOf(name);
    const actor = this.#find(base, quote);
    const before = actor?.pair(quote) ?? null;
    if (before !== null) this.#byPair.delete(before.pair.id);
    actor?.closePair(quote);
    if (row !== null) this.openPair(recordOf<Pair>(row));
    else if (actor !== null) this.closeEmpty(actor);
  }

  /** Forgets an actor that has neither pairs nor a pool any more. */
  closeEmpty(actor: PoolActor): void {
    if (!actor.isEmpty) return;
    this.#forgetBook(actor);
    this.#byQuote.get(actor.quote)?.delete(actor.base);
  }

  /** Reads the book of a pool, which stays in memory while others are read less recently. */
  readBook<T>(actor: PoolActor, read: (actor: PoolActor) => T): T {
    this.#books.delete(actor);
    this.#books.add(actor);
    const answer = this.#counting(actor, () => read(actor));
    this.#evictBooks();
    return answer;
  }

  /** Rows of orders that an entry or a rollback changed, as they are now. */
  ordersChanged(changes: readonly RowChange[]): void {
    if (this.#books.size === 0) return;
    for (const { table, key, before, after } of changes) {
      const row = table === 'orders' ? (after ?? before) : null;
      const actor = row === null ? null : this.of(recordOf<OrderRecord>(row).token);
      if (actor !== null) this.#counting(actor, () => actor.orderChanged(key));
    }
    this.#evictBooks();
  }

  #counting<T>(actor: PoolActor, work: () => T): T {
    const before = actor.bookRows;
    const answer = work();
    this.#bookRows += actor.bookRows - before;
    return answer;
  }

  #evictBooks(): void {
    for (const actor of this.#books) {
      if (this.#bookRows <= this.#maxBookRows) return;
      this.#forgetBook(actor);
    }
  }

  #forgetBook(actor: PoolActor): void {
    this.#books.delete(actor);
    this.#counting(actor, () => actor.forgetBook());
  }

  #find(base: AssetId, quote: AssetId): PoolActor | null {
    return this.#byQuote.get(priceOf(quote))?.get(base) ?? null;
  }
}

/** A market cap belongs to the actor of the price in the coin. */
function priceOf(quote: AssetId): AssetId {
  return quote === MARKET_CAP ? COIN : quote;
}

function assetsOf(name: string): readonly [base: AssetId, quote: AssetId] {
  const index = name.indexOf('_');
  return [name.slice(0, index), name.slice(index + 1)];
}
