/**
 * An order as clients see it. Its status is a function of what the chain (C) and the mempool (M)
 * show of it, here and nowhere else. Source: protocol.md section 2, ApiOrder.
 */
import { COIN } from './asset.ts';
import type { PlacedOrder, Reserves } from './events.ts';
import { minimumOutput } from './order.ts';

type Confirmed = 'none' | 'open' | 'executed' | 'refunded';
type InMempool = 'none' | 'placing' | 'executing' | 'refunding';

export const ORDER_STATUSES = [
  'Pending',
  'Evaluated',
  'Refunded',
  'Dropped',
  'MempoolPending',
  'MempoolEvaluated',
  'MempoolRefunded',
] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

export function orderStatus(confirmed: Confirmed, inMempool: InMempool): OrderStatus {
  if (confirmed === 'executed') return 'Evaluated';
  if (confirmed === 'refunded') return 'Refunded';
  if (inMempool === 'executing') return 'MempoolEvaluated';
  if (inMempool === 'refunding') return 'MempoolRefunded';
  if (confirmed === 'open') return 'Pending';
  return inMempool === 'placing' ? 'MempoolPending' : 'Dropped';
}

/** How an order ended, or would end if its mempool transaction came into a block. */
interface OrderEnd {
  readonly tx: string;
  readonly kind: 'executed' | 'refunded' | 'cancelled';
  /** Of the output asset, by that transaction. */
  readonly received: string;
  /** Of the input asset, what came back with it; absent: nothing. */
  readonly unspent?: string | undefined;
}

/** What was executed of it in blocks before it ended. */
interface OrderParts {
  /** Newest of them. */
  readonly tx: string;
  /** Of the input asset, in all. */
  readonly amount: bigint;
  /** Of the output asset, in all. */
  readonly received: bigint;
}

export interface OrderFacts {
  readonly order: PlacedOrder;
  readonly confirmed: 'none' | 'open' | 'ended';
  /** Placed in a pending transaction. */
  readonly isPlacing: boolean;
  readonly end: OrderEnd | null;
  /** null: none was executed in parts. */
  readonly parts: OrderParts | null;
  /** The newest transaction of the mempool that executes a part of it; null: none does. */
  readonly pendingPartTx: string | null;
  /** Of the block that ended it; null before. */
  readonly endedMs: number | null;
  /** When it was placed, or first seen. */
  readonly placedMs: number;
  /** Of the fill, or where it is expected. */
  readonly venue: Reserves['venue'];
}

export type OrderView = ReturnType<typeof viewOrder>;

export function viewOrder(facts: OrderFacts) {
  const { order, end, parts, pendingPartTx, endedMs, placedMs, venue } = facts;
  const status = statusOf(facts);
  const isFilled = status === 'Evaluated';
  const spent = BigInt(order.amount) - BigInt(end?.unspent ?? '0');
  const filled = isFilled ? spent : (parts?.amount ?? 0n);
  const [from, to] = order.side === 'buy' ? [COIN, order.token] : [order.token, COIN];
  return {
    entityId: order.ref,
    beacon: order.beacon,
    from,
    fromAmount: order.amount,
    to,
    toAmount: toAmountOf(facts, status),
    filledAmount: String(filled),
    remaining: String(BigInt(order.amount) - filled),
    address: order.address,
    worstPrice: order.worstPrice,
    pendingTransactionId: order.ref.slice(0, order.ref.indexOf(':')),
    evaluatedTransactionId: end?.tx ?? pendingPartTx ?? parts?.tx ?? null,
    timestamp: seconds(placedMs),
    status,
    orderType: venue === 'AMM' ? ('CFMM' as const) : ('Spot' as const),
    pkh: order.pkh,
    venue,
    evaluatedAt: endedMs === null ? null : seconds(endedMs),
    expiresAt: order.refundAfterMs,
    refundReason: refundReasonOf(end),
  };
}

function statusOf({ confirmed, isPlacing, end }: OrderFacts): OrderStatus {
  const ending = end === null ? null : end.kind === 'executed' ? 'executed' : 'refunded';
  if (confirmed === 'ended') return orderStatus(ending ?? 'refunded', 'none');
  const waiting = ending === 'executed' ? 'executing' : 'refunding';
  return orderStatus(confirmed, ending === null ? (isPlacing ? 'placing' : 'none') : waiting);
}

/** What was received; while that is nothing and it is open, the least that is accepted. */
function toAmountOf({ order, end, parts }: OrderFacts, status: OrderStatus): string {
  if (status === 'Dropped') return '0';
  const received = parts?.received ?? 0n;
  if (end?.kind === 'executed') return String(received + BigInt(end.received));
  if (end !== null || received > 0n) return String(received);
  const { numerator, denominator } = order.worstPrice;
  const worst = { numerator: BigInt(numerator), denominator: BigInt(denominator) };
  return String(minimumOutput(BigInt(order.amount), worst));
}

function refundReasonOf(end: OrderEnd | null): 'cancelled' | 'expired' | null {
  if (end === null || end.kind === 'executed') return null;
  return end.kind === 'cancelled' ? 'cancelled' : 'expired';
}

function seconds(timeMs: number): number {
  return Math.floor(timeMs / 1000);
}
