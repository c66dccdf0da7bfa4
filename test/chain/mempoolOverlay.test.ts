/** Callers wait, for a limited time, until this node shows a transaction. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeTransaction } from '../../src/cardano/codec/transaction.ts';
import { coins } from '../../src/cardano/codec/value.ts';
import { MempoolOverlay } from '../../src/chain/mempoolOverlay.ts';
import { type Clock, systemClock } from '../../src/engine/runtime/clock.ts';
import { addressOf, payment } from '../support/ledgerWorld.ts';

/** A payment that spends the output with this index. */
function paying(index: number) {
  const plain = { datum: null, scriptHash: null, cbor: '' };
  const output = { address: addressOf('alice'), value: coins(9_000_000n), ...plain };
  const source = { ref: { txHash: 'ab'.repeat(32), index }, output };
  return decodeTransaction(payment(source, 'alice', 'bob', 2_000_000n).bytes);
}

/** Time that the test advances. */
function standing() {
  const due = new Set<() => void>();
  const after: Clock['after'] = (_, run) => {
    due.add(run);
    return { cancel: () => void due.delete(run) };
  };
  return { due, clock: { ...systemClock, after } };
}

function watched(waiting: Promise<void>) {
  const state = { isOver: false };
  const ended = waiting.then(() => {
    state.isOver = true;
  });
  return { state, ended };
}

test('a transaction is shown once the fold has it, pending or in a block', async () => {
  const { due, clock } = standing();
  const view = new MempoolOverlay();
  const [first, second, other] = [paying(0), paying(1), paying(2)];
  const one = watched(view.untilShown(first.id, clock, 1_000));
  const two = watched(view.untilShown(second.id, clock, 1_000));
  const again = watched(view.untilShown(second.id, clock, 1_000));
  view.apply({ kind: 'mempool', whole: false, added: [other], removed: [] });
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([one.state.isOver, two.state.isOver], [false, false]);
  view.apply({ kind: 'mempool', whole: false, added: [first], removed: [] });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(one.state.isOver, false, 'the fold does not show it yet');
  view.markShown([first]);
  await one.ended;
  assert.equal(two.state.isOver, false);
  view.confirm([second], 1);
  await Promise.all([two.ended, again.ended]);
  assert.equal(due.size, 0, 'nothing is left to be due');
  await view.untilShown(first.id, clock, 1_000);
});

test('a caller waits no longer than its limit for a transaction that never shows', async () => {
  const { due, clock } = standing();
  const view = new MempoolOverlay();
  const waiting = watched(view.untilShown(paying(0).id, clock, 1_000));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(waiting.state.isOver, false);
  for (const run of due) run();
  await waiting.ended;
});
