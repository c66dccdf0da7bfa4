/**
 * Orders as the fold knows them: an order by reference or beacon, lists of orders on the chain, and
 * orders that only wait in the mempool. Nothing is kept here.
 */

import sortedBtree from 'sorted-btree';
import type { Fold } from '../../engine/fold/fold.ts';
import type { PendingOrder } from '../../engine/fold/mempoolRows.ts';
import {
  openOrdersOfKey,
  ordersOfBoth,
  ordersOfKey,
  ordersOfToken,
} from '../../engine/fold/orderRows.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import type { RefText } from '../../engine/market/events.ts';
import { type OrderFacts, type OrderView, viewOrder } from '../../engine/market/orderView.ts';
import { finish } from '../../engine/runtime/slices.ts';
import type { KeyedRow, KeySpan } from '../../engine/store/keyedRows.ts';
import {
  type DroppedRecord,
  fillsOfOrder,
  type OrderFill,
  type OrderRecord,
  type PoolRecord,
  readRecord,
  type TradeRecord,
} from '../../engine/store/records.ts';
import type { StateStore } from '../../engine/store/state.ts';
import type { HeldState, Steps } from '../schemas/slicedReads.ts';
import { keysOf, placesOf, type TimeSpan } from '../schemas/timeSpan.ts';
import { ListMarks } from './listMarks.ts';

/** Ask for `fold` each time: a new epoch replaces it. */
export interface OrderNode {
  readonly fold: Fold;
}

/** The owners and the token of the orders. Keys are distinct; null: everybody's. */
export interface OrderFilter {
  /** null: of all tokens. */
  readonly token: AssetId | null;
  readonly pkhs: readonly string[] | null;
  /** Neither executed nor refunded. */
  readonly onlyOpen?: boolean;
}

export interface FoundOrder {
  readonly order: OrderView;
  /** False: it is in no block. */
  readonly isOnChain: boolean;
  readonly place: string;
}

export interface FilledPart {
  readonly fill: OrderFill;
  readonly trade: TradeRecord | null;
}

export class Orders {
  readonly #fold: Fold;
  /** Rows of the present fold, or of a held state. */
  readonly #rows: HeldState['rows'];
  readonly #pending: HeldState['pending'];
  readonly #seq: number | undefined;

  constructor({ fold }: OrderNode, held?: HeldState) {
    this.#fold = fold;
    this.#seq = fold.store.checkpoint?.seq;
    this.#rows = held?.rows ?? fold.store;
    this.#pending = held?.pending ?? fold.mempool;
  }

