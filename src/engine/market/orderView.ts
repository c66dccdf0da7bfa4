/**
 * An order as clients see it. Only this file computes its status, from its state on the chain (C)
 * and in the mempool (M). Source: protocol.md section 2, ApiOrder.
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
  /** Amount of the output asset in that transaction. */
  readonly received: string;
  /** Amount of the input asset that came back; absent: nothing. */
  readonly unspent?: string | undefined;
}

/** Parts of it that were executed in blocks before it ended. */
interface OrderParts {
  /** Newest of them. */
  readonly tx: string;
  /** Sum in the input asset. */
  readonly amount: bigint;
  /** Sum in the output asset. */
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
  /** Fees that its executions in blocks paid to the executor, beside the offer. */
  readonly feeLovelace: bigint;
  /** The newest transaction of the mempool that executes a part of it; null: none does. */
  readonly pendingPartTx: string | null;
  /** Time of the block that ended it; null before. */
  readonly endedMs: number | null;
  /** When it was placed, or first seen. */
  readonly placedMs: number;
  /** Venue of the fill, or the expected one. */
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
    feeLovelace: String(facts.feeLovelace),
  };
}

function statusOf({ confirmed, isPlacing, end }: OrderFacts): OrderStatus {
  const ending = end === null ? null : end.kind === 'executed' ? 'executed' : 'refunded';
  if (confirmed === 'ended') return orderStatus(ending ?? 'refunded', 'none');
  const waiting = ending === 'executed' ? 'executing' : 'refunding';
  return orderStatus(confirmed, ending === null ? (isPlacing ? 'placing' : 'none') : waiting);
}

/** The received amount; while that is nothing and it is open, the least that is accepted. */
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
