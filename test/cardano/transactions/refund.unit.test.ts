/** A refund that anybody sends: no key of the owner or the executor signs it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Utxo } from '../../../src/cardano/codec/output.ts';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import { addValues, coins } from '../../../src/cardano/codec/value.ts';
import { planOrder, planRefund } from '../../../src/cardano/transactions/order.ts';
import type { TransactionPlan } from '../../../src/cardano/transactions/plan.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { accepted } from './verdict.ts';
import {
  ADA,
  ALICE,
  ada,
  BOB,
  built,
  DEPLOYMENT,
  NOW_MS,
  NOW_SLOT,
  orderOf,
  REFERENCES,
  refused,
  SLOTS,
  signedBy,
  utxo,
} from './world.ts';

const collateral = { utxos: [ada(BOB, 5n * ADA)], returnAddress: BOB.text };
const data = { references: [REFERENCES.order], collateral, slots: SLOTS };

/** An order of Alice that is due now. */
function due(kind: 'buy' | 'sell'): Utxo {
  const placedMs = NOW_MS - DEPLOYMENT.refundAfterMs;
  const { plan } = planOrder(DEPLOYMENT, orderOf(ALICE, kind, 5n * ADA), [], placedMs);
  return utxo(plan.outputs[0] ?? assert.fail());
}

function refunding(order: Utxo): TransactionPlan {
  const plan = planRefund(DEPLOYMENT, order, data);
  assert.ok(!(plan instanceof Failure));
  return plan;
}

test('the owner gets the whole order but the network fee, signed for by a stranger alone', () => {
  for (const kind of ['buy', 'sell'] as const) {
    const order = due(kind);
    const plan = refunding(order);
    const transaction = built(plan);
    const bytes = accepted(transaction, plan, [BOB], NOW_SLOT + 1);
    const [paid = assert.fail(), ...more] = decodeTransaction(bytes).outputs;
    assert.equal(more.length, 0);
    assert.equal(paid.address, ALICE.text);
    assert.deepEqual(addValues(paid.value, coins(transaction.feeLovelace)), order.output.value);
    assert.ok(transaction.feeLovelace < DEPLOYMENT.fees.refundFeeLovelace, 'as a refund may keep');
  }
});

test('a slot early the ledger refuses it', () => {
  const plan = refunding(due('buy'));
  const { bytes, inputs, collateral: held } = built(plan);
  const utxos = [...inputs, ...held, ...plan.references];
  assert.match(refused(signedBy(bytes, [BOB]), utxos) ?? '', /[Vv]alid/);
});

test('what is no order of ours is not refunded', () => {
  const order = utxo({ ...due('buy').output, datum: null });
  const outcome = planRefund(DEPLOYMENT, order, data);
  assert.ok(outcome instanceof Failure);
  assert.match(outcome.message, /is no order/);
});
