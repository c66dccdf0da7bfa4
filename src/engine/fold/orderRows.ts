/**
 * Orders as rows: the record by reference, and beside it what finds it (by token, by key, by both,
 * open ones, by beacon) with exact counts.
 *
 * Keys of `order_index` end with the order's place in the chain, so that a list is a range of keys:
 * `token/<token>/`, `key/<pkh>/`, `both/<pkh>/<token>/`, `open/<pkh>/`. The keys of `counts` are
 * the same names without the last slash.
 */
import type { AssetId } from '../market/asset.ts';
import type { ChainOrder, MarketEvent, PlacedOrder, Reserves } from '../market/events.ts';
import type { EarlyBuy } from '../market/trust.ts';
import type { DroppedRecord, OrderFill, OrderRecord } from '../store/records.ts';
import { type RowChange, recordOf } from '../store/rows.ts';
import type { RowDraft } from './rowDraft.ts';
import { noteOrderChange } from './streamTags.ts';

export const ordersOfToken = (token: AssetId) => `token/${token}`;
export const ordersOfKey = (pkh: string) => `key/${pkh}`;
export const ordersOfBoth = (pkh: string, token: AssetId) => `both/${pkh}/${token}`;
export const openOrdersOfKey = (pkh: string) => `open/${pkh}`;

export function placeOrder(
  rows: RowDraft,
  order: PlacedOrder,
  placedMs: number,
  early: EarlyBuy | null,
): OrderRecord {
  const record: OrderRecord = {
    ...order,
    placedMs,
    ...(early === null ? {} : { early }),
    state: 'open',
    closedMs: null,
    closedTx: null,
    received: '0',
    venue: null,
    tradeAt: null,
  };
  rows.put('orders', order.ref, record);
  rows.set('open_orders', `${order.token}/${order.at}`, order.ref);
  for (const list of [...listsOf(order), openOrdersOfKey(order.pkh)]) {
    rows.set('order_index', `${list}/${order.at}`, order.ref);
    rows.count(list, 1);
  }
  nameOrder(rows, order);
  noteOrderChange(rows, order);
  return record;
}

/** A beacon names one order on the chain: another that repeats it takes nothing from it. */
export function nameOrder(rows: RowDraft, { beacon, ref }: PlacedOrder): void {
  const named = rows.get('beacons', beacon);
  if (named === null || rows.get('orders', named) === null) rows.set('beacons', beacon, ref);
}

/** Its fill has a price. */
export function tradeOfOrder(rows: RowDraft, order: OrderRecord, tradeAt: ChainOrder): void {
  rows.put('orders', order.ref, { ...order, tradeAt });
}

/** A part of it was executed; its trade, if it has a price, is noted already. */
export function continueOrder(
  rows: RowDraft,
  order: OrderRecord,
  event: MarketEvent & { readonly kind: 'partlyExecuted' },
  atMs: number,
): void {
  const { tx, amount, received, feeLovelace, rest } = event;
  const { parts = [], tradeAt: newest } = order;
  const tradeAt = newest === parts.at(-1)?.tradeAt ? null : newest;
  const part: OrderFill = { tx, atMs, amount, received, feeLovelace, tradeAt };
  const sum = String(BigInt(order.received) + BigInt(received));
  const record: OrderRecord = { ...order, received: sum, parts: [...parts, part], rest };
  rows.put('orders', order.ref, record);
  forgetOutput(rows, order);
  rows.set('order_outputs', rest.ref, order.ref);
  noteOrderChange(rows, order);
}

function forgetOutput(rows: RowDraft, { rest }: OrderRecord): void {
  if (rest !== undefined) rows.set('order_outputs', rest.ref, null);
}

/** How an order ended. */
type OrderClosing = Pick<
  OrderRecord,
  'state' | 'closedMs' | 'closedTx' | 'received' | 'venue' | 'unspent'
>;

export function closeOrder(rows: RowDraft, order: OrderRecord, closing: OrderClosing): void {
  rows.put('orders', order.ref, { ...order, ...closing });
  rows.set('open_orders', `${order.token}/${order.at}`, null);
  forgetOutput(rows, order);
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
  rows.put('dropped', dropped.order.ref, dropped);
}

/** A row of `orders` that the rollback `seq` puts back or takes away. */
export function noteOrderRollback(
  rows: RowDraft,
  seq: number,
  { before, after }: Pick<RowChange, 'before' | 'after'>,
): void {
  const value = before ?? after;
  if (value === null) return;
  const order = recordOf<OrderRecord>(value);
  noteOrderChange(rows, order);
  if (after !== null) return;
  const { placedMs, state, closedMs, closedTx, received, venue, tradeAt, ...rest } = order;
  const { parts: _, rest: _left, unspent: _unspent, early: _early, ...placed } = rest;
  dropOrder(rows, { order: placed, seq, shownMs: placedMs });
}

export function isVenueChange(before: Reserves, after: Reserves): boolean {
  return before.venue !== after.venue;
}

function listsOf({ token, pkh }: PlacedOrder): string[] {
  return [ordersOfToken(token), ordersOfKey(pkh), ordersOfBoth(pkh, token)];
}