  /** Orders on the chain, newest first, and how many there are in all pages. */
  *ledger(
    filter: OrderFilter,
    page: ListPage,
    span: TimeSpan = {},
  ): Steps<{ count: number; items: OrderView[] }> {
    const rows = this.#rows;
    const lists = yield* this.#lists(filter);
    const names = lists.map(({ name }) => name);
    const isAll = span.from === undefined && span.to === undefined;
    const places = isAll ? {} : yield* this.#placesOf(span, names);
    const count = isAll ? sumOf(lists) : yield* countWithin(rows, names, places);
    const items: OrderView[] = [];
    if (page.offset >= count) return { count, items };
    const [only, ...others] = lists;
    const isPlain = isAll && page.before === undefined && filter.onlyOpen !== true;
    const { store } = this.#fold;
    const isNow = store.checkpoint?.seq === this.#seq;
    const refs =
      isPlain && isNow && only !== undefined && others.length === 0
        ? marksOf(store)
            .page(only.name, count, page.offset, page.limit)
            .map(({ value }) => value)
        : yield* walkLists(rows, names, { ...page, places });
    for (const ref of refs) {
      const record = this.#record(ref);
      if (record !== null) items.push(viewOrder(this.#confirmed(record)));
      yield;
    }
    return { count, items };
  }

  /** Places of the orders whose `timestamp` is in the span. */
  #placesOf(span: TimeSpan, lists: readonly string[]): Steps<KeySpan> {
    const timeMs = ({ value: ref }: KeyedRow) => this.#record(ref)?.placedMs ?? 0;
    return placesOf(span, { rows: this.#rows, table: 'order_index', lists, timeMs });
  }

  /** How many `ledger` has in all its pages. */
  count(filter: OrderFilter): number {
    return sumOf(finish(this.#lists(filter)));
  }

  /** Orders that are in no block yet, newest first. */
  mempool({ token, pkhs }: OrderFilter): OrderView[] {
    const { mempool, store } = this.#fold;
    const found = pkhs === null ? mempool.ofToken(token ?? '') : mempool.ofKeys(pkhs);
    return found
      .filter(({ order }) => token === null || order.token === token)
      .filter(({ order }) => store.get('orders', order.ref) === null)
      .flatMap(({ order }) => this.view(order.ref) ?? []);
  }

  /** null: neither the chain nor the mempool has it. */
  view(ref: RefText): OrderView | null {
    return this.find(ref)?.order ?? null;
  }

  /** `place` sorts in the list that it stands in. */
  find(ref: RefText): FoundOrder | null {
    const record = this.#record(ref);
    if (record !== null) {
      return { order: viewOrder(this.#confirmed(record)), isOnChain: true, place: record.at };
    }
    const waiting = this.#fold.mempool.placed(ref);
    if (waiting === null) return null;
    const place = `${waiting.sortKey}/${waiting.order.at}`;
    return { order: viewOrder(this.#waiting(waiting)), isOnChain: false, place };
  }

  byBeacon(beacon: string): OrderView | null {
    const ref = this.#fold.store.get('beacons', beacon);
    if (ref === null) return null;
    return this.view(ref) ?? this.#dropped(ref);
  }

  /** All executions, oldest first; a fill that moved no coin has no place on the trade tape. */
  fillsOf(ref: RefText): FilledPart[] {
    const record = this.#record(ref);
    if (record === null) return [];
    return fillsOfOrder(record).map((fill) => {
      const at = `${record.token}/${fill.tradeAt ?? ''}`;
      const text = fill.tradeAt === null ? null : this.#fold.store.get('trades', at);
      return { fill, trade: text === null ? null : readRecord<TradeRecord>(text) };
    });
  }

  /** Where an order on the chain stands in its lists; null: it is not on the chain. */
  placeOf(ref: RefText): string | null {
    return this.#record(ref)?.at ?? null;
  }

  #confirmed(order: OrderRecord): OrderFacts {
    const { ref, token, state, closedTx, closedMs: endedMs, venue, placedMs, unspent } = order;
    const isOpen = state === 'open';
    const parts = partsOf(order);
    const received = String(BigInt(order.received) - (parts?.received ?? 0n));
    return {
      order,
      confirmed: isOpen ? 'open' : 'ended',
      isPlacing: false,
      end: isOpen
        ? this.#pending.pendingEnd(ref)
        : { tx: closedTx ?? '', kind: state, received, unspent },
      parts,
      feeLovelace: fillsOfOrder(order).reduce((sum, fill) => sum + BigInt(fill.feeLovelace), 0n),
      pendingPartTx: isOpen ? this.#pending.part(ref) : null,
      endedMs,
      placedMs,
      venue: venue ?? this.#venueOf(token),
    };
  }

  #waiting({ order, seenMs: placedMs }: PendingOrder): OrderFacts {
    const shared = { ...NOTHING_EXECUTED, confirmed: 'none', isPlacing: true } as const;
    const venue = this.#venueOf(order.token);
    const { mempool } = this.#fold;
    const [end, pendingPartTx] = [mempool.pendingEnd(order.ref), mempool.part(order.ref)];
    return { ...shared, order, end, pendingPartTx, placedMs, venue };
  }

  #dropped(ref: RefText): OrderView | null {
    const { store } = this.#fold;
    const text = store.get('dropped', ref);
    if (text === null) return null;
    const { order, shownMs, seq } = readRecord<DroppedRecord>(text);
    // Rows go with some commit after that: no node answers longer than another.
    if (seq <= store.horizonSeq) return null;
    const gone = { ...NOTHING_EXECUTED, confirmed: 'none', isPlacing: false } as const;
    return viewOrder({
      ...gone,
      end: null,
      pendingPartTx: null,
      order,
      placedMs: shownMs,
      venue: this.#venueOf(order.token),
    });
  }

  #record(ref: RefText): OrderRecord | null {
    return this.#rows.record<OrderRecord>('orders', ref);
  }

  #venueOf(token: AssetId): 'CURVE' | 'AMM' {
    return this.#rows.record<PoolRecord>('pools', token)?.reserves.venue ?? 'CURVE';
  }

  /** The lists that `filter` selects, without empty ones. */
  *#lists(filter: OrderFilter): Steps<List[]> {
    const lists: List[] = [];
    for (const name of namesOf(filter)) {
      const count = this.#rows.get('counts', name);
      if (count !== null) lists.push({ name, count: Number(count) });
      yield;
    }
    return lists;
  }
}

const NOTHING_EXECUTED = { parts: null, feeLovelace: 0n, endedMs: null } as const;

/** Executed before the execution that ended it; null: none. */
function partsOf({ parts = [] }: OrderRecord): OrderFacts['parts'] {
  const newest = parts.at(-1);
  if (newest === undefined) return null;
  const sum = (name: 'amount' | 'received') =>
    parts.reduce((total, part) => total + BigInt(part[name]), 0n);
  return { tx: newest.tx, amount: sum('amount'), received: sum('received') };
}

const OPEN_PAGE = { offset: 0, limit: 100 };

/**
 * The newest 100 open orders of these keys, with their count, and all their orders in the mempool.
 */
export function* openOrdersOf(node: OrderNode, state: HeldState, pkhs: readonly string[]) {
  const orders = new Orders(node, state);
  const filter = { token: null, pkhs, onlyOpen: true };
  const mempool = orders.mempool(filter);
  return { ledger: yield* orders.ledger(filter, OPEN_PAGE), mempool };
}

/** Counts belong to one state. */
const marks = new WeakMap<StateStore, ListMarks>();

function marksOf(store: StateStore): ListMarks {
  const known = marks.get(store) ?? new ListMarks(store);
  marks.set(store, known);
  return known;
}

interface List {
  readonly name: string;
  readonly count: number;
}

function namesOf({ token, pkhs, onlyOpen = false }: OrderFilter): string[] {
  if (pkhs === null) return token === null ? [] : [ordersOfToken(token)];
  if (token !== null) return pkhs.map((pkh) => ordersOfBoth(pkh, token));
  return pkhs.map(onlyOpen ? openOrdersOfKey : ordersOfKey);
}

function sumOf(lists: readonly List[]): number {
  return lists.reduce((sum, { count }) => sum + count, 0);
}

function* countWithin(
  rows: HeldState['rows'],
  lists: readonly string[],
  places: KeySpan,
): Steps<number> {
  let count = 0;
  for (const list of lists) {
    count += rows.count('order_index', `${list}/`, keysOf(list, places));
    yield;
  }
  return count;
}

interface ListPage {
  readonly offset: number;
  readonly limit: number;
  /** Only what lies before this place in the chain. */
  readonly before?: string;
}

interface PlacedPage extends ListPage {
  readonly places: KeySpan;
}

/**
 * Rows to read of each list at first: a page of many lists needs few of each. Then more and more.
 */
const FIRST_CHUNK = 8;
const MAX_CHUNK = 512;

/**
 * One page of several lists together, newest first. Every list is a range of keys that end with the
 * order's place in the chain; the list with the newest remaining order goes next.
 */
function* walkLists(
  rows: HeldState['rows'],
  lists: readonly string[],
  { offset, limit, before, places }: PlacedPage,
): Steps<RefText[]> {
  const [only] = lists;
  if (only === undefined) return [];
  if (lists.length === 1) {
    const after = before === undefined ? {} : { after: `${only}/${before}` };
    const span = keysOf(only, places);
    const range = { order: 'descending', offset, limit, ...span, ...after } as const;
    return rows.page('order_index', `${only}/`, range).map(({ value }) => value);
  }
  const heads = new sortedBtree.default<string, Walk>();
  const enter = (walk: Walk) => {
    const place = walk.nextPlace();
    if (place !== null) heads.set(place, walk);
  };
  for (const list of lists) {
    enter(new Walk(rows, list, { before, places }));
    yield;
  }
  const refs: RefText[] = [];
  for (let index = 0; index < offset + limit; index += 1) {
    const place = heads.maxKey();
    const walk = place === undefined ? undefined : heads.get(place);
    if (place === undefined || walk === undefined) break;
    heads.delete(place);
    const ref = walk.next();
    if (index >= offset) refs.push(ref);
    enter(walk);
    yield;
  }
  return refs;
}

/** A list, from its newest order on. */
class Walk {
  readonly #all: HeldState['rows'];
  readonly #prefix: string;
  readonly #span: KeySpan;
  #rows: readonly KeyedRow[] = [];
  #next = 0;
  #after: string | undefined;
  #hasMore = true;
  #chunk = FIRST_CHUNK;

  constructor(
    all: HeldState['rows'],
    list: string,
    { before, places }: Pick<PlacedPage, 'places'> & { readonly before: string | undefined },
  ) {
    this.#all = all;
    this.#prefix = `${list}/`;
    this.#span = keysOf(list, places);
    this.#after = before === undefined ? undefined : `${this.#prefix}${before}`;
  }

  /** Place in the chain of the next order; null at the end. */
  nextPlace(): string | null {
    if (this.#next >= this.#rows.length && this.#hasMore) this.#read();
    return this.#rows[this.#next]?.key.slice(this.#prefix.length) ?? null;
  }

  next(): RefText {
    const ref = this.#rows[this.#next]?.value ?? '';
    this.#next += 1;
    return ref;
  }

  #read(): void {
    const after = this.#after === undefined ? {} : { after: this.#after };
    const limit = this.#chunk;
    const range = { order: 'descending', offset: 0, limit, ...this.#span, ...after } as const;
    this.#rows = this.#all.pages('order_index')(this.#prefix, range);
    this.#next = 0;
    this.#after = this.#rows.at(-1)?.key;
    this.#hasMore = this.#rows.length === limit;
    this.#chunk = Math.min(2 * limit, MAX_CHUNK);
  }
}
