/**
 * The executor's decisions, checked by a follower that reads them back. Replay: `{ seed, path }`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  comparePlacements,
  MAX_ORDERS,
  matchOrders,
  nextStep,
  type OpenOrder,
  type StepInput,
  type StepKind,
} from '../../../src/chain/executor/matching.ts';
import { COST_DENOMINATOR, costNumerator } from '../../../src/engine/market/curve.ts';
import { DEFAULT_FEES } from '../../../src/engine/market/fees.ts';
import { fillOrder } from '../../../src/engine/market/order.ts';
import { type PoolState, reachedCap, soldOf } from '../../../src/engine/market/pool.ts';
import { AMM_AT_GRADUATION, curveAt } from '../../engine/market/pools.ts';
import { productHolds } from '../../engine/market/validatorCheck.ts';
import { anySituation, NOW_MS, orderOf, PLAIN, quotedOrder } from './orders.ts';

const CURVE = curveAt(200_000_000n, 835_771_813n);
const ANY_PRICE = { numerator: 1n, denominator: 10n ** 30n };
const NO_PRICE = { numerator: 10n ** 30n, denominator: 1n };

function at(pool: PoolState, orders: readonly OpenOrder[], nowMs = NOW_MS): StepInput {
  return { pool, orders, fees: DEFAULT_FEES, nowMs, maxOrders: MAX_ORDERS };
}

function filled(situation: StepInput): number[] {
  return matchOrders(situation).fills.map(({ order }) => order.placed.outputIndex);
}

test('orders fill in the order of their placement, however they are handed over', () => {
  const orders = [0, 1, 2, 3].map((n) => quotedOrder(n, CURVE, 'BUY', 5_000_000n));
  const sideways = [2, 3, 0, 1].flatMap((n) => orders[n] ?? []);
  assert.deepEqual(filled(at(CURVE, sideways)), [0, 1, 2, 3]);
  const [first, second] = matchOrders(at(CURVE, sideways)).fills;
  assert.ok(first !== undefined && second !== undefined);
  assert.equal(first.exchange.outputAmount, 663_317n);
  assert.ok(second.exchange.outputAmount < 663_317n);
});

test('placement is the slot, then the transaction, then the output', () => {
  const placements = [
    { slot: 7, txIndex: 9, outputIndex: 3 },
    { slot: 8, txIndex: 2, outputIndex: 5 },
    { slot: 8, txIndex: 10, outputIndex: 0 },
    { slot: 8, txIndex: 10, outputIndex: 1 },
  ];
  const orders = placements.map((placed, n) => {
    return { ...quotedOrder(n, CURVE, 'BUY', 5_000_000n), placed };
  });
  for (const handedOver of [orders.toReversed(), [2, 0, 3, 1].flatMap((n) => orders[n] ?? [])]) {
    const { fills } = matchOrders(at(CURVE, handedOver));
    assert.deepEqual(
      fills.map(({ order }) => order),
      orders,
    );
  }
});

test('an order that cannot fill blocks no later order and is tried again', () => {
  const waiting = orderOf(0, { ...PLAIN, kind: 'buy', amount: 5_000_000n, worstPrice: NO_PRICE });
  // Wants the tokens that the sell behind it makes cheaper.
  const worstPrice = { numerator: 670_000n, denominator: 5_000_000n };
  const hopeful = orderOf(1, { ...PLAIN, kind: 'buy', amount: 5_000_000n, worstPrice });
  const sell = quotedOrder(2, CURVE, 'SELL', 30_000_000n);
  const batch = matchOrders(at(CURVE, [waiting, hopeful, sell]));
  assert.deepEqual(
    batch.fills.map(({ order }) => order),
    [sell],
  );
  assert.deepEqual(filled(at(batch.next, [waiting, hopeful])), [1]);
});

test('no more than 16 orders go into a batch, all of the kind of the first that can move', () => {
  const due = { ...PLAIN, refundAfterMs: BigInt(NOW_MS) };
  const orders = Array.from({ length: 40 }, (_, n) =>
    n % 2 === 0
      ? quotedOrder(n, AMM_AT_GRADUATION, 'BUY', 5_000_000n)
      : orderOf(n, { ...due, kind: 'sell', amount: 50_000n, worstPrice: NO_PRICE }),
  );
  const first = matchOrders(at(AMM_AT_GRADUATION, orders));
  assert.deepEqual([first.fills.length, first.refunds.length], [16, 0]);
  assert.equal(first.incomeLovelace, 16n * (1_100_000n + 7_500n));
  assert.equal(first.validFromMs, null);
  const second = matchOrders(at(AMM_AT_GRADUATION, orders.slice(1)));
  assert.deepEqual([second.fills.length, second.refunds.length], [0, 16]);
  assert.equal(second.incomeLovelace, 16n * 600_000n);
  assert.equal(second.validFromMs, BigInt(NOW_MS));
  assert.equal(second.next, AMM_AT_GRADUATION);
});

test('refunds that the node refuses do not keep the orders behind them from filling', () => {
  const due = { ...PLAIN, refundAfterMs: BigInt(NOW_MS) };
  const dead = orderOf(0, { ...due, kind: 'buy', amount: 5_000_000n, worstPrice: NO_PRICE });
  const situation = at(CURVE, [dead, quotedOrder(1, CURVE, 'BUY', 5_000_000n)]);
  assert.deepEqual(matchOrders(situation).refunds, [dead]);
  assert.deepEqual(filled({ ...situation, paused: new Set(['refund' as const]) }), [1]);
});

test('an order is refunded from its moment on, not before, and only if it cannot fill', () => {
  const dead = orderOf(0, { ...PLAIN, kind: 'buy', amount: 5_000_000n, worstPrice: NO_PRICE });
  const alive = quotedOrder(1, CURVE, 'BUY', 5_000_000n);
  const dueMs = Number(PLAIN.refundAfterMs);
  assert.deepEqual(nextStep(at(CURVE, [dead], dueMs - 1)), {
    step: 'wait',
    untilMs: PLAIN.refundAfterMs,
  });
  const { refunds } = matchOrders(at(CURVE, [dead, alive], dueMs));
  assert.deepEqual(refunds, [dead]);
  const { fills, next } = matchOrders(at(CURVE, [alive], dueMs));
  assert.deepEqual([fills[0]?.order, fills.length], [alive, 1]);
  const alone = nextStep(at(CURVE, [dead], dueMs));
  assert.ok(alone.step === 'batch');
  assert.equal(alone.batch.next, CURVE);
  assert.notEqual(next, CURVE);
  assert.deepEqual(nextStep(at(CURVE, [], dueMs)), { step: 'wait', untilMs: null });
});

test('waits until the first refund is due, and a batch of refunds is valid from the last', () => {
  const dead = { ...PLAIN, kind: 'buy', amount: 5_000_000n, worstPrice: NO_PRICE } as const;
  const dues = [3n, 1n, 2n].map((later) => BigInt(NOW_MS) + later);
  const orders = dues.map((refundAfterMs, n) => orderOf(n, { ...dead, refundAfterMs }));
  const wait = { step: 'wait', untilMs: BigInt(NOW_MS) + 1n };
  assert.deepEqual(nextStep(at(CURVE, orders)), wait);
  const batch = matchOrders(at(CURVE, orders, NOW_MS + 5));
  assert.deepEqual(batch.refunds, orders);
  assert.equal(batch.validFromMs, BigInt(NOW_MS) + 3n);
});

test('a buy that would pass the cap waits while smaller ones behind it fill', () => {
  const near = { ...CURVE, thresholdLovelace: CURVE.x + 50_000_000n };
  const terms = { ...PLAIN, kind: 'buy', worstPrice: ANY_PRICE } as const;
  const large = orderOf(0, { ...terms, amount: 60_000_000n });
  const small = orderOf(1, { ...terms, amount: 5_000_000n });
  assert.deepEqual(filled(at(near, [large, small])), [1]);
});

test('the fill that reaches the cap ends the batch, and then only graduation is left', () => {
  const near = { ...CURVE, thresholdLovelace: CURVE.x + 5_000_000n };
  const terms = { ...PLAIN, worstPrice: ANY_PRICE, refundAfterMs: 0n };
  const last = orderOf(0, { ...terms, kind: 'buy', amount: 5_500_000n });
  const sell = orderOf(1, { ...terms, kind: 'sell', amount: 1_000_000n });
  const { fills, refunds, next } = matchOrders(at(near, [last, sell]));
  assert.deepEqual([fills.length, refunds.length], [1, 0]);
  assert.deepEqual(nextStep(at(next, [sell])), { step: 'graduate' });
});

test('from 5 ADA on the creator is paid when nothing else is to do, or after many batches', () => {
  const order = quotedOrder(0, AMM_AT_GRADUATION, 'BUY', 5_000_000n);
  const owing = (owed: bigint, more: Partial<StepInput> = {}) => {
    return nextStep({ ...at({ ...AMM_AT_GRADUATION, owed }, [order]), ...more });
  };
  const collect = { step: 'collect', owedLovelace: 5_000_000n };
  assert.equal(owing(4_999_999n, { isCollectNext: true }).step, 'batch');
  assert.equal(owing(5_000_000n).step, 'batch');
  assert.deepEqual(owing(5_000_000n, { orders: [] }), collect);
  assert.deepEqual(owing(5_000_000n, { isCollectNext: true }), collect);
});

test('a step that is paused blocks no other', () => {
  const dead = orderOf(0, { ...PLAIN, kind: 'buy', amount: 5_000_000n, worstPrice: NO_PRICE });
  const alive = quotedOrder(1, AMM_AT_GRADUATION, 'BUY', 5_000_000n);
  const owing = { ...AMM_AT_GRADUATION, owed: 9_000_000n };
  const afterDue = Number(PLAIN.refundAfterMs);
  const step = (pool: PoolState, orders: OpenOrder[], ...paused: StepKind[]) => {
    const more = { paused: new Set(paused), isCollectNext: true };
    const next = nextStep({ ...at(pool, orders, afterDue), ...more });
    if (next.step !== 'batch') return next.step;
    return next.batch.fills.length > 0 ? 'fill' : 'refund';
  };
  assert.equal(step(owing, [dead, alive]), 'collect');
  assert.equal(step(owing, [dead, alive], 'collect'), 'refund');
  assert.equal(step(owing, [dead, alive], 'collect', 'refund'), 'fill');
  assert.equal(step(owing, [dead], 'collect', 'refund'), 'wait');
  assert.equal(step(owing, [dead], 'refund', 'fill'), 'collect');
  const full = { ...CURVE, thresholdLovelace: CURVE.x };
  assert.equal(step(full, [dead, alive]), 'graduate');
  assert.equal(step(full, [dead, alive], 'graduate'), 'refund');
  assert.equal(step(full, [], 'graduate'), 'wait');
});

test('an order that failed alone blocks none behind it, and is refunded when due', () => {
  const [bad, good] = [0, 1].map((n) => quotedOrder(n, CURVE, 'BUY', 5_000_000n));
  assert.ok(bad !== undefined && good !== undefined);
  const skipped = { fill: new Set([bad]), refund: new Set<OpenOrder>() };
  assert.deepEqual(filled({ ...at(CURVE, [bad, good]), skipped }), [1]);
  const due = { ...at(CURVE, [bad, good], Number(PLAIN.refundAfterMs)), skipped };
  assert.deepEqual(matchOrders(due).refunds, [bad]);
  const both = { fill: new Set([bad]), refund: new Set([bad]) };
  assert.deepEqual(filled({ ...due, skipped: both }), [1]);
});

test('orders placed on the curve fill on the AMM where their worst price holds', () => {
  const terms = { ...PLAIN, kind: 'buy', amount: 5_000_000n } as const;
  const fair = orderOf(0, {
    ...terms,
    worstPrice: { numerator: 71_486n, denominator: 5_000_000n },
  });
  const dear = orderOf(1, {
    ...terms,
    worstPrice: { numerator: 71_487n, denominator: 5_000_000n },
  });
  assert.deepEqual(filled(at(AMM_AT_GRADUATION, [fair])), [0]);
  assert.deepEqual(filled(at(AMM_AT_GRADUATION, [dear])), []);
});

/** Conditions for one order that is left alone, filled or refunded. */
function judge(situation: StepInput): { pool: PoolState; moved: number } {
  const { orders, maxOrders, nowMs } = situation;
  const { fills, refunds } = matchOrders(situation);
  const fillOf = new Map(fills.map(({ order, exchange }) => [order, exchange]));
  let pool = situation.pool;
  let moved = 0;
  let kind: 'fills' | 'refunds' | null = null;
  for (const order of orders.toSorted(comparePlacements)) {
    const isOver = moved === maxOrders || (pool.venue === 'CURVE' && reachedCap(pool));
    const possible = isOver ? null : fillOrder(pool, DEFAULT_FEES, order);
    const isDue = !isOver && possible === null && order.refundAfterMs <= BigInt(nowMs);
    if (possible !== null) kind ??= 'fills';
    if (isDue) kind ??= 'refunds';
    assert.deepEqual(fillOf.get(order) ?? null, kind === 'fills' ? possible : null);
    assert.equal(refunds.includes(order), isDue && kind === 'refunds');
    if (possible !== null && kind === 'fills') pool = possible.next;
    if (kind === 'refunds' ? isDue : possible !== null) moved += 1;
  }
  assert.equal(fills.length + refunds.length, moved);
  return { pool, moved };
}

