/**
 * The rows of the mempool, found by order, token and key: what clients ask for with each status.
 * Always as at the applied position; made anew from the rows at a start.
 */
import type { AssetId } from '../market/asset.ts';
import type { MarketEvent, PlacedOrder, RefText } from '../market/events.ts';
import { type MempoolRecord, readRecord } from '../store/records.ts';

/** An order of a transaction that waits. */
export interface PendingOrder {
  readonly order: PlacedOrder;
  /** Sorts in the order in which they came. */
  readonly sortKey: string;
  readonly seenMs: number;
}

/** What a waiting transaction would make of an order. */
export interface PendingEnd {
  readonly tx: string;
  readonly kind: 'executed' | 'refunded' | 'cancelled';
  /** Of the output asset; '0' where the order is given back. */
  readonly received: string;
}

export class MempoolIndex {
  readonly #records = new Map<string, MempoolRecord>();
  readonly #placed = new Map<RefText, PendingOrder>();
  readonly #ends = new Map<RefText, PendingEnd>();
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

  /** The row of a transaction as it is now; null: it waits no more. */
  set(id: string, text: string | null): void {
    const before = this.#records.get(id);
    if (before !== undefined) for (const event of before.events) this.#forget(event);
    this.#records.delete(id);
    if (text === null) return;
    const record = readRecord<MempoolRecord>(text);
    this.#records.set(id, record);
    for (const event of record.events) this.#note(event, record);
  }

  placed(ref: RefText): PendingOrder | null {
    return this.#placed.get(ref) ?? null;
  }

  end(ref: RefText): PendingEnd | null {
    return this.#ends.get(ref) ?? null;
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

  #note(event: MarketEvent, { place, seenMs }: MempoolRecord): void {
    if (event.kind === 'placed') {
      const { ref, token, pkh } = event.order;
      this.#placed.set(ref, { order: event.order, sortKey: place, seenMs });
      add(this.#byToken, token, ref);
      add(this.#byKey, pkh, ref);
    } else if (isEnd(event)) {
      const received = event.kind === 'executed' ? event.received : '0';
      this.#ends.set(event.order, { tx: event.tx, kind: event.kind, received });
    }
  }

  #forget(event: MarketEvent): void {
    if (event.kind === 'placed') {
      const { ref, token, pkh } = event.order;
      this.#placed.delete(ref);
      remove(this.#byToken, token, ref);
      remove(this.#byKey, pkh, ref);
    } else if (isEnd(event) && this.#ends.get(event.order)?.tx === event.tx) {
      this.#ends.delete(event.order);
    }
  }
}

type EndEvent = MarketEvent & { readonly kind: PendingEnd['kind'] };

export function isEnd(event: MarketEvent): event is EndEvent {
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
