/**
 * The pools of the market, found by token, in five sorted lists, by market cap and by search. Kept
 * in step with the rows of table `pools` row by row: what it costs depends on what changed.
 *
 * Assumes: `set` and `markChanged` come in the order of the entries, rollbacks included.
 * Never:   sorts a list.
 */

import { LRUCache } from 'lru-cache';
import sortedBtree from 'sorted-btree';
import type { AssetId } from '../market/asset.ts';
import { marketCapOf } from '../market/pool.ts';
import { type ListRank, POOL_LISTS, type PoolList, rankOn } from '../market/poolView.ts';
import { ChangeLog } from '../store/changeLog.ts';
import { type PoolRecord, poolState } from '../store/records.ts';
import { type RowValue, recordOf } from '../store/rows.ts';
import { type AuthorCounts, Authors } from './authors.ts';
import { foldCase, PoolSearch, type SearchFields } from './poolSearch.ts';

/** A pool as it is from one change to the next; another change makes another object. */
export interface ListedPool {
  readonly pool: PoolRecord;
  readonly marketCapLovelace: bigint;
  /** Entry that last changed what clients see of it (its row or its locks), or a later one. */
  readonly changedSeq: number;
  /** The same, and who holds it. */
  readonly trustSeq: number;
}

/** What pools are ordered by: the lists, and all of them by market cap. */
const ORDERS = [...POOL_LISTS, 'all'] as const;
type Order = (typeof ORDERS)[number];

interface Row extends SearchFields {
  listed: ListedRow;
  readonly places: Record<Order, RankedPool<Row> | null>;
}

export class PoolDirectory {
  readonly #slots = new Map<AssetId, Row>();
  readonly #orders: Readonly<Record<Order, RankedPools<Row>>> = perOrder(() => new RankedPools());
  readonly #search: PoolSearch<Row>;
  readonly #authors = new Authors();
  readonly #changes: ChangeLog;
  #topSeq: number;

  /** `rows` of table `pools`, as they are after entry `seq`: later than that, none has changed. */
  constructor(rows: Iterable<{ readonly key: string; readonly value: string }>, seq: number) {
    this.#search = new PoolSearch({
      compare: byMarketCap,
      walk: (visit) => this.#orders.all.walk(visit),
      walkUp: (visit) => this.#orders.all.walkUp(visit),
    });
    this.#changes = new ChangeLog(seq);
    this.#topSeq = seq;
    for (const { key, value } of rows) {
      const listed = new ListedRow(value, seq);
      this.#put(key, listed);
      this.#authors.change(null, listed.pool, seq);
    }
  }

  get size(): number {
    return this.#slots.size;
  }

  /** The top pool or what clients see of it last changed with this entry, or before it. */
  get topSeq(): number {
    return this.#topSeq;
  }

  /** The row of a token as it is after entry `seq`; null: a rollback took it away. */
  set(token: AssetId, row: RowValue | null, seq: number): void {
    const slot = this.#slots.get(token);
    if (row === (slot?.listed.row ?? null)) return;
    const listed = row === null ? null : new ListedRow(row, seq);
    if (slot !== undefined && listed !== null && isSameToLists(slot.listed.pool, listed.pool)) {
      slot.listed = slot.listed.with(listed.row, seq);
      return;
    }
    this.#authors.change(slot?.listed.pool ?? null, listed?.pool ?? null, seq);
    this.#change(token, seq, () => {
      if (listed !== null) this.#put(token, listed);
      else if (slot !== undefined) this.#drop(slot);
    });
  }

  /** What clients see of it changed though its row did not (a lock). */
  markChanged(token: AssetId, seq: number): void {
    const slot = this.#slots.get(token);
    if (slot === undefined) return;
    this.#change(token, seq, () => {
      slot.listed = slot.listed.at(seq);
    });
  }

  /** All of them, in no order. */
  tokens(): Iterable<AssetId> {
    return this.#slots.keys();
  }

  /**
   * It is not there, and may have been there after entry `seq`: what a rollback takes away leaves
   * nothing behind. False only if it surely was not.
   */
  mayBeGone(token: AssetId, seq: number, appliedSeq: number): boolean {
    return this.find(token) === null && this.changedBetween(seq, appliedSeq);
  }

  find(token: AssetId): ListedPool | null {
    return this.#slots.get(token)?.listed ?? null;
  }

  /** What the author with this payment key launched; null: nothing. */
  author(pkh: string): AuthorCounts | null {
    return this.#authors.of(pkh);
  }

  /** The first `limit` of a list, in its order. */
  page(list: PoolList, limit: number): readonly ListedPool[] {
    const pools: ListedPool[] = [];
    if (limit < 1) return pools;
    this.#orders[list].walk(({ listed }) => pools.push(listed) < limit);
    return pools;
  }

  /** Launched in a second that begins in [fromMs, toMs]. */
  launchedBetween(fromMs: number, toMs: number): AssetId[] {
    return this.#orders.New.between(Math.ceil(fromMs / 1000), Math.floor(toMs / 1000));
  }

  /** In the order of a list, or `all` of them by market cap, until `visit` answers false. */
  walk(order: Order, visit: (listed: ListedPool) => boolean): void {
    this.#orders[order].walk(({ listed }) => visit(listed));
  }

  /** Highest market cap, ties by asset id, graduated included. */
  top(): ListedPool | null {
    return this.#orders.all.first()?.listed ?? null;
  }

  /** As PoolSearch says. */
  search(
    pattern: string,
    offset: number,
    limit: number,
  ): { readonly count: number; readonly items: readonly ListedPool[] } {
    const { count, items } = this.#search.find(pattern, offset, limit);
    return { count, items: items.map(({ listed }) => listed) };
  }

  /** Whether what a list shows may have changed in (fromSeq, toSeq]; false only if surely not. */
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

  #put(token: AssetId, listed: ListedRow): void {
    const known = this.#slots.get(token);
    const slot = known ?? newSlot(token, listed);
    slot.listed = listed;
    for (const order of ORDERS) this.#move(slot, order, listed.rankOn(order));
    if (known !== undefined) return;
    this.#slots.set(token, slot);
    this.#search.add(slot);
  }

  #drop(slot: Row): void {
    for (const order of ORDERS) this.#move(slot, order, null);
    this.#slots.delete(slot.token);
    this.#search.remove(slot);
  }

  #move(slot: Row, order: Order, rank: ListRank): void {
    const place = slot.places[order];
    if (rank === (place?.rank ?? null)) return;
    const tree = this.#orders[order];
    if (place !== null) tree.remove(place);
    const next = rank === null ? null : { rank, token: slot.token, of: slot };
    if (next !== null) tree.add(next);
    slot.places[order] = next;
  }
}

