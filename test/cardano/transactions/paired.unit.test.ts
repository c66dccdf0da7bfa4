/** The executor's steps, built and judged: batches, refunds, graduation, Collect. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import { asValue } from '../../../src/cardano/codec/value.ts';
import type { TransactionPlan } from '../../../src/cardano/transactions/plan.ts';
import { signOwn } from '../../../src/cardano/transactions/signing.ts';
import {
  batchStep,
  collectStep,
  type FundedStep,
  graduationStep,
} from '../../../src/chain/executor/fundedStep.ts';
import { matchOrders } from '../../../src/chain/executor/matching.ts';
import { graduated, type PoolState } from '../../../src/engine/market/pool.ts';
import {
  AMM_ADDRESS,
  ammWith,
  curveSold,
  float,
  type Placed,
  placed,
  poolOf,
  stepPlan,
} from './market.ts';
import { accepted } from './verdict.ts';
import {
  ADA,
  ALICE,
  BOB,
  built,
  COLLATERAL_OWNER,
  DEPLOYMENT,
  EXECUTOR,
  NOW_MS,
  outcomeOf,
  type Person,
  PLATFORM,
  person,
  refused,
} from './world.ts';

const { fees, feeAddress } = DEPLOYMENT;
const SERVER: readonly Person[] = [EXECUTOR, PLATFORM, COLLATERAL_OWNER];
const LAST = { slot: 11, txIndex: 0, outputIndex: 0 };
const GUESS_LOVELACE = 1_200_000n;

function batchOf(state: PoolState, orders: readonly Placed[]) {
  const pool = poolOf(state);
  const { utxo, float: reserved } = float();
  const open = orders.map(({ order }) => order);
  const batch = matchOrders({ pool: state, orders: open, fees, nowMs: NOW_MS, maxOrders: 16 });
  const request = { batch, pool: pool.output, fees, feeAddress, funding: [reserved] };
  const plan = batchStep({ ...request, networkFeeLovelace: GUESS_LOVELACE });
  assert.ok(plan.outcome === 'funded');
  const utxos = [pool.utxo, utxo, ...orders.map((each) => each.utxo)];
  const transaction = stepPlan(plan, utxos.filter(isIn(plan)), batch.next);
  return { batch, plan, transaction, usesFloat: plan.inputs.some(({ ref }) => ref === utxo.ref) };
}

/** The fee address signs where a float is spent. */
function judged(transaction: TransactionPlan): Uint8Array {
  const outcome = built(transaction);
  const hasFloat = outcome.inputs.some(({ output }) => output.address === PLATFORM.text);
  const signers = SERVER.filter((someone) => someone !== PLATFORM || hasFloat);
  const bytes = accepted(outcome, transaction, signers);
  const own = signOwn(
    outcome,
    SERVER.map(({ key }) => key),
  );
  assert.equal(
    refused(own, [...outcome.inputs, ...outcome.collateral, ...transaction.references]),
    null,
  );
  return bytes;
}

function isIn({ inputs }: FundedStep) {
  return ({ ref }: { ref: { txHash: string } }) =>
    inputs.some((input) => input.ref.txHash === ref.txHash);
}

/**
 * The outputs are the plan's, and the fee output receives exactly the rest after the network fee.
 */
function paysExactly(plan: FundedStep, bytes: Uint8Array): void {
  const made = decodeTransaction(bytes);
  assert.equal(made.outputs.length, plan.outputs.length);
  for (const [index, { kind, value, address }] of plan.outputs.entries()) {
    const output = made.outputs[index] ?? assert.fail();
    assert.equal(output.address, address);
    const spare = kind === 'fee' ? GUESS_LOVELACE - made.feeLovelace : 0n;
    assert.deepEqual(output.value, asValue(value.lovelace + spare, value.assets));
  }
}

function mixed(count: number): Placed[] {
  return Array.from({ length: count }, (_, n) => {
    const someone = person(100 + n);
    const owner = n % 2 === 0 ? someone : { ...someone, address: someone.enterprise };
    return n % 3 === 2
      ? placed(owner, 'sell', 1_000_000n, n)
      : placed(owner, 'buy', BigInt(5 + n) * ADA, n);
  });
}

