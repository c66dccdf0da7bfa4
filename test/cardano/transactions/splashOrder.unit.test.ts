/** Orders for a pool of Splash: the ledger takes them, and our reader of the chain reads them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAddress } from '../../../src/cardano/codec/address.ts';
import { fromHex } from '../../../src/cardano/codec/hex.ts';
import { datumOf } from '../../../src/cardano/codec/output.ts';
import { Constr, decodePlutusData } from '../../../src/cardano/codec/plutusData.ts';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import { asValue, coins } from '../../../src/cardano/codec/value.ts';
import { isNewBeacon, readPartialOrder } from '../../../src/cardano/datums/partialOrder.ts';
import { ORDER_OUTPUT, planSplashOrder } from '../../../src/cardano/transactions/order.ts';
import { readDeployment } from '../../../src/server/settings/deployments.ts';
import { accepted } from './verdict.ts';
import { ADA, ALICE, ada, built, DEPLOYMENT, holding, orderOf, outcomeOf, TOKEN } from './world.ts';

const { partial } = readDeployment('mainnet');
const { splashOrder, scripts } = partial ?? assert.fail();
assert.ok(splashOrder && scripts.limitOrder);
const SCRIPT = scripts.limitOrder.hash;

function planned(
  kind: 'buy' | 'sell',
  amount: bigint,
  wallet: Parameters<typeof planSplashOrder>[4],
) {
  assert.ok(splashOrder);
  const request = orderOf(ALICE, kind, amount);
  return planSplashOrder(DEPLOYMENT, splashOrder, SCRIPT, request, wallet);
}

test('a buy offers its amount, the step, the fee and the deposit, and names itself', () => {
  const wallet = [ada(ALICE, 3n * ADA), ada(ALICE, 100n * ADA)];
  const { plan, beacon } = planned('buy', 50n * ADA, wallet);
  const { outputs, inputs } = decodeTransaction(accepted(built(plan), plan, [ALICE]));
  const order = outputs[ORDER_OUTPUT] ?? assert.fail();
  assert.deepEqual(order.value, coins(53_500_000n));
  assert.equal(parseAddress(order.address)?.payment.hash, SCRIPT);
  assert.deepEqual(parseAddress(order.address)?.stake, ALICE.address.stake);
  const { worstPrice } = orderOf(ALICE, 'buy', 50n * ADA);
  assert.deepEqual(readPartialOrder(datumOf(order), 'testnet'), {
    ...{ tag: '00', beacon, redeemer: ALICE.address, input: '.', output: TOKEN },
    ...{ amount: 50n * ADA, stepLovelace: ADA, feeLovelace: ADA, worstPrice },
    ...{ executors: [splashOrder?.executor], cancelAfterMs: 0n, owner: ALICE.key.hash },
    minPartOutput: 50_000n,
  });
  assert.ok(isNewBeacon(beacon, order.datum ?? '', inputs, ORDER_OUTPUT));
  assert.ok(!isNewBeacon(beacon, order.datum ?? '', inputs, 1), 'of that output alone');
});

test('a sell offers tokens; each step must bring what the worst price asks for in all', () => {
  const wallet = [ada(ALICE, 200n * ADA), holding(ALICE, 2n * ADA, TOKEN, 1_500_000n)];
  const { plan, beacon } = planned('sell', 1_000_000n, wallet);
  const { outputs, inputs } = decodeTransaction(accepted(built(plan), plan, [ALICE]));
  const order = outputs[ORDER_OUTPUT] ?? assert.fail();
  assert.deepEqual(order.value, asValue(3_500_000n, [[TOKEN, 1_000_000n]]));
  const data = datumOf(order);
  assert.ok(data instanceof Constr);
  const { worstPrice } = orderOf(ALICE, 'sell', 1_000_000n);
  const { numerator, denominator } = worstPrice;
  assert.equal(data.fields[5], (1_000_000n * numerator + denominator - 1n) / denominator);
  assert.ok(isNewBeacon(beacon, order.datum ?? '', inputs, ORDER_OUTPUT));
});

test('a wallet without outputs is poor, as for any order', () => {
  const outcome = outcomeOf(planned('buy', 5n * ADA, []).plan);
  assert.ok(outcome.outcome === 'refused');
  assert.equal(outcome.reason, 'FUNDS');
});

test('the beacon of an order of mainnet, as its agent derives it', () => {
  // From the test `beacon_derivation_eqv` of splash-offchain-multiplatform, limit.rs.
  const datum =
    'd8799f4100581c80efdc4308cffb24b7e43f1b7951cd77323583383b7db3feae246c8ed8799f4040ff1a000f4240' +
    '1a000dbba01a00021d06d8799f581ccebbd6a8ca954b7fc7a346d0baed4182e0358059f38065de279fb8224b4361' +
    '7264616e6f20436174ffd8799f1b003134b92f84d8621b016345785d8a0000ff00d8799fd8799f581c74104cd5ca' +
    '6288c1dd2e22ee5c874fdcfc1b81897462d91153496430ffd8799fd8799fd8799f581cde7866fe5068ebf3c87dcd' +
    'b568da528da5dcb5f659d9b60010e7450fffffffff581c74104cd5ca6288c1dd2e22ee5c874fdcfc1b81897462d9' +
    '11534964309f581c5cb2c968e5d1c7197a6ce7615967310a375545d9bc65063a964335b2ffff';
  const { beacon } = readPartialOrder(decodePlutusData(fromHex(datum)), 'mainnet') ?? assert.fail();
  const txHash = 'a88cbaedbe8d5e9e709cddf24886355e876e7c561100b30533ecc2de79a65aa6';
  const named = '43787c201c4cc02ce5e71636fce4ed1dc92429a75c08e1cd9fca707b';
  const inputs = [{ txHash, index: 0 }];
  assert.ok(isNewBeacon(named, datum.replace(beacon, named), inputs, 0));
  assert.ok(!isNewBeacon(beacon, datum, inputs, 0));
});
