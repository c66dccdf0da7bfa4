/** Every order's state, from the remaining blocks and the mempool (protocol.md section 2). */
import type { MarketEvent, PlacedOrder } from '../../src/engine/market/events.ts';
import type { MadeBlock } from './foldMarket.ts';

export interface Wait {
  readonly events: readonly MarketEvent[];
  readonly seenMs: number;
}

export interface Facts {
  readonly blocks: MadeBlock[];
  /** In the order in which they came. */
  readonly waiting: Map<string, Wait>;
  readonly dropped: Map<string, { order: PlacedOrder; seq: number; shownMs: number }>;
  readonly beacons: Map<string, string>;
}

interface Confirmed {
  readonly order: PlacedOrder;
  readonly placedMs: number;
  end: (Ended & { readonly atMs: number; readonly venue: string }) | null;
}

interface Ended {
  readonly tx: string;
  readonly kind: string;
  readonly received: string;
}

/** The orders of the chain by reference, and where each token trades. */
export function chainOf({ blocks }: Facts) {
  const orders = new Map<string, Confirmed>();
  const venues = new Map<string, string>();
  for (const { events, atMs } of blocks) {
    for (const event of events) {
      if (event.kind === 'launched') venues.set(event.pool.token, 'CURVE');
      else if (event.kind === 'moved') venues.set(event.token, event.to.venue);
      else if (event.kind === 'placed') {
        orders.set(event.order.ref, { order: event.order, placedMs: atMs, end: null });
      }
      const ended = endIn(event);
      const order = ended === null ? undefined : orders.get(ended.order);
      if (ended === null || order === undefined) continue;
      order.end = { ...ended, atMs, venue: venues.get(order.order.token) ?? '' };
    }
  }
  return { orders, venues };
}

function endIn(event: MarketEvent): (Ended & { readonly order: string }) | null {
  const { kind, tx } = event;
  if (kind === 'executed') return { tx, kind, received: event.received, order: event.order };
  if (kind === 'refunded' || kind === 'cancelled') {
    return { tx, kind, received: '0', order: event.order };
  }
  return null;
}

export function openRefs(facts: Facts): string[] {
  const { orders } = chainOf(facts);
  return [...orders.values()].filter(({ end }) => end === null).map(({ order }) => order.ref);
}

export function waitingRefs({ waiting }: Facts): string[] {
  return [...waiting.values()].flatMap(({ events }) =>
    events.flatMap((event) => (event.kind === 'placed' ? [event.order.ref] : [])),
  );
}

/** C, M and the table. */
function statusOf(isPlaced: boolean, end: string | null, isWaiting: boolean, waits: string | null) {
  if (end === 'executed') return 'Evaluated';
  if (end !== null) return 'Refunded';
  if (waits === 'executed') return 'MempoolEvaluated';
  if (waits !== null) return 'MempoolRefunded';
  if (isPlaced) return 'Pending';
  return isWaiting ? 'MempoolPending' : 'Dropped';
}

export interface Truth {
  /** Newest first. */
  readonly ledger: readonly Shown[];
  readonly mempool: readonly Shown[];
  /** Orders that were shown once and are gone, by reference. */
  readonly dropped: ReadonlyMap<string, Shown>;
}
export type Shown = ReturnType<typeof shown>;

export function truthOf(facts: Facts, horizonSeq: number): Truth {
  const { orders, venues } = chainOf(facts);
  const ends = new Map<string, Ended>();
  for (const { events } of facts.waiting.values()) {
    for (const event of events) {
      const ended = endIn(event);
      if (ended !== null) ends.set(ended.order, ended);
    }
  }
  const venueOf = (token: string) => venues.get(token) ?? 'CURVE';
  const ledger = [...orders.values()]
    .sort((a, b) => (a.order.at < b.order.at ? 1 : -1))
    .map(({ order, placedMs, end }) => {
      const now = end ?? ends.get(order.ref) ?? null;
      const status = statusOf(true, end?.kind ?? null, false, now?.kind ?? null);
      return shown(order, status, now, placedMs, end?.venue ?? venueOf(order.token), end?.atMs);
    });
  const waiting = [...facts.waiting.values()].toReversed().flatMap(({ events, seenMs }) =>
    events
      .flatMap((event) => (event.kind === 'placed' ? [event.order] : []))
      .toReversed()
      .map((order) => ({ order, seenMs })),
  );
  const mempool = waiting
    .filter(({ order }) => !orders.has(order.ref))
    .map(({ order, seenMs }) => {
      const end = ends.get(order.ref) ?? null;
      const status = statusOf(false, null, true, end?.kind ?? null);
      return shown(order, status, end, seenMs, venueOf(order.token));
    });
  const there = new Set([...ledger, ...mempool].map(({ entityId }) => entityId));
  const dropped = [...facts.dropped]
    .filter(([ref, { seq }]) => seq > horizonSeq && !there.has(ref))
    .map(([ref, { order, shownMs }]) => {
      return [ref, shown(order, 'Dropped', null, shownMs, venueOf(order.token))] as const;
    });
  return { ledger, mempool, dropped: new Map(dropped) };
}

function shown(
  order: PlacedOrder,
  status: string,
  end: Ended | null,
  placedMs: number,
  venue: string,
  endedMs?: number,
) {
  const { ref, token, amount, worstPrice } = order;
  const [worst, per] = [BigInt(worstPrice.numerator), BigInt(worstPrice.denominator)];
  const least = (BigInt(amount) * worst + per - 1n) / per;
  const reasons: Record<string, string> = { refunded: 'expired', cancelled: 'cancelled' };
  const isBuy = order.side === 'buy';
  return {
    entityId: ref,
    beacon: order.beacon,
    from: isBuy ? '.' : token,
    fromAmount: amount,
    to: isBuy ? token : '.',
    toAmount: status === 'Dropped' ? '0' : (end?.received ?? String(least)),
    filledAmount: status === 'Evaluated' ? amount : '0',
    remaining: status === 'Evaluated' ? '0' : amount,
    address: order.address,
    worstPrice,
    pendingTransactionId: ref.split(':')[0] ?? '',
    evaluatedTransactionId: end?.tx ?? null,
    timestamp: Math.floor(placedMs / 1000),
    status,
    orderType: venue === 'AMM' ? 'CFMM' : 'Spot',
    pkh: order.pkh,
    venue,
    evaluatedAt: endedMs === undefined ? null : Math.floor(endedMs / 1000),
    expiresAt: order.refundAfterMs,
    refundReason: reasons[end?.kind ?? ''] ?? null,
    feeLovelace: status === 'Evaluated' ? order.feeLovelace : '0',
  };
}
