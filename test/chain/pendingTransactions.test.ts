/**
 * Pending transactions, followed from the mempool to what clients see: replacements, orders
 * that are placed and executed at once, forks, failures of scripts, a mempool that is lost.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Orders } from '../../src/api/orders/orderLookup.ts';
import { type OutputRef, refText } from '../../src/cardano/codec/output.ts';
import { Constr } from '../../src/cardano/codec/plutusData.ts';
import type { Transaction } from '../../src/cardano/codec/transaction.ts';
import { asValue } from '../../src/cardano/codec/value.ts';
import { beacon } from '../../src/cardano/datums/datums.ts';
import { finish } from '../../src/engine/runtime/slices.ts';
import { FoldWorld } from '../support/foldWorld.ts';
import { temporaryDirectory } from '../support/server.ts';
import {
  ADA,
  ALICE,
  aliceText,
  launchOf,
  orderOf,
  someRef,
  transaction,
} from './recogniseWorld.ts';
import { follow, ScriptedChain } from './scriptedChain.ts';

const { tx: LAUNCH, token: TOKEN } = launchOf('Waited');

function spending(ref: OutputRef, tag: number, tokens: bigint): Transaction {
  const value = asValue(2n * ADA, tokens === 0n ? [] : [[TOKEN, tokens]]);
  return transaction({
    inputs: [ref],
    outputs: [{ address: aliceText, value }],
    spends: { 0: new Constr(tag, []) },
  });
}
const execution = (ref: OutputRef) => spending(ref, 1, 100n);
const cancellation = (ref: OutputRef) => spending(ref, 0, 0n);

async function open(t: TestContext) {
  const world = await FoldWorld.open(t, join(temporaryDirectory(), 'data'));
  const chain = new ScriptedChain();
  const faults: unknown[] = [];
  const stop = await follow(t, world, chain, faults);
  await chain.block(LAUNCH);
  const order = orderOf(TOKEN, 'buy');
  const orders = () => new Orders(world.node);
  /** Its status, and in which list it stands. */
  const at = (ref: OutputRef) => {
    const text = refText(ref);
    const query = { token: TOKEN, pkhs: [ALICE.payment.hash] };
    const inLedger = finish(orders().ledger(query, { offset: 0, limit: 100 })).items;
    const lists = [
      ...inLedger.map(({ entityId, status }) => [entityId, 'ledger', status]),
      ...orders()
        .mempool(query)
        .map(({ entityId, status }) => [entityId, 'mempool', status]),
    ].filter(([id]) => id === text);
    assert(lists.length <= 1, 'in one list');
    assert.deepEqual(faults, []);
    assert.deepEqual(world.said.foldFailures, []);
    const [[, list, status] = []] = lists;
    return list === undefined ? 'nowhere' : `${list} ${status}`;
  };
  const told = (tx: Transaction, index = 0) => orders().byBeacon(beacon(tx.inputs, index));
  return { t, world, chain, faults, stop, order, at, told, orders };
}

test('a launch shows while it is pending, until its block or without one', async (t) => {
  const { world, chain, faults } = await open(t);
  const { tx, token } = launchOf('Coming');
  const pending = () => world.fold.mempool.launch(token)?.tx ?? null;
  await chain.waits([tx]);
  assert.equal(pending(), tx.id);
  await chain.waits([], [tx]);
  assert.equal(pending(), null);
  await chain.waits([tx]);
  await chain.block(tx);
  assert.equal(pending(), null);
  assert.notEqual(world.fold.directory.find(token), null, 'it is listed');
  assert.deepEqual(faults, []);
});

