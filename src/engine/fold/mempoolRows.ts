/**
 * The mempool as rows: what pending transactions would do to orders. The leader's entries carry its
 * mempool. A rollback leaves these rows alone: the chain reports the whole mempool after it.
 */
import type { ChainBlock, MempoolPayload, PendingTransaction } from '../log/entry.ts';
import type { AssetId } from '../market/asset.ts';
import type { LaunchedToken, MarketEvent, PlacedOrder, RefText } from '../market/events.ts';
import type { MempoolRecord, OrderRecord } from '../store/records.ts';
import { type RowValue, recordOf } from '../store/rows.ts';
import { dropOrder, nameOrder } from './orderRows.ts';
import type { RowDraft } from './rowDraft.ts';
import { noteLaunch, noteOrderChange } from './streamTags.ts';

export function foldMempool(
  { added, removed, seenMs, whole, absent }: MempoolPayload,
  seq: number,
  rows: RowDraft,
  book: MempoolIndex,
): void {
  const gone = absent ?? (whole ? absentFrom(added, book) : []);
  // Removed first: an added transaction may spend the same outputs in another way.
  for (const id of [...gone, ...removed.map((each) => each.id)]) take(id, seq, rows, book);
  for (const [index, waiting] of added.entries()) {
    if (rows.get('mempool', waiting.id) !== null) continue;
    const place = `${String(seq).padStart(15, '0')}.${String(index).padStart(6, '0')}`;
    put({ ...waiting, place, seenMs }, rows, book);
  }
}

/** Sorted: after a restart a node has them in another order than a node that saw them arrive. */
function absentFrom(added: MempoolPayload['added'], book: MempoolIndex): string[] {
  const there = new Set(added.map(({ id }) => id));
  return [...book.ids()].filter((id) => !there.has(id)).sort();
}

/** Removes transactions that block `seq` contains or invalidates; the block's rows exist. */
export function settleMempool(
  { settled, dropped }: Pick<ChainBlock, 'settled' | 'dropped'>,
  seq: number,
  rows: RowDraft,
  book: MempoolIndex,
): void {
  for (const id of [...settled, ...dropped.map((each) => each.id)]) take(id, seq, rows, book);
}

/** The venue where these orders are expected to fill has changed. */
export function notePendingOrderChanges(rows: RowDraft, token: AssetId, book: MempoolIndex): void {
  for (const { order } of book.ofToken(token)) noteOrderChange(rows, order);
}

function put(
  { id, events, place, seenMs }: PendingTransaction & Pick<MempoolRecord, 'place' | 'seenMs'>,
  rows: RowDraft,
  book: MempoolIndex,
): void {
  const record: MempoolRecord = { place, seenMs, events };
  rows.put('mempool', id, record);
  for (const event of events) {
    if (event.kind === 'launched') noteLaunch(rows, event.pool);
    else if (event.kind === 'placed') {
      nameOrder(rows, event.order);
      noteOrderChange(rows, event.order);
    } else if (isEnd(event) || event.kind === 'partlyExecuted') {
      noteKnownOrderChange(event.order, events, rows, book);
    }
  }
}

/** Drops the orders that the transaction placed, where no block has them. */
function take(id: string, seq: number, rows: RowDraft, book: MempoolIndex): void {
  const record = rows.record<MempoolRecord>('mempool', id);
  if (record === null) return;
  rows.set('mempool', id, null);
  const { events, seenMs } = record;
  for (const event of events) {
    if (event.kind === 'launched') noteLaunch(rows, event.pool);
    else if (event.kind === 'placed') {
      const { order } = event;
      noteOrderChange(rows, order);
      if (rows.get('orders', order.ref) === null) dropOrder(rows, { order, seq, shownMs: seenMs });
    } else if (isEnd(event) || event.kind === 'partlyExecuted') {
      noteKnownOrderChange(event.order, events, rows, book);
    }
  }
}

/** An order of the chain, of the mempool as it was, or of the same transaction. */
function noteKnownOrderChange(
  ref: RefText,
  events: MempoolRecord['events'],
  rows: RowDraft,
  book: MempoolIndex,
): void {
  const confirmed = rows.record<OrderRecord>('orders', ref);
  const own = events.flatMap((event) => (event.kind === 'placed' ? [event.order] : []));
  const order: PlacedOrder | undefined =
    confirmed === null
      ? (book.placed(ref)?.order ?? own.find((each) => each.ref === ref))
      : confirmed;
  if (order !== undefined) noteOrderChange(rows, order);
}

/** An order of a pending transaction. */
export interface PendingOrder {
  readonly order: PlacedOrder;
  /** Sorts by arrival. */
  readonly sortKey: string;
  readonly seenMs: number;
}

/** A token that a pending transaction launches. */
interface PendingLaunch extends Pick<MempoolRecord, 'place' | 'seenMs'> {
  readonly tx: string;
  readonly pool: LaunchedToken;
}

/** How a pending transaction would end an order. */
interface PendingEnd {
  readonly tx: string;
  readonly kind: 'executed' | 'refunded' | 'cancelled';
  /** Amount of the output asset; '0' where the order is given back. */
  readonly received: string;
  readonly unspent?: string | undefined;
}

/**
 * The rows of the mempool, found by order, token and key: what clients ask for with each status.
 * Always as at the applied position; a start rebuilds it from the rows.
 */
