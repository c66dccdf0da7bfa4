/** Plans: conserved, paired, and paying exactly the fee table. Replay: `{ seed, path }`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { OutputRef } from '../../../src/cardano/codec/output.ts';
import type { Value } from '../../../src/cardano/codec/value.ts';
import type { StepOutput } from '../../../src/cardano/transactions/paired.ts';
import {
  type BatchRequest,
  batchStep,
  type FundedStep,
  type PoolOutput,
} from '../../../src/chain/executor/fundedStep.ts';
import { type Batch, matchOrders } from '../../../src/chain/executor/matching.ts';
import { DEFAULT_FEES } from '../../../src/engine/market/fees.ts';
import { minimumOutput } from '../../../src/engine/market/order.ts';
import type { PoolState } from '../../../src/engine/market/pool.ts';
import { AMM_AT_GRADUATION, curveAt } from '../../engine/market/pools.ts';
import { anySituation, NFT, NOW_MS, orderOf, PLAIN, quotedOrder, refOf, TOKEN } from './orders.ts';

const CURVE = curveAt(200_000_000n, 835_771_813n);
const FEE_ADDRESS = 'addr_fee';
const FLOAT = { ref: refOf(7_777), lovelace: 50_000_000n };

function poolOutput(state: PoolState): PoolOutput {
  return { ref: refOf(1_000_003), address: 'addr_pool', nft: NFT, token: TOKEN, state };
}

function requestOf(state: PoolState, batch: Batch, more: Partial<BatchRequest> = {}): BatchRequest {
  return {
    batch,
    pool: poolOutput(state),
    fees: DEFAULT_FEES,
    feeAddress: FEE_ADDRESS,
    networkFeeLovelace: 400_000n,
    funding: [FLOAT],
    ...more,
  };
}

function planned(request: BatchRequest): FundedStep {
  const plan = batchStep(request);
  assert.ok(plan.outcome === 'funded', plan.outcome);
  return plan;
}

function batchOf(pool: PoolState, orders: Parameters<typeof matchOrders>[0]['orders']): Batch {
  return matchOrders({ pool, orders, fees: DEFAULT_FEES, nowMs: NOW_MS, maxOrders: 16 });
}

const kindsOf = ({ outputs }: FundedStep) => outputs.map(({ kind }) => kind);

function held(outputs: readonly { readonly value: Value }[], asset: string): bigint {
  return outputs.reduce(
    (sum, { value }) => sum + (asset === '.' ? value.lovelace : (value.assets.get(asset) ?? 0n)),
    0n,
  );
}

function isBefore(a: OutputRef, b: OutputRef): boolean {
  return a.txHash < b.txHash || (a.txHash === b.txHash && a.index < b.index);
}

test('one small fill needs funding, whose output is the fee output', () => {
  const order = quotedOrder(0, CURVE, 'BUY', 5_000_000n);
  const plan = planned(requestOf(CURVE, batchOf(CURVE, [order])));
  assert.equal(plan.inputs.length, 3);
  assert.deepEqual(kindsOf(plan).toSorted(), ['fee', 'payment', 'pool']);
  const at = plan.inputs.findIndex(({ redeemer }) => redeemer === null);
  assert.deepEqual(plan.inputs[at]?.ref, FLOAT.ref);
  const lovelace = 50_000_000n + 1_100_000n + 50_000n - 400_000n;
  assert.deepEqual(plan.outputs[at], {
    kind: 'fee',
    address: FEE_ADDRESS,
    value: { lovelace, assets: new Map() },
  });
});

test('two fills stand alone: the fee output is last', () => {
  const orders = [
    quotedOrder(0, CURVE, 'BUY', 5_000_000n),
    quotedOrder(1, CURVE, 'SELL', 1_000_000n),
  ];
  const plan = planned(requestOf(CURVE, batchOf(CURVE, orders)));
  assert.equal(plan.inputs.length, 3);
  assert.equal(plan.outputs.length, 4);
  assert.equal(plan.outputs.at(-1)?.kind, 'fee');
});

test('a fee output of exactly the minimum needs no funding', () => {
  const batch = batchOf(CURVE, [quotedOrder(0, CURVE, 'BUY', 50_000_000n)]);
  const networkFeeLovelace = batch.incomeLovelace - 1_200_000n;
  assert.equal(networkFeeLovelace, 400_000n);
  assert.equal(planned(requestOf(CURVE, batch, { networkFeeLovelace })).inputs.length, 2);
  const more = { networkFeeLovelace: networkFeeLovelace + 1n };
  assert.equal(planned(requestOf(CURVE, batch, more)).inputs.length, 3);
});

test('without sufficient funding the plan names the missing lovelace', () => {
  const batch = batchOf(CURVE, [quotedOrder(0, CURVE, 'BUY', 5_000_000n)]);
  const request = { funding: [{ ...FLOAT, lovelace: 449_999n }] };
  const missing = { outcome: 'funding needed', missingLovelace: 450_000n };
  assert.deepEqual(batchStep(requestOf(CURVE, batch, request)), missing);
  assert.deepEqual(batchStep(requestOf(CURVE, batch, { funding: [] })), missing);
  const enough = { funding: [...request.funding, { ref: refOf(9), lovelace: 450_000n }] };
  const plan = planned(requestOf(CURVE, batch, enough));
  assert.equal(plan.outputs.find(({ kind }) => kind === 'fee')?.value.lovelace, 1_200_000n);
});

test('a refund gives the whole value back but 0.6 ADA, and leaves the pool alone', () => {
  const worstPrice = { numerator: 10n ** 30n, denominator: 1n };
  const due = { ...PLAIN, refundAfterMs: BigInt(NOW_MS) - 5n, worstPrice };
  const orders = [
    orderOf(0, { ...due, kind: 'buy', amount: 5_000_000n }),
    orderOf(1, { ...due, kind: 'sell', amount: 1_000_000n }),
    orderOf(2, { ...due, kind: 'sell', amount: 2_000_000n }),
  ];
  const plan = planned(requestOf(CURVE, batchOf(CURVE, orders), { networkFeeLovelace: 300_000n }));
  assert.equal(plan.validFromMs, BigInt(NOW_MS) - 5n);
  assert.deepEqual(kindsOf(plan), ['refund', 'refund', 'refund', 'fee']);
  const paid = (n: number) =>
    plan.outputs[plan.inputs.findIndex(({ ref }) => ref === orders[n]?.ref)]?.value;
  assert.deepEqual(paid(0), { lovelace: 7_000_000n, assets: new Map() });
  assert.deepEqual(paid(1), { lovelace: 2_000_000n, assets: new Map([[TOKEN, 1_000_000n]]) });
  assert.equal(plan.outputs.at(-1)?.value.lovelace, 1_500_000n);
});

test('an AMM pool keeps what it owes the creator on top of its reserve', () => {
  const orders = [
    quotedOrder(0, AMM_AT_GRADUATION, 'BUY', 5_000_000n),
    quotedOrder(1, AMM_AT_GRADUATION, 'BUY', 5_000_000n),
  ];
  const plan = planned(requestOf(AMM_AT_GRADUATION, batchOf(AMM_AT_GRADUATION, orders)));
  const pool = plan.outputs.find(({ kind }) => kind === 'pool');
  assert.equal(pool?.value.lovelace, 18_191_400_000n + 2n * (4_942_500n + 50_000n));
  assert.equal(plan.outputs.at(-1)?.value.lovelace, 2n * (1_100_000n + 7_500n) - 400_000n);
});

test('spending one output twice is a fault of the program', () => {
  const order = quotedOrder(0, CURVE, 'BUY', 5_000_000n);
  const batch = batchOf(CURVE, [order, { ...order }]);
  assert.throws(() => batchStep(requestOf(CURVE, batch)), /no input is spent twice/);
});

test('a value that is not conserved is a fault of the program', () => {
  const batch = batchOf(CURVE, [quotedOrder(0, CURVE, 'BUY', 5_000_000n)]);
  const wrong = { ...batch, incomeLovelace: batch.incomeLovelace + 1n };
  assert.throws(() => batchStep(requestOf(CURVE, wrong)), /-1 lovelace off/);
  const sell = quotedOrder(1, CURVE, 'SELL', 1_000_000n);
  const short = { ...sell, value: { ...sell.value, assets: new Map([[TOKEN, 999_999n]]) } };
  assert.throws(() => batchStep(requestOf(CURVE, batchOf(CURVE, [short]))), /is off by -1/);
});

/** The conditions of the order validator for a payment or a refund. */
function accepted(batch: Batch, ref: OutputRef, output: StepOutput): void {
  const fill = batch.fills.find(({ order }) => order.ref === ref);
  if (fill === undefined) {
    const order = batch.refunds.find((refund) => refund.ref === ref);
    assert.ok(order !== undefined && output.kind === 'refund');
    assert.equal(output.address, order.redeemerAddress);
    assert.equal(output.value.lovelace, order.value.lovelace - 600_000n);
    assert.deepEqual(output.value.assets, order.value.assets);
    return;
  }
  const { order, exchange } = fill;
  assert.deepEqual([output.kind, output.address], ['payment', order.redeemerAddress]);
  const { lovelace, assets } = output.value;
  const isBuy = order.kind === 'buy';
  const got = isBuy ? (assets.get(TOKEN) ?? 0n) : lovelace - order.depositLovelace;
  assert.equal(got, exchange.outputAmount);
  assert.ok(got >= minimumOutput(order.amount, order.worstPrice));
  assert.equal(lovelace, order.depositLovelace + (isBuy ? 0n : got));
  assert.equal(assets.size, isBuy ? 1 : 0);
}

