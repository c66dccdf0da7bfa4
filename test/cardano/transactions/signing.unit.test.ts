/**
 * When the server signs a transaction and when it refuses to. Each rule is broken on bytes that are
 * otherwise ours.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Utxo } from '../../../src/cardano/codec/output.ts';
import { decodeTransaction, type Transaction } from '../../../src/cardano/codec/transaction.ts';
import { planCancel, planOrder } from '../../../src/cardano/transactions/order.ts';
import type { PlannedCollateral, TransactionPlan } from '../../../src/cardano/transactions/plan.ts';
import type { BuiltTransaction } from '../../../src/cardano/transactions/port.ts';
import { brokenRule, signCollateral } from '../../../src/cardano/transactions/signing.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { accepted } from './verdict.ts';
import {
  ADA,
  ALICE,
  ada,
  BOB,
  built,
  COLLATERAL,
  COLLATERAL_OWNER,
  COLLATERAL_UTXO,
  DEPLOYMENT,
  EXECUTOR,
  NOW_MS,
  orderOf,
  PLATFORM,
  REFERENCES,
  RULES,
  SLOTS,
  utxo,
} from './world.ts';

function cancelling(collateral: PlannedCollateral = COLLATERAL): TransactionPlan {
  const placing = planOrder(DEPLOYMENT, orderOf(ALICE, 'buy', 5n * ADA), [], NOW_MS).plan;
  const order = utxo(placing.outputs[0] ?? assert.fail());
  const data = { wallet: [], references: [REFERENCES.order], collateral, slots: SLOTS };
  const plan = planCancel(DEPLOYMENT, { order, changeAddress: ALICE.address }, data, NOW_MS);
  assert.ok(!(plan instanceof Failure));
  return plan;
}

function isUnsigned(outcome: Uint8Array | Failure, why: RegExp): void {
  assert.ok(outcome instanceof Failure, 'nothing is signed');
  assert.equal(outcome.status, 500);
  assert.match(outcome.message, why);
}

test('a body of ours gets the collateral signature and no other', () => {
  const plan = cancelling();
  const transaction = built(plan);
  const signed = signCollateral(transaction, RULES);
  assert.ok(signed instanceof Uint8Array);
  const { keyWitnesses, id } = decodeTransaction(signed);
  assert.equal(id, transaction.id);
  assert.deepEqual(
    keyWitnesses.map(({ publicKey }) => publicKey),
    [COLLATERAL_OWNER.key.publicKey],
  );
  accepted(transaction, plan, [ALICE, COLLATERAL_OWNER]);
});

test('outputs of a server key among the inputs get nothing signed', () => {
  for (const owner of [EXECUTOR, PLATFORM, COLLATERAL_OWNER]) {
    const plan = cancelling();
    const stolen = { utxo: ada(owner, 900n * ADA), redeemer: null };
    const transaction = built({ ...plan, inputs: [...plan.inputs, stolen] });
    isUnsigned(signCollateral(transaction, RULES), /input belongs to the server/);
    const enterprise = utxo({ address: owner.text, value: stolen.utxo.output.value });
    const again = built({ ...plan, wallet: [enterprise], outputs: [payment(600n * ADA)] });
    isUnsigned(signCollateral(again, RULES), /input belongs to the server/);
  }
});

/** To the attacker. */
function payment(lovelace: bigint) {
  return { address: BOB.text, value: { lovelace, assets: new Map() }, datum: null };
}

test('the servers collateral spent as a normal input gets nothing signed', () => {
  const plan = cancelling();
  const stolen = { utxo: COLLATERAL_UTXO, redeemer: null };
  const transaction = built({ ...plan, inputs: [...plan.inputs, stolen] });
  isUnsigned(signCollateral(transaction, RULES), /input belongs to the server/);
});

test('an input whose content is not known gets nothing signed', () => {
  const transaction = built(cancelling());
  isUnsigned(signCollateral({ ...transaction, inputs: [] }, RULES), /input/);
});

test('a body that requires a server key gets nothing signed', () => {
  const plan = cancelling();
  for (const { key } of [EXECUTOR, PLATFORM, COLLATERAL_OWNER]) {
    const transaction = built({ ...plan, signers: [...plan.signers, key.hash] });
    isUnsigned(signCollateral(transaction, RULES), /requires a server key/);
  }
});

test('collateral that is not exactly ours gets nothing signed', () => {
  const foreign = ada(ALICE, 5n * ADA);
  const unknown = ada(COLLATERAL_OWNER, 5n * ADA);
  const cases: [readonly Utxo[], string][] = [
    [[foreign], COLLATERAL_OWNER.text],
    [[COLLATERAL_UTXO, foreign], COLLATERAL_OWNER.text],
    [[unknown], COLLATERAL_OWNER.text],
    [[COLLATERAL_UTXO], ALICE.text],
  ];
  for (const [utxos, returnAddress] of cases) {
    const transaction = built(cancelling({ utxos, returnAddress }));
    isUnsigned(signCollateral(transaction, RULES), /collateral is not ours alone/);
  }
});

test('more than 1 ADA at stake gets nothing signed', () => {
  const transaction = built(cancelling());
  const decoded = decodeTransaction(transaction.bytes);
  const broken = (more: Partial<Transaction>) =>
    brokenRule({ ...decoded, ...more }, transaction, RULES);
  assert.equal(broken({}), null);
  assert.equal(broken({ totalCollateralLovelace: 1_000_000n }), null);
  assert.match(broken({ totalCollateralLovelace: 1_000_001n }) ?? '', /too much/);
  assert.match(broken({ totalCollateralLovelace: null }) ?? '', /too much/);
  assert.match(broken({ collateralReturn: null }) ?? '', /not ours/);
  assert.match(broken({ collateralInputs: [] }) ?? '', /not ours/);
  assert.match(broken({ hasWithdrawals: true }) ?? '', /withdraws/);
  assert.match(broken({ hasCertificates: true }) ?? '', /certifies/);
  assert.match(broken({ isValid: false }) ?? '', /failing script/);
  assert.match(broken({ redeemers: [] }) ?? '', /did not run/);
});

test('a body that was changed after the build gets nothing signed', () => {
  const transaction = built(cancelling());
  const ours = Buffer.from(transaction.bytes);
  for (const [what, other] of [
    [ALICE.key.hash, BOB.key.hash],
    [transaction.inputs[0]?.ref.txHash ?? '', 'ab'.repeat(32)],
  ] as const) {
    const hex = ours.toString('hex').replaceAll(what, other);
    assert.notEqual(hex, ours.toString('hex'));
    const tampered: BuiltTransaction = { ...transaction, bytes: Buffer.from(hex, 'hex') };
    isUnsigned(signCollateral(tampered, RULES), /./);
  }
  const invalid = Buffer.from(ours.toString('hex').replace(/f5f6$/, 'f4f6'), 'hex');
  isUnsigned(signCollateral({ ...transaction, bytes: invalid }, RULES), /failing script/);
});

test('a transaction without scripts needs no signature of ours, and gets none', () => {
  const { plan } = planOrder(
    DEPLOYMENT,
    orderOf(ALICE, 'buy', 5n * ADA),
    [ada(ALICE, 50n * ADA)],
    NOW_MS,
  );
  const transaction = built(plan);
  isUnsigned(signCollateral(transaction, RULES), /./);
  const padded = built({ ...plan, collateral: COLLATERAL });
  isUnsigned(signCollateral(padded, RULES), /did not run/);
});
