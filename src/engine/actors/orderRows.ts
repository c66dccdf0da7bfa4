/**
 * Orders as rows: the record by reference, and beside it what finds it (by token, by key, by both,
 * open ones, by beacon) with exact counts.
 *
 * Keys of `order_index` end with the order's place in the chain, so that a list is a range of keys:
 * `token/<token>/`, `key/<pkh>/`, `both/<pkh>/<token>/`, `open/<pkh>/`. The same names without the
 * last slash are those of `counts`.
 */
import type { AssetId } from '../market/asset.ts';
import type { ChainOrder, PlacedOrder, Reserves } from '../market/events.ts';
import { type DroppedRecord, type OrderRecord, readRecord } from '../store/records.ts';
import type { RowChange } from '../store/rows.ts';
import type { RowDraft } from './rowDraft.ts';
import { noteOrderChange } from './streamTags.ts';

export const ordersOfToken = (token: AssetId) => `token/${token}`;
export const ordersOfKey = (pkh: string) => `key/${pkh}`;
export const ordersOfBoth = (pkh: string, token: AssetId) => `both/${pkh}/${token}`;
export const openOrdersOfKey = (pkh: string) => `open/${pkh}`;

export function placeOrder(rows: RowDraft, order: PlacedOrder, placedMs: number): void {
  const record: OrderRecord = {
    ...order,
    placedMs,
    state: 'open',
    closedMs: null,
    closedTx: null,
    received: '0',
    venue: null,
    tradeAt: null,
  };
  rows.set('orders', order.ref, JSON.stringify(record));
  rows.set('open_orders', `${order.token}/${order.at}`, order.ref);
  for (const list of [...listsOf(order), openOrdersOfKey(order.pkh)]) {
    rows.set('order_index', `${list}/${order.at}`, order.ref);
    rows.count(list, 1);
  }
  rows.set('beacons', order.beacon, order.ref);
  noteOrderChange(rows, order);
}

/** Its fill has a price. */
export function tradeOfOrder(rows: RowDraft, order: OrderRecord, tradeAt: ChainOrder): void {
  rows.set('orders', order.ref, JSON.stringify({ ...order, tradeAt }));
}

/** How an order ended. */
type OrderClosing = Pick<OrderRecord, 'state' | 'closedMs' | 'closedTx' | 'received' | 'venue'>;

export function closeOrder(rows: RowDraft, order: OrderRecord, closing: OrderClosing): void {
  rows.set('orders', order.ref, JSON.stringify({ ...order, ...closing }));
  rows.set('open_orders', `${order.token}/${order.at}`, null);
  const open = openOrdersOfKey(order.pkh);
  rows.set('order_index', `${open}/${order.at}`, null);
  rows.count(open, -1);
  noteOrderChange(rows, order);
}

/**
 * Neither on the chain nor in the mempool any more. The row stays when the order comes back: it is
 * looked at last, and forgotten with the horizon, which is not at the same entry on every node.
 */
export function dropOrder(rows: RowDraft, dropped: DroppedRecord): void {
  rows.set('dropped', dropped.order.ref, JSON.stringify(dropped));
}

/** A row of `orders` that the rollback `seq` puts back or takes away. */
export function noteOrderRollback(
  rows: RowDraft,
  seq: number,
  { before, after }: Pick<RowChange, 'before' | 'after'>,
): void {
  const text = before ?? after;
  if (text === null) return;
  const order = readRecord<OrderRecord>(text);
  noteOrderChange(rows, order);
  if (after !== null) return;
  const { placedMs, state, closedMs, closedTx, received, venue, tradeAt, ...placed } = order;
  dropOrder(rows, { order: placed, seq, shownMs: placedMs });
}

export function isVenueChange(before: Reserves, after: Reserves): boolean {
  return before.venue !== after.venue;
}

function listsOf({ token, pkh }: PlacedOrder): string[] {
  return [ordersOfToken(token), ordersOfKey(pkh), ordersOfBoth(pkh, token)];
}
