/**
 * Transactions that we build for two scripts of mainnet, run by these scripts: the code on mainnet,
 * with the hashes of `config/mainnet.json`. Only addresses are of a test network.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeOutput } from '../../../src/cardano/codec/encode.ts';
import { fromHex } from '../../../src/cardano/codec/hex.ts';
import { decodeOutput, type Utxo } from '../../../src/cardano/codec/output.ts';
import { Constr, decodePlutusData } from '../../../src/cardano/codec/plutusData.ts';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import { addValues, coins } from '../../../src/cardano/codec/value.ts';
import { lockData, readLockData } from '../../../src/cardano/datums/datums.ts';
import type { ReferenceScript } from '../../../src/cardano/datums/deployment.ts';
import { planLock, planWithdraw } from '../../../src/cardano/transactions/lock.ts';
import { planCancel, planSplashOrder } from '../../../src/cardano/transactions/order.ts';
import { dataHex, type TransactionPlan } from '../../../src/cardano/transactions/plan.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { readDeployment } from '../../../src/server/settings/deployments.ts';
import { dataText } from '../../support/testData.ts';
import { accepted } from './verdict.ts';
import {
  ADA,
  ALICE,
  ada,
  BOB,
  built,
  COLLATERAL,
  COLLATERAL_OWNER,
  DEPLOYMENT,
  holding,
  NOW_MS,
  orderOf,
  outcomeOf,
  SLOTS,
  START_MS,
  TOKEN,
  utxo,
} from './world.ts';

const { partial } = readDeployment('mainnet');
const SHIPPED = partial ?? assert.fail();

/** Where the script lies by the shipped file, and an output there that holds the code. */
function shipped(name: 'vesting' | 'limitOrder', file: string) {
  const { hash, ref } = SHIPPED.scripts[name] ?? assert.fail();
  assert.ok(ref !== null);
  const script = dataText(`mainnet/${file}.hex`).trim();
  const bytes = encodeOutput({ address: BOB.text, value: coins(10n * ADA), script });
  const holds: Utxo = { ref, output: decodeOutput(bytes) };
  const known: ReferenceScript = { hash, ref };
  return { known, holds };
}

const VESTING = shipped('vesting', 'script-vesting');
const LIMIT = shipped('limitOrder', 'script-limit-order');
const MAINNET = {
  ...({ network: 'mainnet', addressNetwork: 'testnet' } as const),
  fees: SHIPPED.fees,
  scripts: { ...DEPLOYMENT.scripts, vesting: VESTING.known, limitOrder: LIMIT.known },
};
const data = { wallet: [ada(ALICE, 20n * ADA)], collateral: COLLATERAL, slots: SLOTS };

test('the code has the hashes of the shipped file', () => {
  assert.equal(VESTING.holds.output.scriptHash, SHIPPED.scripts.vesting?.hash);
  assert.equal(LIMIT.holds.output.scriptHash, SHIPPED.scripts.limitOrder?.hash);
});

/** Unlocks with the beginning of slot 150. */
const UNLOCK_MS = START_MS + 150_000;

function locked(): Utxo {
  const wallet = [holding(ALICE, 50n * ADA, TOKEN, 100n)];
  const request = { owner: ALICE.address, token: TOKEN, amount: 100n, lockEndMs: UNLOCK_MS };
  const plan = planLock(MAINNET, { ...request, stagesCount: 1 }, wallet, NOW_MS);
  assert.ok(!(plan instanceof Failure));
  accepted(built(plan), plan, [ALICE]);
  return utxo(plan.outputs[0] ?? assert.fail());
}

function withdrawal(lock: Utxo, nowMs: number): TransactionPlan | Failure {
  const request = { lock, owner: ALICE.address };
  return planWithdraw(MAINNET, request, { ...data, references: [VESTING.holds] }, nowMs);
}

