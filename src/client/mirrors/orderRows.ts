/**
 * Changed orders among those that are known. Rows say the second of their block and not their place
 * in it: what was known stays in its place, and what is new comes in the order of its frame.
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
  const rows = [...known];
  const fresh: ApiOrder[] = [];
  for (const order of changed) {
    const at = rows.findIndex(({ entityId }) => entityId === order.entityId);
    const same = rows[at]?.timestamp === order.timestamp;
    if (at >= 0 && same) rows[at] = order;
    else {
      if (at >= 0) rows.splice(at, 1);
      if (order.timestamp > floor || order.timestamp === rows[0]?.timestamp) fresh.push(order);
    }
  }
  let after = 0;
  for (const order of fresh) {
    const at = rows.findIndex(
      ({ timestamp }, index) => index >= after && timestamp <= order.timestamp,
    );
    const place = at < 0 ? rows.length : at;
    rows.splice(place, 0, order);
    after = place + 1;
  }
  return rows;
}
