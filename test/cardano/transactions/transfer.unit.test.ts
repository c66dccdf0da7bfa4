import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Utxo } from '../../../src/cardano/codec/output.ts';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import { addValues, asValue, coins, equalValues } from '../../../src/cardano/codec/value.ts';
import type { TransactionPlan } from '../../../src/cardano/transactions/plan.ts';
import { planTransfer } from '../../../src/cardano/transactions/transfer.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { PARAMETERS } from '../../support/parameters.ts';
import { accepted } from './verdict.ts';
import { ADA, ALICE, ada, BOB, built, holding, hostileWallet, outcomeOf, TOKEN } from './world.ts';

const OTHER = `${'cd'.repeat(28)}.`;

function transferring(
  wallet: readonly Utxo[],
  lovelace: bigint | 'max',
  assets: readonly [string, bigint][] = [],
): TransactionPlan | Failure {
  const request = {
    to: BOB.address,
    changeAddress: ALICE.address,
    lovelace,
    assets: new Map(assets),
  };
  return planTransfer(request, wallet, PARAMETERS);
}

function sent(plan: TransactionPlan | Failure) {
  assert.ok(!(plan instanceof Failure), 'message' in plan ? plan.message : '');
  const transaction = built(plan);
  return { ...decodeTransaction(accepted(transaction, plan, [ALICE])), wallet: transaction.inputs };
}

test('lovelace and tokens are sent, the rest comes back', () => {
  const wallet = [ada(ALICE, 50n * ADA), holding(ALICE, 3n * ADA, TOKEN, 100n)];
  const { outputs } = sent(transferring(wallet, 2n * ADA, [[TOKEN, 40n]]));
  assert.deepEqual(outputs[0]?.value, asValue(2n * ADA, [[TOKEN, 40n]]));
  assert.equal(outputs[0]?.address, BOB.text);
  assert.equal(outputs[1]?.address, ALICE.text);
  assert.equal(outputs[1]?.value.assets.get(TOKEN), 60n);
});

test('max sends everything but the fee', () => {
  const wallet = [ada(ALICE, 50n * ADA), ada(ALICE, 3n * ADA)];
  const { outputs, feeLovelace } = sent(transferring(wallet, 'max'));
  assert.equal(outputs.length, 1);
  assert.deepEqual(outputs[0]?.value, coins(53n * ADA - feeLovelace));
});

test('max keeps the lovelace that tokens need to come back', () => {
  const wallet = [
    ada(ALICE, 50n * ADA),
    holding(ALICE, 3n * ADA, TOKEN, 100n),
    holding(ALICE, 3n * ADA, OTHER, 7n),
  ];
  const { outputs, feeLovelace, wallet: spent } = sent(transferring(wallet, 'max', [[TOKEN, 40n]]));
  assert.equal(spent.length, 3);
  const [to = assert.fail(), back = assert.fail()] = outputs;
  assert.equal(to.value.assets.get(TOKEN), 40n);
  assert.deepEqual(
    back.value.assets,
    new Map([
      [TOKEN, 60n],
      [OTHER, 7n],
    ]),
  );
  assert.ok(back.value.lovelace < 2n * ADA);
  assert.ok(
    equalValues(
      addValues(to.value, back.value, coins(feeLovelace)),
      addValues(...wallet.map(({ output }) => output.value)),
    ),
  );
});

test('max consolidates a scattered wallet, as much as fits', () => {
  const wallet = Array.from({ length: 1000 }, (_, n) =>
    n % 2 === 0
      ? ada(ALICE, 2n * ADA)
      : holding(ALICE, 2n * ADA, `${n.toString(16).padStart(56, 'd')}.`, 1n),
  );
  const { outputs } = sent(transferring(wallet, 'max'));
  assert.equal(outputs.length, 1);
  assert.ok((outputs[0]?.value.lovelace ?? 0n) > 380n * ADA);
});

test('max of a large wallet costs no more looks than a transaction has room for', () => {
  const { wallet, walks } = hostileWallet(5000, 5);
  const plan = transferring(wallet, 'max');
  assert.ok(!(plan instanceof Failure));
  assert.ok(plan.inputs.length >= 40, `${plan.inputs.length} inputs`);
  assert.ok(walks() <= 100, `${walks()} looks`);
});

test('an output too large to fit does not keep those behind it', () => {
  const { wallet } = hostileWallet(1, 400);
  const behind = Array.from({ length: 3 }, () => holding(ALICE, 5n * ADA, TOKEN, 1n));
  const plan = transferring([...wallet, ...behind], 'max', [[TOKEN, 2n]]);
  assert.ok(!(plan instanceof Failure));
  assert.deepEqual(
    plan.inputs.map(({ utxo }) => utxo),
    behind,
  );
});

test('an amount that cannot stand alone is refused with the least that can', () => {
  const plan = transferring([ada(ALICE, 50n * ADA)], 900_000n);
  assert.ok(!(plan instanceof Failure));
  const outcome = outcomeOf(plan);
  assert.ok(outcome.outcome === 'refused');
  assert.equal(outcome.reason, 'OUTPUT_TOO_SMALL');
  assert.match(outcome.message, /would hold 900000 lovelace, and the ledger asks for 978370/);
});

test('amounts that no ledger holds are just too much', () => {
  const wallet = [ada(ALICE, 50n * ADA), holding(ALICE, 3n * ADA, TOKEN, 100n)];
  for (const plan of [
    transferring(wallet, 10n ** 30n),
    transferring(wallet, 2n * ADA, [[TOKEN, 10n ** 30n]]),
  ]) {
    assert.ok(!(plan instanceof Failure));
    const outcome = outcomeOf(plan);
    assert.ok(outcome.outcome === 'refused');
    assert.equal(outcome.reason, 'FUNDS');
  }
});

test('what is not there is not sent', () => {
  const wallet = [ada(ALICE, 50n * ADA)];
  for (const plan of [transferring(wallet, 'max', [[TOKEN, 1n]]), transferring([], 'max')]) {
    assert.ok(plan instanceof Failure);
    assert.match(plan.message, /^wallet: /);
  }
});
