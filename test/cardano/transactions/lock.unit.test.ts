import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { datumOf } from '../../../src/cardano/codec/output.ts';
import { asValue } from '../../../src/cardano/codec/value.ts';
import { lockData, readLockData } from '../../../src/cardano/datums/datums.ts';
import { planLock, planWithdraw } from '../../../src/cardano/transactions/lock.ts';
import { dataHex } from '../../../src/cardano/transactions/plan.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { accepted } from './verdict.ts';
import {
  ADA,
  ALICE,
  BOB,
  built,
  COLLATERAL,
  COLLATERAL_OWNER,
  DEPLOYMENT,
  holding,
  NOW_MS,
  REFERENCES,
  refused,
  SLOTS,
  START_MS,
  signedBy,
  TOKEN,
  utxo,
} from './world.ts';

const data = { wallet: [], references: [REFERENCES.vesting], collateral: COLLATERAL, slots: SLOTS };
const UNLOCK_MS = START_MS + 150_001;

function lockUntil(unlockMs: bigint) {
  const plan = planLock(DEPLOYMENT, lockOf(10n, 1), [], NOW_MS);
  assert.ok(!(plan instanceof Failure));
  const [output = assert.fail()] = plan.outputs;
  return utxo({ ...output, datum: dataHex(lockData({ unlockMs, owner: ALICE.key.hash })) });
}

function lockOf(amount: bigint, stagesCount: number, lockEndMs = NOW_MS + 100_000) {
  return { owner: ALICE.address, token: TOKEN, amount, lockEndMs, stagesCount };
}

test('stages hold everything, the remainder last, and the last ends with the lock', () => {
  const amounts = fc.record({
    stages: fc.integer({ min: 1, max: 10 }),
    amount: fc.bigInt({ min: 10n, max: 10n ** 9n }),
    lengthMs: fc.integer({ min: 1, max: 1e12 }),
  });
  fc.assert(
    fc.property(amounts, ({ stages, amount, lengthMs }) => {
      const request = lockOf(amount, stages, NOW_MS + lengthMs);
      const plan = planLock(DEPLOYMENT, request, [], NOW_MS);
      assert.ok(!(plan instanceof Failure));
      const held = plan.outputs.map(({ value }) => value.assets.get(TOKEN) ?? 0n);
      assert.equal(
        held.reduce((sum, each) => sum + each),
        amount,
      );
      assert.ok(held.slice(0, -1).every((each) => each === amount / BigInt(stages)));
      const unlocks = plan.outputs.map((output) => {
        const { datum = null } = output;
        return Number(readLockData(datumOf({ ...utxo(output).output, datum }))?.unlockMs);
      });
      assert.equal(unlocks.at(-1), NOW_MS + lengthMs);
      assert.deepEqual(
        unlocks,
        unlocks.toSorted((a, b) => a - b),
      );
    }),
  );
});

test('a lock of ten stages is one transaction', () => {
  const wallet = [holding(ALICE, 50n * ADA, TOKEN, 150n)];
  const plan = planLock(DEPLOYMENT, lockOf(105n, 10), wallet, NOW_MS);
  assert.ok(!(plan instanceof Failure));
  accepted(built(plan), plan, [ALICE]);
  assert.deepEqual(plan.outputs[9]?.value, asValue(2n * ADA, [[TOKEN, 15n]]));
});

test('fewer tokens than stages are refused', () => {
  const outcome = planLock(DEPLOYMENT, lockOf(9n, 10), [], NOW_MS);
  assert.ok(outcome instanceof Failure && outcome.cause === 'INVALID_AMOUNT');
});

test('a lock opens in the first slot that begins at or after its time, not one earlier', () => {
  const lock = lockUntil(BigInt(UNLOCK_MS));
  const request = { lock, owner: ALICE.address };
  const early = planWithdraw(DEPLOYMENT, request, data, START_MS + 150_999);
  assert.ok(early instanceof Failure && early.cause === 'LOCK_NOT_EXPIRED');
  assert.equal(early.message, 'Lock is still active. Unlocks at 2025-10-09T08:55:50.001Z');
  const plan = planWithdraw(DEPLOYMENT, request, data, START_MS + 151_000);
  assert.ok(!(plan instanceof Failure));
  const transaction = built(plan);
  accepted(transaction, plan, [ALICE, COLLATERAL_OWNER], 151);
  const bytes = signedBy(transaction.bytes, [ALICE, COLLATERAL_OWNER]);
  const utxos = [...transaction.inputs, ...transaction.collateral, ...plan.references];
  assert.match(refused(bytes, utxos, 150) ?? '', /validity interval/);
});

test('a lock that was open before the chain began opens', () => {
  const request = { lock: lockUntil(1n), owner: ALICE.address };
  const plan = planWithdraw(DEPLOYMENT, request, data, NOW_MS);
  assert.ok(!(plan instanceof Failure));
  accepted(built(plan), plan, [ALICE, COLLATERAL_OWNER]);
});

test('foreign locks and what is no lock are refused with their cause', () => {
  const lock = lockUntil(1n);
  const causeOf = (held: typeof lock, owner = ALICE) => {
    const outcome = planWithdraw(DEPLOYMENT, { lock: held, owner: owner.address }, data, NOW_MS);
    return outcome instanceof Failure ? outcome.cause : null;
  };
  assert.equal(causeOf(lock, BOB), 'NOT_OWNER');
  assert.equal(causeOf(utxo({ ...lock.output, datum: null })), 'INVALID_DATUM');
  assert.equal(causeOf(utxo({ ...lock.output, address: ALICE.text })), 'INVALID_DATUM');
  const forever = planWithdraw(
    DEPLOYMENT,
    { lock: lockUntil(10n ** 20n), owner: ALICE.address },
    data,
    NOW_MS,
  );
  assert.ok(forever instanceof Failure);
  assert.match(forever.message, /Unlocks at 100000000000000000000 ms/);
});