test('each order fills if it can, or is refunded if it is due, as the first that moves', () => {
  let moves = 0;
  fc.assert(
    fc.property(anySituation, (situation) => {
      const { pool, moved } = judge(situation);
      assert.deepEqual(matchOrders(situation).next, pool);
      moves += moved;
    }),
    { numRuns: 1_000, includeErrorInReport: true },
  );
  assert.ok(moves > 3_000, `${moves} orders moved`);
});

test('what a batch does to the pool is what the validators let through', () => {
  fc.assert(
    fc.property(anySituation, (situation) => {
      const { pool } = situation;
      const { next } = matchOrders(situation);
      if (pool.venue === 'AMM') {
        assert.ok(next.venue === 'AMM' && next.owed >= pool.owed);
        assert.ok(productHolds(pool, next, DEFAULT_FEES.lpFeePer10k));
        return;
      }
      assert.ok(next.venue === 'CURVE');
      const numerator = (state: typeof pool) => costNumerator(state.curve, soldOf(state));
      assert.ok((next.x - pool.x) * COST_DENOMINATOR >= numerator(next) - numerator(pool));
      const cap = pool.thresholdLovelace + 3_000_000n;
      const over = next.x + 3_000_000n - cap;
      assert.ok(over * 1_000n <= cap || over <= 2_000_000n);
    }),
    { numRuns: 1_000, includeErrorInReport: true },
  );
});
