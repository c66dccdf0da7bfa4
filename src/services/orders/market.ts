/**
 * Orders as the fold knows them: one by reference or beacon, lists of those on the chain, those
 * that only wait in the mempool. Nothing is kept here.
 */
import type { Fold } from '../../actors/fold.ts';
import {
  openOrdersOfKey,
  ordersOfBoth,
  ordersOfKey,
  ordersOfToken,
} from '../../actors/orderRows.ts';
import type { AssetId } from '../../market/asset.ts';
import type { RefText } from '../../market/events.ts';
import { type OrderFacts, type OrderView, viewOrder } from '../../market/orderView.ts';
import { type DroppedRecord, type OrderRecord, readRecord } from '../../store/records.ts';
import { type ListPage, walkLists } from './walk.ts';

/** `fold` is asked anew each time, a new epoch replaces it. */
export interface OrderNode {
  readonly fold: Fold;
}

/** Whose orders of what. Keys are distinct; null: everybody's. */
export interface OrderWish {
  /** null: of all tokens. */
  readonly token: AssetId | null;
  readonly pkhs: readonly string[] | null;
  /** Neither executed nor refunded. */
  readonly onlyOpen?: boolean;
}

export class Orders {
  readonly #fold: Fold;

  constructor({ fold }: OrderNode) {
    this.#fold = fold;
  }

  /** Orders on the chain, newest first. */
  ledger(wish: OrderWish, page: ListPage): OrderView[] {
    const { store } = this.#fold;
    return walkLists(store, this.#lists(wish), page).flatMap((ref) => this.view(ref) ?? []);
  }

  /** How many `ledger` has in all its pages. */
  count(wish: OrderWish): number {
    return this.#lists(wish).reduce((sum, list) => sum + this.#countOf(list), 0);
  }

  /** Orders that are in no block yet, newest first. */
  mempool({ token, pkhs }: OrderWish): OrderView[] {
    const { mempool, store } = this.#fold;
    const found = pkhs === null ? mempool.ofToken(token ?? '') : mempool.ofKeys(pkhs);
    return found
      .filter(({ order }) => token === null || order.token === token)
      .filter(({ order }) => store.get('orders', order.ref) === null)
      .flatMap(({ order }) => this.view(order.ref) ?? []);
  }

  /** null: neither the chain nor the mempool has it. */
  view(ref: RefText): OrderView | null {
    const facts = this.#facts(ref);
    return facts === null ? null : viewOrder(facts);
  }

  byBeacon(beacon: string): OrderView | null {
    const ref = this.#fold.store.get('beacons', beacon);
    if (ref === null) return null;
    return this.view(ref) ?? this.#dropped(ref);
  }

  /** Where an order on the chain stands in its lists; null: it is not on the chain. */
  placeOf(ref: RefText): string | null {
    return this.#record(ref)?.at ?? null;
  }

  #facts(ref: RefText): OrderFacts | null {
    const { mempool } = this.#fold;
    const record = this.#record(ref);
    const end = mempool.end(ref);
    if (record !== null) {
      const { state, closedTx, closedMs, received, venue, placedMs } = record;
      const isOpen = state === 'open';
      return {
        order: record,
        confirmed: isOpen ? 'open' : 'ended',
        isPlacing: false,
        end: isOpen ? end : { tx: closedTx ?? '', kind: state, received },
        endedMs: closedMs,
        placedMs,
        venue: venue ?? this.#venueOf(record.token),
      };
    }
    const waiting = mempool.placed(ref);
    if (waiting === null) return null;
    const { order, seenMs: placedMs } = waiting;
    const shared = { confirmed: 'none', isPlacing: true, endedMs: null } as const;
    return { ...shared, order, end, placedMs, venue: this.#venueOf(order.token) };
  }

  #dropped(ref: RefText): OrderView | null {
    const text = this.#fold.store.get('dropped', ref);
    if (text === null) return null;
    const { order, shownMs } = readRecord<DroppedRecord>(text);
    const gone = { confirmed: 'none', isPlacing: false, end: null, endedMs: null } as const;
    return viewOrder({ ...gone, order, placedMs: shownMs, venue: this.#venueOf(order.token) });
  }

  #record(ref: RefText): OrderRecord | null {
    const text = this.#fold.store.get('orders', ref);
    return text === null ? null : readRecord<OrderRecord>(text);
  }

  #venueOf(token: AssetId): 'CURVE' | 'AMM' {
    return this.#fold.directory.find(token)?.pool.reserves.venue ?? 'CURVE';
  }

  /** Those of a wish that hold anything. */
  #lists({ token, pkhs, onlyOpen = false }: OrderWish): string[] {
    if (pkhs === null) return token === null ? [] : [ordersOfToken(token)];
    const name = (pkh: string) => {
      if (token !== null) return ordersOfBoth(pkh, token);
      return onlyOpen ? openOrdersOfKey(pkh) : ordersOfKey(pkh);
    };
    return pkhs.map(name).filter((list) => this.#countOf(list) > 0);
  }

  #countOf(list: string): number {
    return Number(this.#fold.store.get('counts', list) ?? 0);
  }
}