/** Why the script refused it. */
function scriptRefuses(plan: TransactionPlan): void {
  const outcome = outcomeOf(plan);
  assert.ok(outcome.outcome === 'refused', 'it was built');
  assert.equal(outcome.reason, 'SCRIPT_FAILED');
}

test('a lock of mainnet opens after its time: in the next slot, where ours opens at once', () => {
  const lock = locked();
  const early = withdrawal(lock, UNLOCK_MS);
  assert.ok(early instanceof Failure && early.cause === 'LOCK_NOT_EXPIRED');
  const plan = withdrawal(lock, UNLOCK_MS + 1000);
  assert.ok(!(plan instanceof Failure));
  assert.equal(plan.validFromSlot, 151);
  const bytes = accepted(built(plan), plan, [ALICE, COLLATERAL_OWNER], 151);
  const [back] = decodeTransaction(bytes).outputs;
  assert.equal(back?.address, ALICE.text);
  assert.equal(back?.value.assets.get(TOKEN), 100n);
  scriptRefuses({ ...plan, validFromSlot: 150 });
});

test('without its owner, and with the redeemer of our own script, it stays shut', () => {
  const plan = withdrawal(locked(), UNLOCK_MS + 1000);
  assert.ok(!(plan instanceof Failure));
  scriptRefuses({ ...plan, signers: [BOB.key.hash] });
  const [{ utxo: lock } = assert.fail()] = plan.inputs;
  scriptRefuses({ ...plan, inputs: [{ utxo: lock, redeemer: dataHex(new Constr(0, [])) }] });
  // Output 0 at the lock's address would lock it again.
  const { address, value, datum } = lock.output;
  assert.ok(datum !== null);
  const again = { address, value, datum: dataHex(lockData({ unlockMs: 1n, owner: BOB.key.hash })) };
  scriptRefuses({ ...plan, outputs: [again] });
});

test('a lock that lay on mainnet is read', () => {
  // The datum of 4fa70fb8…#0, as the program of Splash that opens it holds it.
  const datum =
    'd8799f1b0000018d9c7e5da2581c7c1c952fd498443de35e4df37dd01b1ec5b010aa8c5bbd08e09b9c1eff';
  assert.deepEqual(readLockData(decodePlutusData(fromHex(datum))), {
    unlockMs: 1_707_727_543_714n,
    owner: '7c1c952fd498443de35e4df37dd01b1ec5b010aa8c5bbd08e09b9c1e',
  });
});

function placed(kind: 'buy' | 'sell'): Utxo {
  const { splashOrder } = SHIPPED;
  assert.ok(splashOrder);
  const wallet = [ada(ALICE, 100n * ADA), holding(ALICE, 2n * ADA, TOKEN, 5n * ADA)];
  const request = orderOf(ALICE, kind, 5n * ADA);
  const { plan } = planSplashOrder(MAINNET, splashOrder, LIMIT.known.hash, request, wallet);
  const { outputs } = decodeTransaction(accepted(built(plan), plan, [ALICE]));
  return { ref: utxo(plan.outputs[0] ?? assert.fail()).ref, output: outputs[0] ?? assert.fail() };
}

test('an order for a pool of Splash is cancelled by its own script', () => {
  for (const kind of ['buy', 'sell'] as const) {
    const order = placed(kind);
    const around = { ...data, references: [LIMIT.holds] };
    const plan = planCancel(MAINNET, { order, changeAddress: ALICE.address }, around, NOW_MS);
    assert.ok(!(plan instanceof Failure));
    const bytes = accepted(built(plan), plan, [ALICE, COLLATERAL_OWNER]);
    assert.deepEqual(decodeTransaction(bytes).outputs[0]?.value, order.output.value);
    scriptRefuses({ ...plan, signers: [BOB.key.hash] });
    const [back = assert.fail()] = plan.outputs;
    const richer = { ...back, value: addValues(back.value, coins(1n)) };
    scriptRefuses({ ...plan, outputs: [richer] });
    scriptRefuses({ ...plan, outputs: [{ ...back, address: BOB.text }] });
  }
});