/** What a text says takes as much memory again, and most pools are seldom looked at. */
const PARSED = 2_000;
const parsed = new LRUCache<ListedRow, PoolRecord>({ max: PARSED });

/** Who holds a token is on no list; it changes with each transfer. */
function isSameToLists(before: PoolRecord, after: PoolRecord): boolean {
  const shown = (pool: PoolRecord) => JSON.stringify({ ...pool, trust: null });
  return before.ref === after.ref && shown(before) === shown(after);
}

class ListedRow implements ListedPool {
  readonly row: RowValue;
  readonly marketCapLovelace: bigint;
  readonly changedSeq: number;
  readonly trustSeq: number;

  constructor(
    row: RowValue,
    changedSeq: number,
    marketCapLovelace?: bigint,
    trustSeq: number = changedSeq,
  ) {
    this.row = row;
    this.changedSeq = changedSeq;
    this.trustSeq = trustSeq;
    this.marketCapLovelace = marketCapLovelace ?? marketCapOf(poolState(this.pool)).lovelace;
  }

  get pool(): PoolRecord {
    const known = parsed.get(this);
    if (known !== undefined) return known;
    const pool = recordOf<PoolRecord>(this.row);
    parsed.set(this, pool);
    return pool;
  }

  at(changedSeq: number): ListedRow {
    return new ListedRow(this.row, changedSeq, this.marketCapLovelace);
  }

  /** With who holds it after entry `trustSeq`; nothing else changed. */
  with(row: RowValue, trustSeq: number): ListedRow {
    return new ListedRow(row, this.changedSeq, this.marketCapLovelace, trustSeq);
  }

  rankOn(order: Order): ListRank {
    if (order === 'all') return this.marketCapLovelace;
    return rankOn(order, this.pool, this.marketCapLovelace);
  }
}

function newSlot(token: AssetId, listed: ListedRow): Row {
  const { name, ticker } = listed.pool;
  const places = perOrder(() => null);
  return { token, name: foldCase(name), ticker: foldCase(ticker), index: 0, listed, places };
}

function byMarketCap({ listed: a, token: tokenA }: Row, { listed: b, token: tokenB }: Row) {
  if (a.marketCapLovelace !== b.marketCapLovelace) {
    return a.marketCapLovelace > b.marketCapLovelace ? -1 : 1;
  }
  return tokenA < tokenB ? -1 : 1;
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

/** Keys of a node: of 16 to 256, what moved pools fastest (bench/listUpdates.ts). */
const NODE_KEYS = 64;
const STOP = { break: true };

/**
 * One list of pools, kept in order: the larger rank first, ties by asset id. A B+ tree, so that one
 * of 100,000 pools moves in about a microsecond and a page is read without sorting.
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

  /** The last one first. */
  walkUp(visit: (of: P) => boolean): void {
    for (const [{ of }] of this.#tree.entriesReversed()) if (of !== null && !visit(of)) return;
  }
}

/** Ranks of one list are all numbers or all bigints. */
function compare(a: RankedPool<unknown>, b: RankedPool<unknown>): number {
  if (a.rank !== b.rank) return a.rank > b.rank ? -1 : 1;
  if (a.token === b.token) return 0;
  return a.token < b.token ? -1 : 1;
}