export class MempoolIndex {
  readonly #records = new Map<string, MempoolRecord>();
  readonly #placed = new Map<RefText, PendingOrder>();
  readonly #ends = new Map<RefText, PendingEnd>();
  /** Transactions that execute a part of an order, by arrival. */
  readonly #parts = new Map<RefText, { readonly place: string; readonly tx: string }[]>();
  /** By token, in the order of their arrival. */
  readonly #launches = new Map<AssetId, PendingLaunch>();
  readonly #byToken = new Map<AssetId, Set<RefText>>();
  readonly #byKey = new Map<string, Set<RefText>>();

  constructor(rows: Iterable<{ readonly key: string; readonly value: string }>) {
    for (const { key, value } of rows) this.set(key, value);
  }

  has(id: string): boolean {
    return this.#records.has(id);
  }

  ids(): Iterable<string> {
    return this.#records.keys();
  }

  /** The current row of a transaction; null: it is no longer pending. */
  set(id: string, row: RowValue | null): void {
    const before = this.#records.get(id);
    if (before !== undefined) for (const event of before.events) this.#forget(event);
    this.#records.delete(id);
    if (row === null) return;
    const record = recordOf<MempoolRecord>(row);
    this.#records.set(id, record);
    for (const event of record.events) this.#apply(event, record);
  }

  launch(token: AssetId): PendingLaunch | null {
    return this.#launches.get(token) ?? null;
  }

  /** Newest first. */
  launches(): LaunchedToken[] {
    const all = [...this.#launches.values()];
    return all.sort((a, b) => compare(b.place, a.place)).map(({ pool }) => pool);
  }

  placed(ref: RefText): PendingOrder | null {
    return this.#placed.get(ref) ?? null;
  }

  pendingEnd(ref: RefText): PendingEnd | null {
    return this.#ends.get(ref) ?? null;
  }

  /** The newest transaction that executes a part of an order; null: none does. */
  part(ref: RefText): string | null {
    return this.#parts.get(ref)?.at(-1)?.tx ?? null;
  }

  /** The present effects on orders, for a reader that takes many turns of the loop. */
  snapshot(): Pick<MempoolIndex, 'pendingEnd' | 'part'> {
    const [ends, parts] = [new Map(this.#ends), new Map(this.#parts)];
    return {
      pendingEnd: (ref) => ends.get(ref) ?? null,
      part: (ref) => parts.get(ref)?.at(-1)?.tx ?? null,
    };
  }

  ofToken(token: AssetId): readonly PendingOrder[] {
    return this.#found(this.#byToken.get(token));
  }

  ofKeys(pkhs: readonly string[]): readonly PendingOrder[] {
    return this.#found(pkhs.flatMap((pkh) => [...(this.#byKey.get(pkh) ?? [])]));
  }

  /** Newest first. */
  #found(refs: Iterable<RefText> = []): PendingOrder[] {
    const found = [...refs].flatMap((ref) => this.#placed.get(ref) ?? []);
    return found.sort((a, b) => compare(b.sortKey, a.sortKey) || compare(b.order.at, a.order.at));
  }

  #apply(event: MarketEvent, { place, seenMs }: MempoolRecord): void {
    if (event.kind === 'placed') {
      const { ref, token, pkh } = event.order;
      this.#placed.set(ref, { order: event.order, sortKey: place, seenMs });
      add(this.#byToken, token, ref);
      add(this.#byKey, pkh, ref);
    } else if (event.kind === 'launched') {
      const { tx, pool } = event;
      this.#launches.set(pool.token, { tx, pool, place, seenMs });
    } else if (isEnd(event)) {
      const { kind, tx } = event;
      const end = event.kind === 'executed' ? event : { received: '0', unspent: undefined };
      this.#ends.set(event.order, { tx, kind, received: end.received, unspent: end.unspent });
    } else if (event.kind === 'partlyExecuted') {
      const parts = [...(this.#parts.get(event.order) ?? []), { place, tx: event.tx }];
      this.#parts.set(
        event.order,
        parts.sort((a, b) => compare(a.place, b.place)),
      );
    }
  }

  #forget(event: MarketEvent): void {
    if (event.kind === 'placed') {
      const { ref, token, pkh } = event.order;
      this.#placed.delete(ref);
      remove(this.#byToken, token, ref);
      remove(this.#byKey, pkh, ref);
    } else if (event.kind === 'launched') {
      const { token } = event.pool;
      if (this.#launches.get(token)?.tx === event.tx) this.#launches.delete(token);
    } else if (isEnd(event) && this.#ends.get(event.order)?.tx === event.tx) {
      this.#ends.delete(event.order);
    } else if (event.kind === 'partlyExecuted') {
      const left = this.#parts.get(event.order)?.filter(({ tx }) => tx !== event.tx) ?? [];
      if (left.length === 0) this.#parts.delete(event.order);
      else this.#parts.set(event.order, left);
    }
  }
}

type EndEvent = MarketEvent & { readonly kind: PendingEnd['kind'] };

function isEnd(event: MarketEvent): event is EndEvent {
  return event.kind === 'executed' || event.kind === 'refunded' || event.kind === 'cancelled';
}

function add(index: Map<string, Set<RefText>>, key: string, ref: RefText): void {
  const refs = index.get(key);
  if (refs === undefined) index.set(key, new Set([ref]));
  else refs.add(ref);
}

function remove(index: Map<string, Set<RefText>>, key: string, ref: RefText): void {
  const refs = index.get(key);
  refs?.delete(ref);
  if (refs?.size === 0) index.delete(key);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
