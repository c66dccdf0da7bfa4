/**
 * Decides the executor's next step for one pool: a pure function of the pool, its open orders and
 * the time, so that any node at any moment, after a restart or a roll-back, decides the same.
 *
 * It takes the orders once, in the order in which the chain placed them, each against the pool as
 * the previous fills left it: a follower reads the fills back like that. An order that cannot fill
 * now is skipped and blocks no other. Source: onchain.md, sections Executor and Lifecycle.
 */
import type { OutputRef } from '../../cardano/codec/output.ts';
import type { Value } from '../../cardano/codec/value.ts';
import type { Exchange } from '../../engine/market/exchange.ts';
import { batchIncomeLovelace, type FeeParameters } from '../../engine/market/fees.ts';
import { fillOrder, type OrderTerms } from '../../engine/market/order.ts';
import { type AmmPool, type PoolState, reachedCap } from '../../engine/market/pool.ts';

/** Where the chain placed the order. */
interface Placement {
  readonly slot: number;
  readonly txIndex: number;
  readonly outputIndex: number;
}

/** A recognised order for this pool's token that stands in a block and is not spent. */
export interface OpenOrder extends OrderTerms {
  readonly ref: OutputRef;
  readonly placed: Placement;
  readonly feeLovelace: bigint;
  readonly depositLovelace: bigint;
  /** Unbounded, as in the datum: the user chose it. */
  readonly refundAfterMs: bigint;
  /** Where fill and refund are paid. */
  readonly redeemerAddress: string;
  readonly value: Value;
}

export interface Fill {
  readonly order: OpenOrder;
  readonly exchange: Exchange;
}

/**
 * One transaction: fills, or refunds. A pool trades beside no other script than the orders that it
 * fills, so refunds go in a transaction of their own, which does not spend the pool.
 */
export interface Batch {
  /** In the order in which they apply. */
  readonly fills: readonly Fill[];
  readonly refunds: readonly OpenOrder[];
  /** The pool after it. */
  readonly next: PoolState;
  /** Fees that the orders pay to the fee address, before the network fee. */
  readonly incomeLovelace: bigint;
  /** Earliest lower bound of the transaction's validity; null without refunds. */
  readonly validFromMs: bigint | null;
}

export type NextStep =
  /** The cap is reached: the curve accepts nothing else. */
  | { readonly step: 'graduate' }
  /** The creator's share is large enough to be paid out. */
  | { readonly step: 'collect'; readonly owedLovelace: bigint }
  | { readonly step: 'batch'; readonly batch: Batch }
  /** Nothing to do until the pool or its orders change, or a refund is due (null: never). */
  | { readonly step: 'wait'; readonly untilMs: bigint | null };

export const MAX_ORDERS = 16;

/** Steps that fail separately and are tried again separately. */
export type StepKind = 'fill' | 'refund' | 'graduate' | 'collect';

const NO_STEPS: ReadonlySet<StepKind> = new Set();
const NO_ORDERS: ReadonlySet<OpenOrder> = new Set();

export interface StepInput {
  readonly pool: PoolState;
  readonly orders: readonly OpenOrder[];
  readonly fees: FeeParameters;
  /** Start of the current slot: a lower bound after it would not be valid yet. */
  readonly nowMs: number;
  /** Steps that failed and wait; the others go on. Due orders that cannot fill are refunded. */
  readonly paused?: ReadonlySet<StepKind>;
  /** Orders that failed by themselves and wait; those behind them go on. */
  readonly skipped?: {
    readonly fill: ReadonlySet<OpenOrder>;
    readonly refund: ReadonlySet<OpenOrder>;
  };
  /** A due collection was postponed for enough batches: it comes next. */
  readonly isCollectNext?: boolean;
  /** Per batch: `MAX_ORDERS`, or fewer where the builder met a transaction's limits. */
  readonly maxOrders: number;
}

/** Graduates when due, then fills and refunds; a due collection where nothing else is to do. */
export function nextStep(input: StepInput): NextStep {
  const { pool, fees, nowMs, paused = NO_STEPS, isCollectNext = false } = input;
  if (isFull(pool) && !paused.has('graduate')) return { step: 'graduate' };
  const isCollectDue = owesCreator(pool, fees) && !paused.has('collect');
  const collect = { step: 'collect', owedLovelace: isCollectDue ? pool.owed : 0n } as const;
  if (isCollectDue && isCollectNext) return collect;
  const batch = matchOrders(input);
  if (batch.fills.length + batch.refunds.length > 0) return { step: 'batch', batch };
  if (isCollectDue) return collect;
  return { step: 'wait', untilMs: firstRefundMs(input.orders, BigInt(nowMs)) };
}

/** Whether the creator's share of an AMM pool is large enough to be paid out. */
export function owesCreator(
  pool: PoolState,
  { collectFromLovelace }: FeeParameters,
): pool is AmmPool {
  return pool.venue === 'AMM' && pool.owed >= collectFromLovelace;
}

/** The curve is full: it accepts only graduation. */
function isFull(pool: PoolState): boolean {
  return pool.venue === 'CURVE' && reachedCap(pool);
}

/** The next transaction, by the first order that can be filled or refunded; empty without one. */
export function matchOrders({
  pool,
  orders,
  fees,
  nowMs,
  maxOrders,
  paused = NO_STEPS,
  skipped = { fill: NO_ORDERS, refund: NO_ORDERS },
}: StepInput): Batch {
  const now = BigInt(nowMs);
  const mayFill = !paused.has('fill') && !isFull(pool);
  const fills: Fill[] = [];
  const refunds: OpenOrder[] = [];
  let state = pool;
  for (const order of orders.toSorted(comparePlacements)) {
    if (fills.length + refunds.length >= maxOrders) break;
    // The fill that reached the cap is followed by graduation: the AMM fills the other orders.
    if (mayFill && isFull(state)) break;
    const exchange = mayFill && !skipped.fill.has(order) ? fillOrder(state, fees, order) : null;
    if (exchange !== null && refunds.length === 0) {
      fills.push({ order, exchange });
      state = exchange.next;
    }
    const mayRefund = !paused.has('refund') && !skipped.refund.has(order);
    const isDue = exchange === null && mayRefund && order.refundAfterMs <= now;
    if (isDue && fills.length === 0) refunds.push(order);
  }
  return { fills, refunds, next: state, ...totals(fees, fills, refunds) };
}

function totals(fees: FeeParameters, fills: readonly Fill[], refunds: readonly OpenOrder[]) {
  const filled = fills.map(({ order, exchange }) => {
    return { feeLovelace: order.feeLovelace, shares: exchange.shares };
  });
  const incomeLovelace = batchIncomeLovelace(fees, { fills: filled, refunds: refunds.length });
  const validFromMs = refunds.reduce<bigint | null>(
    (latest, { refundAfterMs }) =>
      latest === null || refundAfterMs > latest ? refundAfterMs : latest,
    null,
  );
  return { incomeLovelace, validFromMs };
}

/** Negative when `a` was placed before `b`. */
export function comparePlacements(a: OpenOrder, b: OpenOrder): number {
  return (
    a.placed.slot - b.placed.slot ||
    a.placed.txIndex - b.placed.txIndex ||
    a.placed.outputIndex - b.placed.outputIndex
  );
}

/** The earliest refund that is still to come. */
function firstRefundMs(orders: readonly OpenOrder[], now: bigint): bigint | null {
  return orders.reduce<bigint | null>((first, { refundAfterMs }) => {
    if (refundAfterMs <= now) return first;
    return first === null || refundAfterMs < first ? refundAfterMs : first;
  }, null);
}