/** The fee table, added up order by order. */
function feesOf({ fills, refunds }: Batch): bigint {
  const shares = fills.reduce((sum, { order, exchange }) => {
    const coin = order.kind === 'buy' ? order.amount : exchange.poolCoinLovelace;
    const ofCoin = exchange.next.venue === 'CURVE' ? coin / 100n : (coin * 15n) / 10_000n;
    return sum + order.feeLovelace + ofCoin;
  }, 0n);
  return shares + 600_000n * BigInt(refunds.length);
}

function checkPlan(request: BatchRequest, plan: FundedStep): void {
  const { batch, networkFeeLovelace } = request;
  const { inputs, outputs } = plan;
  for (const asset of ['.', TOKEN, NFT]) {
    const fee = asset === '.' ? networkFeeLovelace : 0n;
    assert.equal(held(inputs, asset), held(outputs, asset) + fee);
  }
  const isFloat = inputs.some(({ redeemer }) => redeemer === null);
  assert.equal(outputs.length, inputs.length + (isFloat ? 0 : 1));
  assert.equal(outputs.filter(({ kind }) => kind === 'fee').length, 1);
  inputs.forEach(({ ref, redeemer }, index) => {
    const before = inputs[index - 1];
    assert.ok(before === undefined || isBefore(before.ref, ref));
    const output = outputs[index];
    assert.ok(output !== undefined);
    if (redeemer === null) assert.equal(output.kind, 'fee');
    else assert.equal(redeemer.index, index);
    if (redeemer?.kind === 'trade') assert.equal(output.kind, 'pool');
    if (redeemer?.kind === 'execute' || redeemer?.kind === 'refund') {
      assert.equal(output.kind, redeemer.kind === 'execute' ? 'payment' : 'refund');
      accepted(batch, ref, output);
    }
  });
  const count = batch.fills.length + batch.refunds.length + (batch.fills.length > 0 ? 1 : 0);
  assert.equal(inputs.length, count + (isFloat ? 1 : 0));
  const fee = outputs.find(({ kind }) => kind === 'fee')?.value.lovelace ?? 0n;
  assert.equal(fee, feesOf(batch) - networkFeeLovelace + (isFloat ? FLOAT.lovelace : 0n));
  assert.ok(fee >= 1_200_000n);
  assert.equal(isFloat, feesOf(batch) - networkFeeLovelace < 1_200_000n);
}

test('every plan conserves value, pairs inputs and outputs and pays the fee table', () => {
  let plans = 0;
  fc.assert(
    fc.property(anySituation, fc.bigInt(0n, 2_000_000n), (situation, networkFeeLovelace) => {
      const batch = matchOrders(situation);
      if (batch.fills.length + batch.refunds.length === 0) return;
      const request = requestOf(situation.pool, batch, { networkFeeLovelace });
      checkPlan(request, planned(request));
      plans += 1;
    }),
    { numRuns: 1_500, includeErrorInReport: true },
  );
  assert.ok(plans > 1_000, `${plans} plans`);
});
