/**
 * The pools of the market in five sorted lists, by market cap and by search. It sorts their actors,
 * which hold the rows. A changed row of table `pools` moves one pool, so the cost depends on what
 * changed.
 *
 * Assumes: `set` and `markChanged` come in the order of the entries, rollbacks included.
 * Never:   sorts a list.
 */

import sortedBtree from 'sorted-btree';
import type { AssetId } from '../market/asset.ts';
import { type ListRank, POOL_LISTS, type PoolList, rankOn } from '../market/poolView.ts';
import type { ListedPool } from '../pools/listedPool.ts';
import type { PoolActor } from '../pools/poolActor.ts';
import type { PoolActors } from '../pools/poolActors.ts';
import { assert } from '../runtime/assert.ts';
import { ChangeLog } from '../store/changeLog.ts';
import type { RowValue } from '../store/rows.ts';
import { type AuthorCounts, Authors } from './authors.ts';
import { foldCase, type SearchFields, searchPools } from './poolSearch.ts';

/** The orders of pools: the lists, and all pools by market cap. */
const ORDERS = [...POOL_LISTS, 'all'] as const;
type Order = (typeof ORDERS)[number];

interface Row extends SearchFields {
  readonly actor: PoolActor;
  readonly places: Record<Order, RankedPool<Row> | null>;
}

export class PoolDirectory {
  readonly #actors: PoolActors;
  readonly #rows = new Map<AssetId, Row>();
  readonly #orders: Readonly<Record<Order, RankedPools<Row>>> = perOrder(() => new RankedPools());
  readonly #authors = new Authors();
  readonly #changes: ChangeLog;
  #topSeq: number;

  /** `rows` of table `pools`, as they are after entry `seq`: later than that, none has changed. */
  constructor(
    actors: PoolActors,
    rows: Iterable<{ readonly key: string; readonly value: string }>,
    seq: number,
  ) {
    this.#actors = actors;
    this.#changes = new ChangeLog(seq);
    this.#topSeq = seq;
    for (const { key, value } of rows) {
      const actor = actors.open(key);
      actor.setRow(value, seq);
      this.#put(actor);
      this.#authors.change(null, listedOf(actor).pool, seq);
    }
  }

  get size(): number {
    return this.#rows.size;
  }

  /** The top pool or what clients see of it last changed with this entry, or before it. */
  get topSeq(): number {
    return this.#topSeq;
  }

  /** The row of a token as it is after entry `seq`; null: a rollback took it away. */
  set(token: AssetId, row: RowValue | null, seq: number): void {
    const actor = this.#actors.open(token);
    const before = actor.listed;
    if (actor.setRow(row, seq)) {
      this.#authors.change(before?.pool ?? null, actor.listed?.pool ?? null, seq);
      this.#change(token, seq, () => (row === null ? this.#drop(token) : this.#put(actor)));
    }
    if (row === null) this.#actors.closeEmpty(actor);
  }

  /** Clients see a change (a lock) that is not in its row. */
  markChanged(token: AssetId, seq: number): void {
    const actor = this.#rows.get(token)?.actor;
    if (actor !== undefined) this.#change(token, seq, () => actor.markChanged(seq));
  }

  /** All tokens, in no order. */
  tokens(): Iterable<AssetId> {
    return this.#rows.keys();
  }

  /**
   * It is not there, and may have been there after entry `seq`: a rollback that removes a pool
   * leaves no trace of it. False only if it surely was not.
   */
  mayBeGone(token: AssetId, seq: number, appliedSeq: number): boolean {
    return this.find(token) === null && this.changedBetween(seq, appliedSeq);
  }

  find(token: AssetId): ListedPool | null {
    return this.#actors.of(token)?.listed ?? null;
  }

  /** Launches of the author with this payment key; null: none. */
  author(pkh: string): AuthorCounts | null {
    return this.#authors.of(pkh);
  }

  /** The first `limit` of a list, in its order. */
  page(list: PoolList, limit: number): readonly ListedPool[] {
    const pools: ListedPool[] = [];
    if (limit < 1) return pools;
    this.#orders[list].walk(({ actor }) => pools.push(listedOf(actor)) < limit);
    return pools;
  }

  /** Launched in a second that begins in [fromMs, toMs]. */
  launchedBetween(fromMs: number, toMs: number): AssetId[] {
    return this.#orders.New.between(Math.ceil(fromMs / 1000), Math.floor(toMs / 1000));
  }

  /** In the order of a list, or `all` of them by market cap, until `visit` answers false. */
  walk(order: Order, visit: (listed: ListedPool) => boolean): void {
    this.#orders[order].walk(({ actor }) => visit(listedOf(actor)));
  }

