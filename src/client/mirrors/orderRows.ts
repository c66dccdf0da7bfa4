/**
 * Changed orders among those that are known, in the order that HTTP has: newest first by block and
 * place in it. Rows hold only the second, so the order within one is taken from the frame, which is
 * in this order. An order that the frame does not name was not undone, so it is older than all in
 * it.
 */
import type { ApiOrder } from '../types.ts';

interface Rows {
  /** Newest first. */
  readonly ledger: readonly ApiOrder[];
  readonly mempool: readonly ApiOrder[];
}

interface Changes extends Rows {
  readonly removed: readonly string[];
  /** Of all orders on the chain. */
  readonly count: number;
}

export function merged(known: Rows & { readonly count: number }, changes: Changes) {
  const gone = new Set(changes.removed);
  for (const { entityId } of changes.mempool) gone.add(entityId);
  const stays = ({ entityId }: ApiOrder) => !gone.has(entityId);
  const floor = known.ledger.length < known.count ? known.ledger.at(-1)?.timestamp : undefined;
  const ledger = withChanges(known.ledger.filter(stays), changes.ledger, floor ?? -1);
  const onChain = new Set(changes.ledger.map(({ entityId }) => entityId));
  const waiting = known.mempool.filter(
    (order) => !changes.removed.includes(order.entityId) && !onChain.has(order.entityId),
  );
  return { ledger, mempool: withChanges(waiting, changes.mempool, -1) };
}

/** `floor`: the second of the oldest one known; what is older, and new here, is left out. */
function withChanges(
  known: readonly ApiOrder[],
  changed: readonly ApiOrder[],
  floor: number,
): ApiOrder[] {
  const news = new Map(changed.map((order) => [order.entityId, order]));
  // With another second its place changes, as if it were new.
  const rows = known.filter(({ entityId, timestamp }) => {
    const now = news.get(entityId);
    return now === undefined || now.timestamp === timestamp;
  });
  const stays = new Set(rows.map(({ entityId }) => entityId));
  exchange(
    rows,
    changed.filter(({ entityId }) => stays.has(entityId)),
  );
  const newest = rows[0]?.timestamp;
  let after = 0;
  for (const order of changed) {
    if (stays.has(order.entityId)) {
      after = rows.indexOf(order, after) + 1;
      continue;
    }
    if (order.timestamp <= floor && order.timestamp !== newest) continue;
    const at = rows.findIndex(
      ({ timestamp }, index) => index >= after && timestamp <= order.timestamp,
    );
    const place = at < 0 ? rows.length : at;
    rows.splice(place, 0, order);
    after = place + 1;
  }
  return rows;
}

/** Puts orders where those of before are; in one second in the order in which they are given. */
function exchange(rows: ApiOrder[], orders: readonly ApiOrder[]): void {
  const waiting = new Map<number, ApiOrder[]>();
  for (const order of orders) {
    const same = waiting.get(order.timestamp);
    if (same === undefined) waiting.set(order.timestamp, [order]);
    else same.push(order);
  }
  const ids = new Set(orders.map(({ entityId }) => entityId));
  for (const [index, { entityId, timestamp }] of rows.entries()) {
    if (!ids.has(entityId)) continue;
    const next = waiting.get(timestamp)?.shift();
    if (next !== undefined) rows[index] = next;
  }
}