for (const [venue, state, counts] of [
  ['curve', curveSold(200_000_000n), [1, 3, 16]],
  ['AMM', ammWith(18_188_400_000n, 263_536_686n, 1_000_000n), [1, 3, 12]],
] as const) {
  for (const count of counts) {
    test(`a batch of ${count} on the ${venue} fills everyone`, () => {
      const { plan, transaction, usesFloat, batch } = batchOf(state, mixed(count));
      assert.equal(batch.fills.length, count);
      assert.equal(usesFloat, plan.outputs.at(-1)?.kind !== 'fee' || count === 1);
      paysExactly(plan, judged(transaction));
    });
  }
}

test('orders that cannot fill and whose time has come are refunded apart from fills', () => {
  const late = placed(ALICE, 'buy', 5n * ADA, 0, 1_201_000);
  const dear = {
    ...late,
    order: { ...late.order, worstPrice: { numerator: 10n, denominator: 1n } },
  };
  const state = curveSold(200_000_000n);
  const { plan, transaction, batch } = batchOf(state, [dear, ...mixed(3)]);
  assert.deepEqual([batch.refunds.length, batch.fills.length], [1, 0]);
  const after = batchOf(state, [...mixed(3), { ...dear, order: { ...dear.order, placed: LAST } }]);
  assert.deepEqual([after.batch.refunds.length, after.batch.fills.length], [0, 3]);
  const bytes = judged(transaction);
  paysExactly(plan, bytes);
  assert.equal(decodeTransaction(bytes).validFromSlot, 100);
});

test('refunds alone leave the pool where it is', () => {
  const late = placed(BOB, 'sell', 5n, 0, 1_300_000);
  const { plan, transaction } = batchOf(curveSold(200_000_000n), [late]);
  assert.equal(plan.inputs.length, 2);
  const bytes = judged(transaction);
  paysExactly(plan, bytes);
  const back = decodeTransaction(bytes).outputs.find(({ address }) => address === BOB.text);
  assert.deepEqual(back?.value, asValue(2_000_000n, late.order.value.assets));
});

test('a pool graduates whole, and a float pays the network', () => {
  const state = curveSold(736_463_314n, 10_000n);
  assert.ok(state.venue === 'CURVE' && state.x >= state.thresholdLovelace);
  const pool = poolOf(state);
  const { utxo, float: reserved } = float();
  const request = { pool: pool.output, fees, feeAddress, funding: [reserved] };
  const plan = graduationStep({ ...request, networkFeeLovelace: GUESS_LOVELACE }, AMM_ADDRESS);
  assert.ok(plan.outcome === 'funded');
  const transaction = stepPlan(plan, [pool.utxo, utxo], graduated(state));
  const bytes = judged(transaction);
  paysExactly(plan, bytes);
  const amm = decodeTransaction(bytes).outputs.find(({ address }) => address === AMM_ADDRESS);
  assert.deepEqual(amm?.value, pool.utxo.output.value);
});

test('what a pool owes is paid to its creator', () => {
  const state = ammWith(18_188_400_000n, 263_536_686n, 5_000_001n);
  const pool = poolOf(state);
  const { utxo, float: reserved } = float();
  const request = { pool: pool.output, fees, feeAddress, funding: [reserved] };
  const plan = collectStep({ ...request, networkFeeLovelace: GUESS_LOVELACE }, ALICE.text);
  assert.ok(plan.outcome === 'funded');
  const paid = ammWith(18_188_400_000n, 263_536_686n, 0n);
  const transaction = stepPlan(plan, [pool.utxo, utxo], paid);
  const bytes = judged(transaction);
  paysExactly(plan, bytes);
  const { outputs } = decodeTransaction(bytes);
  assert.equal(outputs[2]?.address, ALICE.text);
  assert.equal(outputs[2]?.value.lovelace, 5_000_001n);
});

test('the executor never signs with a key too few', () => {
  const { transaction } = batchOf(curveSold(200_000_000n), mixed(3));
  assert.throws(() => signOwn(built(transaction), [EXECUTOR.key]), /key .* signs/);
});

test('a pool that gets one lovelace less is refused by its script', () => {
  const { transaction } = batchOf(curveSold(200_000_000n), [placed(ALICE, 'sell', 1_000_000n, 0)]);
  const fee = transaction.feeFrom;
  assert.ok(fee !== 'change');
  const shifted = transaction.outputs.map((output, index) => {
    const isPool = output.datum !== null;
    const lovelace = output.value.lovelace + (isPool ? -1n : index === fee ? 1n : 0n);
    return { ...output, value: { ...output.value, lovelace } };
  });
  const outcome = outcomeOf({ ...transaction, outputs: shifted });
  assert.ok(outcome.outcome === 'refused');
  assert.equal(outcome.reason, 'SCRIPT_FAILED');
});