  /** Highest market cap, ties by asset id, graduated included. */
  top(): ListedPool | null {
    return this.#orders.all.first()?.actor.listed ?? null;
  }

  /** See `searchPools`. `count`: of all; `items`: at most `limit`, the first `offset` left out. */
  search(
    pattern: string,
    offset: number,
    limit: number,
  ): { readonly count: number; readonly items: readonly ListedPool[] } {
    const found = searchPools<Row>(pattern, (visit) => this.#orders.all.walk(visit));
    const items = found.slice(offset, offset + limit).map(({ actor }) => listedOf(actor));
    return { count: found.length, items };
  }

  /**
   * Whether the shown content of a list may have changed in (fromSeq, toSeq]; false only if surely
   * not.
   */
  changedBetween(fromSeq: number, toSeq: number): boolean {
    return this.#changes.between(fromSeq, toSeq);
  }

  #change(token: AssetId, seq: number, change: () => void): void {
    const before = this.#orders.all.first();
    change();
    const top = this.#orders.all.first();
    if (top !== before || top?.token === token) this.#topSeq = seq;
    this.#changes.add(seq);
  }

  #put(actor: PoolActor): void {
    const known = this.#rows.get(actor.base);
    const row = known ?? rowOf(actor);
    for (const order of ORDERS) this.#move(row, order, rankIn(order, listedOf(actor)));
    if (known === undefined) this.#rows.set(actor.base, row);
  }

  #drop(token: AssetId): void {
    const row = this.#rows.get(token);
    if (row === undefined) return;
    for (const order of ORDERS) this.#move(row, order, null);
    this.#rows.delete(token);
  }

  #move(row: Row, order: Order, rank: ListRank): void {
    const place = row.places[order];
    if (rank === (place?.rank ?? null)) return;
    const tree = this.#orders[order];
    if (place !== null) tree.remove(place);
    const next = rank === null ? null : { rank, token: row.token, of: row };
    if (next !== null) tree.add(next);
    row.places[order] = next;
  }
}

function rowOf(actor: PoolActor): Row {
  const { name, ticker } = listedOf(actor).pool;
  const texts = { token: actor.base, name: foldCase(name), ticker: foldCase(ticker) };
  return { ...texts, actor, places: perOrder(() => null) };
}

function listedOf({ listed, base }: PoolActor): ListedPool {
  assert(listed !== null, `${base} is in lists`);
  return listed;
}

function rankIn(order: Order, { pool, marketCapLovelace }: ListedPool): ListRank {
  return order === 'all' ? marketCapLovelace : rankOn(order, pool, marketCapLovelace);
}

function perOrder<T>(make: () => T): Record<Order, T> {
  return {
    New: make(),
    Latest: make(),
    CompletedCreateOn: make(),
    CompletedMCap: make(),
    MCapDesc: make(),
    all: make(),
  };
}

/** The package is CommonJS: its default export is a field here. */
const BTree = sortedBtree.default;

/** A pool's position in a list. Immutable: a pool that moves gets another one. */
interface RankedPool<P> {
  readonly rank: number | bigint;
  readonly token: AssetId;
  readonly of: P;
}

/** Keys of a node: of 16 to 256, this number moved pools fastest. */
const NODE_KEYS = 64;
const STOP = { break: true };

/**
 * One list of pools, kept in order: the larger rank first, ties by asset id. The list is a B+ tree,
 * so that moving one of 100,000 pools takes about a microsecond and a page is read without sorting.
 */
class RankedPools<P> {
  readonly #tree = new BTree<RankedPool<P | null>, undefined>(undefined, compare, NODE_KEYS);

  get size(): number {
    return this.#tree.size;
  }

  add(place: RankedPool<P>): void {
    this.#tree.set(place, undefined);
  }

  remove(place: RankedPool<P>): void {
    this.#tree.delete(place);
  }

  first(): P | null {
    return this.#tree.minKey()?.of ?? null;
  }

  /** With a rank from `least` to `most`, both included. */
  between(least: number, most: number): AssetId[] {
    const tokens: AssetId[] = [];
    // No asset id comes before the empty one.
    const before = (rank: number) => ({ rank, token: '', of: null });
    this.#tree.forRange(before(most), before(least - 1), false, ({ token }) => {
      tokens.push(token);
    });
    return tokens;
  }

  /** From the first on, until `visit` answers false. */
  walk(visit: (of: P) => boolean): void {
    this.#tree.forEachPair(({ of }) => (of === null || visit(of) ? undefined : STOP));
  }
}

/** Ranks of one list are all numbers or all bigints. */
function compare(a: RankedPool<unknown>, b: RankedPool<unknown>): number {
  if (a.rank !== b.rank) return a.rank > b.rank ? -1 : 1;
  if (a.token === b.token) return 0;
  return a.token < b.token ? -1 : 1;
}