test('a block spends what a waiting transaction would', async (t) => {
  const { world, chain, order, at, told } = await open(t);
  await chain.block(order.tx);
  assert.equal(at(order.ref), 'ledger Pending');
  const [batch, cancel] = [execution(order.ref), cancellation(order.ref)];
  await chain.waits([batch]);
  assert.equal(at(order.ref), 'ledger MempoolEvaluated');
  assert.equal(told(order.tx)?.toAmount, '100');
  await chain.block(cancel);
  assert.equal(at(order.ref), 'ledger Refunded');
  const { refundReason, evaluatedTransactionId } = told(order.tx) ?? assert.fail();
  assert.deepEqual([refundReason, evaluatedTransactionId], ['cancelled', cancel.id]);
  assert(!world.fold.mempool.has(batch.id), 'what cannot be any more is dropped');
});

test('what would have filled an order goes, and the order is open as before', async (t) => {
  const { chain, order, at, told } = await open(t);
  await chain.waits([order.tx]);
  const first = told(order.tx)?.timestamp;
  await chain.block(order.tx);
  const placed = told(order.tx)?.timestamp;
  assert.notEqual(first, placed);
  const batch = execution(order.ref);
  await chain.waits([batch]);
  await chain.waits([], [batch]);
  assert.equal(at(order.ref), 'ledger Pending');
  assert.equal(told(order.tx)?.evaluatedTransactionId, null);
  const again = execution(order.ref);
  await chain.waits([again]);
  await chain.waits([cancellation(order.ref)], [again]);
  assert.equal(at(order.ref), 'ledger MempoolRefunded');
  await chain.block(again);
  assert.equal(at(order.ref), 'ledger Evaluated');
  assert.equal(told(order.tx)?.timestamp, placed, 'it does not move');
});

test('an order is placed and executed in one block', async (t) => {
  const { chain, order, at } = await open(t);
  const batch = execution(order.ref);
  await chain.waits([order.tx, batch]);
  assert.equal(at(order.ref), 'mempool MempoolEvaluated');
  await chain.block(order.tx, batch);
  assert.equal(at(order.ref), 'ledger Evaluated');
  await chain.back(1);
  await chain.whole(order.tx, batch);
  assert.equal(at(order.ref), 'mempool MempoolEvaluated');
});

test('an order that only waits is cancelled, and both are dropped', async (t) => {
  const { chain, order, at, told } = await open(t);
  const cancel = cancellation(order.ref);
  await chain.waits([order.tx]);
  await chain.waits([cancel]);
  assert.equal(at(order.ref), 'mempool MempoolRefunded');
  assert.equal(told(order.tx)?.refundReason, 'cancelled');
  await chain.waits([], [cancel]);
  assert.equal(at(order.ref), 'mempool MempoolPending');
  await chain.waits([cancel]);
  await chain.waits([], [order.tx, cancel]);
  assert.equal(at(order.ref), 'nowhere');
  const { status, toAmount, evaluatedTransactionId } = told(order.tx) ?? assert.fail();
  assert.deepEqual([status, toAmount, evaluatedTransactionId], ['Dropped', '0', null]);
  await chain.waits([order.tx]);
  assert.equal(told(order.tx)?.status, 'MempoolPending', 'sent again');
});

test('of two with the same input the one in a block wins, by its beacon too', async (t) => {
  const { chain, at, told, orders } = await open(t);
  const inputs = [someRef()];
  const [lost, won] = [orderOf(TOKEN, 'buy'), orderOf(TOKEN, 'sell')].map(({ tx, ref }) => {
    return { tx: { ...tx, inputs }, ref };
  });
  assert(lost !== undefined && won !== undefined);
  await chain.waits([lost.tx]);
  await chain.block(won.tx);
  assert.deepEqual([at(lost.ref), at(won.ref)], ['nowhere', 'ledger Pending']);
  assert.equal(told(lost.tx)?.entityId, refText(won.ref));
  assert.equal(orders().view(refText(lost.ref)), null);
});

