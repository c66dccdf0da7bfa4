import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blake2b224 } from '../../../src/cardano/codec/hash.ts';
import { datumOf } from '../../../src/cardano/codec/output.ts';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import { asValue, coins } from '../../../src/cardano/codec/value.ts';
import { beacon, readOrderData } from '../../../src/cardano/datums/datums.ts';
import { ORDER_OUTPUT, planOrder } from '../../../src/cardano/transactions/order.ts';
import { accepted } from './verdict.ts';
import {
  ADA,
  ALICE,
  ada,
  BOB,
  built,
  DEPLOYMENT,
  EXECUTOR,
  holding,
  NFT,
  NOW_MS,
  orderOf,
  outcomeOf,
  TOKEN,
} from './world.ts';

test('a buy offers its amount, the fee and the deposit', () => {
  const request = orderOf(ALICE, 'buy', 5n * ADA);
  const wallet = [ada(ALICE, 100n * ADA), ada(ALICE, 3n * ADA)];
  const { plan, expiresAtMs } = planOrder(DEPLOYMENT, request, wallet, NOW_MS);
  const transaction = built(plan);
  const { outputs, keyWitnesses } = decodeTransaction(accepted(transaction, plan, [ALICE]));
  const order = outputs[ORDER_OUTPUT];
  assert.ok(order);
  assert.deepEqual(order.value, coins(7_600_000n));
  assert.equal(expiresAtMs, NOW_MS + 1_200_000);
  assert.deepEqual(readOrderData(datumOf(order), 'testnet'), {
    redeemer: ALICE.address,
    input: '.',
    output: TOKEN,
    worstPrice: request.worstPrice,
    feeLovelace: 1_100_000n,
    depositLovelace: 1_500_000n,
    executor: EXECUTOR.key.hash,
    refundAfterMs: BigInt(expiresAtMs),
    owner: ALICE.key.hash,
    poolNft: NFT,
  });
  assert.equal(keyWitnesses.length, 1);
  assert.equal(outputs.length, 2);
  assert.equal(outputs[1]?.address, ALICE.text);
});

test('a sell of an enterprise address offers tokens, without a stake part', () => {
  const owner = { ...BOB, text: '', address: BOB.enterprise };
  const request = orderOf(owner, 'sell', 1_000_000n);
  const wallet = [holding(BOB, 20n * ADA, TOKEN, 1_500_000n)];
  const { plan } = planOrder(DEPLOYMENT, request, wallet, NOW_MS);
  const { outputs } = decodeTransaction(accepted(built(plan), plan, [BOB]));
  assert.deepEqual(outputs[ORDER_OUTPUT]?.value, asValue(2_600_000n, [[TOKEN, 1_000_000n]]));
  assert.deepEqual(
    readOrderData(datumOf(outputs[0] ?? assert.fail()), 'testnet')?.redeemer.stake,
    null,
  );
  assert.equal(outputs[1]?.value.assets.get(TOKEN), 500_000n);
});

test('it comes back as a whole transaction with an empty witness set', () => {
  const request = orderOf(ALICE, 'buy', 5n * ADA);
  const { bytes } = built(planOrder(DEPLOYMENT, request, [ada(ALICE, 100n * ADA)], NOW_MS).plan);
  const hex = Buffer.from(bytes).toString('hex');
  assert.match(hex, /^84a3/);
  assert.match(hex, /a0f5f6$/);
});

test('the beacon is a hash over the smallest input and the output index', () => {
  const wallet = [ada(ALICE, 6n * ADA), ada(ALICE, 5n * ADA), ada(ALICE, 4n * ADA)];
  const { plan } = planOrder(DEPLOYMENT, orderOf(ALICE, 'buy', 9n * ADA), wallet, NOW_MS);
  const { bytes } = built(plan);
  const { inputs } = decodeTransaction(bytes);
  const [first = assert.fail()] = inputs.map(({ txHash }) => txHash).sort();
  const message = `${first}${'0'.repeat(16)}${'0'.repeat(16)}`;
  assert.equal(beacon(inputs, ORDER_OUTPUT), blake2b224(Buffer.from(message, 'hex')));
  assert.equal(inputs.length, 3);
});

test('the refusal of a poor wallet names the missing amount', () => {
  const { plan } = planOrder(
    DEPLOYMENT,
    orderOf(ALICE, 'buy', 9n * ADA),
    [ada(ALICE, 9n * ADA)],
    NOW_MS,
  );
  const outcome = outcomeOf(plan);
  assert.ok(outcome.outcome === 'refused');
  assert.equal(outcome.reason, 'FUNDS');
  assert.match(outcome.message, /lacks \d{7} lovelace/);
  const sell = planOrder(DEPLOYMENT, orderOf(ALICE, 'sell', 9n), [ada(ALICE, 9n * ADA)], NOW_MS);
  const poor = outcomeOf(sell.plan);
  assert.ok(poor.outcome === 'refused');
  assert.match(poor.message, new RegExp(`lacks 9 of ${TOKEN}`));
});
