/** What a copying ledger takes, refuses, takes back and hands on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toHex } from '../../src/cardano/codec/hex.ts';
import { Replica } from '../../src/devnet/replica.ts';
import { genesisPlan, keyNamed, ledgerOptions, openTestLedger } from '../support/ledgerWorld.ts';
import { begunAs, Pair, picture, waitingIds } from './replicaPair.ts';

test('what waits can be judged in the order it has, in whatever order it was told', () => {
  const pair = new Pair();
  for (let at = 0; at < 8; at += 1) pair.run({ do: 'pay', from: 0, to: 0, pick: 9 });
  const { ledger } = pair.copy;
  const told = [...pair.leader.ledger.mempool.all()].map(({ tx }) => tx);
  const ids = told.map(({ id }) => id);
  assert.ok(
    told.some(({ inputs }) => inputs.some(({ txHash }) => ids.includes(txHash))),
    'some need others',
  );
  const raw = told.map(({ bytes }) => toHex(bytes)).reverse();
  const change = { whole: true, isJudged: true, added: raw, removed: [] };
  assert.deepEqual(pair.replica.applyMempool(change), { outcome: 'done' });
  const there = new Set<string>();
  for (const { tx } of ledger.mempool.all()) {
    const needed = tx.inputs.filter(({ txHash }) => ids.includes(txHash));
    assert.ok(
      needed.every(({ txHash }) => there.has(txHash)),
      'each after what it needs',
    );
    there.add(tx.id);
  }
  pair.replica.applyMempool({ ...change, added: [] });
  for (const each of raw) pair.replica.applyMempool({ ...change, whole: false, added: [each] });
  ledger.judgeAnew();
  while (ledger.isRevalidating) ledger.revalidateOne();
  assert.deepEqual(waitingIds(ledger), ids.sort());
  pair.close();
});

test('a block that does not follow, or is another than its hash says, changes nothing', () => {
  const pair = new Pair();
  pair.run({ do: 'pay', from: 0, to: 1, pick: 0 });
  pair.run({ do: 'mine', blocks: 1 });
  pair.run({ do: 'pay', from: 0, to: 1, pick: 4 });
  pair.run({ do: 'mine', blocks: 1 });
  const { file } = pair.leader;
  const block = (height: number) => {
    const raw = file.transactionsOf(height).map(({ bytes }) => toHex(bytes));
    const head = file.head(height);
    assert.ok(head !== null);
    return { head, raw };
  };
  const [first, second] = [block(1), block(2)];
  const before = picture(pair.copy);
  const missing = { ...first, raw: [] };
  const moved = { ...first, head: { ...first.head, slot: first.head.slot + 1 } };
  const garbled = { ...first, raw: ['80'] };
  for (const blocks of [[second], [missing], [moved], [garbled], [first, first]]) {
    assert.equal(pair.replica.apply(blocks).outcome, 'diverged', JSON.stringify(blocks));
    assert.deepEqual(picture(pair.copy), before);
  }
  assert.deepEqual(pair.replica.apply([first, second]), { outcome: 'done' });
  assert.equal(pair.replica.rollTo({ ...first.head, hash: 'ff' }).outcome, 'diverged');
  assert.deepEqual(picture(pair.copy), picture(pair.leader));
  pair.close();
});

test('a block whose inputs are not there is told as such', () => {
  const pair = new Pair();
  pair.run({ do: 'pay', from: 0, to: 1, pick: 0 });
  const wallets = genesisPlan().wallets.slice(1);
  const options = { ...ledgerOptions(), genesis: { ...genesisPlan(), wallets } };
  const other = openTestLedger(options);
  pair.run({ do: 'mine', blocks: 1 });
  const { tip } = pair.leader.ledger;
  assert.ok(tip !== null);
  const raw = pair.leader.file.transactionsOf(1).map(({ bytes }) => toHex(bytes));
  const replica = new Replica(other.ledger, other.file, () => {});
  const outcome = replica.apply([{ head: tip, raw }]);
  assert.ok(outcome.outcome === 'diverged');
  assert.match(outcome.message, /input .* is not there/);
  other.file.close();
  pair.close();
});

test('blocks that nobody else has are taken back, and slots of theirs may come again', () => {
  const pair = new Pair();
  pair.run({ do: 'mine', blocks: 3 });
  pair.tell();
  const common = pair.leader.ledger.tip;
  assert.ok(common !== null);
  pair.copy.ledger.forge(5);
  const points = [common];
  assert.equal(pair.replica.reconcile([{ slot: 2, hash: 'ff' }], false).outcome, 'none');
  assert.equal(pair.copy.ledger.height, 8, 'nothing was undone');
  const found = pair.replica.reconcile(points, false);
  assert.deepEqual(found, {
    outcome: 'common',
    point: { slot: common.slot, hash: common.hash },
  });
  pair.run({ do: 'pay', from: 0, to: 1, pick: 0 });
  pair.run({ do: 'mine', blocks: 2 });
  pair.check();
  const { blockSlot } = pair.copy.ledger;
  assert.ok(blockSlot > pair.leader.ledger.blockSlot, 'it made later ones');
  pair.run({ do: 'restart' });
  assert.equal(pair.copy.ledger.blockSlot, blockSlot, 'and knows it for good');
  assert.deepEqual(pair.replica.reconcile([], true), { outcome: 'common', point: null });
  assert.equal(pair.copy.ledger.height, 0);
  pair.close();
});

test('what began is given to others after it was spent and forgotten', () => {
  const pair = new Pair();
  const before = begunAs(pair.leader);
  for (const from of [0, 1, 2]) pair.run({ do: 'pay', from, to: from, pick: 0 });
  pair.run({ do: 'mine', blocks: 1 });
  pair.leader.ledger.forge(2_200);
  assert.deepEqual(begunAs(pair.leader), before);
  pair.close();
});

test('does not begin with what other keys began', () => {
  const pair = new Pair();
  const genesis = { ...genesisPlan(), executorKeyHash: keyNamed('other').hash };
  const options = { ...ledgerOptions(), genesis, begun: begunAs(pair.leader) };
  assert.throws(() => openTestLedger(options), /other keys/);
  openTestLedger({ ...options, genesis: genesisPlan() }).file.close();
  pair.close();
});