test('after a fork everything is sent again', async (t) => {
  const { chain, order, at, told } = await open(t);
  const [other, batch] = [orderOf(TOKEN, 'sell'), execution(order.ref)];
  await chain.block(order.tx);
  await chain.block(batch);
  await chain.waits([other.tx]);
  await chain.back(2);
  assert.deepEqual([at(order.ref), at(other.ref)], ['nowhere', 'mempool MempoolPending']);
  assert.equal(told(order.tx)?.status, 'Dropped');
  await chain.whole(order.tx, other.tx);
  assert.deepEqual(
    [at(order.ref), at(other.ref)],
    ['mempool MempoolPending', 'mempool MempoolPending'],
  );
  await chain.whole(other.tx);
  assert.deepEqual([at(order.ref), at(other.ref)], ['nowhere', 'mempool MempoolPending']);
  await chain.block(other.tx);
  assert.equal(at(other.ref), 'ledger Pending');
});

test('a launch and an order for it wait together', async (t) => {
  const { chain, orders } = await open(t);
  const later = launchOf('Later');
  const { tx, ref } = orderOf(later.token, 'buy');
  await chain.waits([later.tx, tx]);
  const statusOf = () => orders().view(refText(ref))?.status;
  assert.equal(statusOf(), 'MempoolPending');
  await chain.block(later.tx);
  assert.equal(statusOf(), 'MempoolPending');
  await chain.back(1);
  await chain.whole(tx);
  assert.equal(statusOf(), undefined, 'for a token that is none');
  assert.equal(orders().byBeacon(beacon(tx.inputs, 0))?.status, 'Dropped');
  await chain.waits([later.tx]);
  assert.equal(statusOf(), 'MempoolPending', 'also where its launch comes back behind it');
  await chain.whole(later.tx, tx);
  await chain.block(later.tx, tx);
  assert.equal(statusOf(), 'Pending');
});

test('what fails places nothing and ends nothing', async (t) => {
  const { chain, order, at, told } = await open(t);
  await chain.block(order.tx);
  const failed = { ...execution(order.ref), isValid: false };
  const none = orderOf(TOKEN, 'sell');
  await chain.waits([failed, { ...none.tx, isValid: false }]);
  assert.deepEqual([at(order.ref), at(none.ref)], ['ledger Pending', 'nowhere']);
  // Shown as good, found bad by the block that holds it.
  const late = orderOf(TOKEN, 'buy');
  await chain.waits([late.tx]);
  assert.equal(at(late.ref), 'mempool MempoolPending');
  await chain.block({ ...late.tx, isValid: false });
  assert.equal(at(late.ref), 'nowhere');
  assert.equal(told(late.tx)?.status, 'Dropped');
});

test('a mempool that is lost with its ledger drops what waited', async (t) => {
  const { world, chain, order, at, told, stop, faults } = await open(t);
  const kept = orderOf(TOKEN, 'sell');
  await chain.block(kept.tx);
  await chain.waits([order.tx, execution(kept.ref)]);
  assert.deepEqual(
    [at(order.ref), at(kept.ref)],
    ['mempool MempoolPending', 'ledger MempoolRefunded'],
  );
  await stop();
  await follow(t, world, chain, faults);
  await chain.told();
  assert.deepEqual([at(order.ref), at(kept.ref)], ['nowhere', 'ledger Pending']);
  assert.equal(told(order.tx)?.status, 'Dropped');
  await chain.block(order.tx);
  assert.equal(at(order.ref), 'ledger Pending');
});

test('a dropped order is known for the horizon, and no longer', async (t) => {
  const horizonBlocks = 5;
  const world = await FoldWorld.open(t, join(temporaryDirectory(), 'data'), { horizonBlocks });
  const chain = new ScriptedChain();
  await follow(t, world, chain, []);
  await chain.block(LAUNCH);
  const { tx } = orderOf(TOKEN, 'buy');
  await chain.waits([tx]);
  await chain.waits([], [tx]);
  const status = () => new Orders(world.node).byBeacon(beacon(tx.inputs, 0))?.status;
  for (let block = 0; block < horizonBlocks; block += 1) {
    assert.equal(status(), 'Dropped', `after ${block} blocks`);
    await chain.block();
  }
  assert.equal(status(), 'Dropped');
  await chain.block();
  assert.equal(status(), undefined);
});
