/** The node's mempool, reported as the port says, through blocks and forks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Constr } from '../../../src/cardano/codec/plutusData.ts';
import { decodeTransaction, type Transaction } from '../../../src/cardano/codec/transaction.ts';
import { coins } from '../../../src/cardano/codec/value.ts';
import { servedTransaction } from '../../../src/devnet/ogmios/transactionJson.ts';
import { praosBlock } from '../../support/ogmios/blocks.ts';
import { startFakeOgmios } from '../../support/ogmios/scene.ts';
import type { FakeOgmios } from '../../support/ogmios/server.ts';
import { ADA, aliceText, deployment, launchOf, orderOf, transaction } from '../recogniseWorld.ts';
import { startOgmios } from './ogmiosWorld.ts';
import { StreamModel } from './streamModel.ts';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000_000);

const step = fc.oneof(
  fc.record({ do: fc.constantFrom('arrive' as const), count: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ do: fc.constantFrom('leave' as const, 'mine' as const), count: fc.nat(4) }),
  fc.record({
    do: fc.constant('fork' as const),
    count: fc.integer({ min: 1, max: 4 }),
    returns: fc.boolean(),
  }),
  fc.record({ do: fc.constantFrom('drop' as const, 'check' as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A node that keeps its mempool as nodes do. */
class Node {
  readonly fake: FakeOgmios;
  /** Transactions of each block. */
  readonly blocks: Transaction[][] = [];
  waiting: Transaction[] = [];
  #salt = 0;

  constructor(fake: FakeOgmios) {
    this.fake = fake;
  }

  tell(): void {
    this.fake.chain.mempool(this.waiting.map((tx) => servedTransaction(tx)));
  }

  arrive(...transactions: Transaction[]): void {
    this.waiting.push(...transactions);
    this.tell();
  }

  mine(...transactions: Transaction[]): void {
    const { chain } = this.fake;
    this.#salt += 1;
    const told = transactions.map((tx) => servedTransaction(tx));
    this.waiting = this.waiting.filter((tx) => !transactions.includes(tx));
    this.blocks.push(transactions);
    // A node changes both at once; a reader may see either first.
    if (this.#salt % 2 === 0) this.tell();
    chain.extend(praosBlock(chain.tip, { salt: `${this.#salt}`, transactions: told }));
    if (this.#salt % 2 === 1) this.tell();
  }

  fork(depth: number, returns: boolean): void {
    const taken = this.blocks.splice(Math.max(0, this.blocks.length - depth));
    if (returns) this.waiting.unshift(...taken.flat());
    const isFirst = this.#salt % 2 === 0;
    if (isFirst) this.tell();
    this.fake.chain.fork(taken.length);
    if (!isFirst) this.tell();
  }

  async agrees(model: StreamModel): Promise<void> {
    await model.same(this.fake.chain);
    const ids = () => this.waiting.map(({ id }) => id);
    await model.until(
      'pending transactions are reported',
      () => [...model.waiting].sort().join() === ids().sort().join() && model.wholes > 0,
    );
  }
}

function payment(ada: bigint): Transaction {
  return transaction({ outputs: [{ address: aliceText, value: coins(ada * ADA) }] });
}

async function perform(each: Step, node: Node, model: StreamModel): Promise<void> {
  if (each.do === 'arrive') {
    node.arrive(...Array.from({ length: each.count }, () => payment(3n)));
  } else if (each.do === 'leave') {
    node.waiting.splice(0, each.count);
    node.tell();
  } else if (each.do === 'mine') node.mine(...node.waiting.slice(0, each.count));
  else if (each.do === 'fork') node.fork(each.count, each.returns);
  else if (each.do === 'drop') node.fake.dropAll();
  else await node.agrees(model);
}

test('pending is what was added and not removed, through blocks and forks', {
  timeout: 180_000,
}, async (t) => {
  t.diagnostic(`seed ${SEED}; again: SEED=${SEED} node --test ${import.meta.filename}`);
  const node = new Node(await startFakeOgmios(t));
  const chain = await startOgmios(t, node.fake.url, { limits: { returnMs: 20 } });
  const model = await StreamModel.open(t, chain);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 15 }), async (steps) => {
      for (const each of steps) await perform(each, node, model);
      await node.agrees(model);
    }),
    { seed: SEED, numRuns: 15, endOnFailure: true, includeErrorInReport: true },
  );
});

test('a transaction that moves into a block was not removed, one that loses its input was', {
  timeout: 120_000,
}, async (t) => {
  const node = new Node(await startFakeOgmios(t));
  const chain = await startOgmios(t, node.fake.url);
  const model = await StreamModel.open(t, chain);
  node.mine();
  const [one, two, three] = [payment(3n), payment(4n), payment(5n)];
  node.arrive(one, two, three);
  await node.agrees(model);
  const rival = transaction({ inputs: two.inputs, outputs: [] });
  node.waiting = node.waiting.filter((tx) => tx !== two);
  node.mine(one, rival);
  await node.agrees(model);
  node.waiting = [];
  node.tell();
  await node.agrees(model);
  await model.until('both are reported', () => model.removed.length === 2);
  assert.deepEqual(model.removed, [
    { id: two.id, reason: 'INPUT_SPENT' },
    { id: three.id, reason: 'REFUSED' },
  ]);
});

test('only transactions that may matter are reported, also those that spend pending outputs', {
  timeout: 120_000,
}, async (t) => {
  const node = new Node(await startFakeOgmios(t));
  const chain = await startOgmios(t, node.fake.url, { deployment });
  const model = await StreamModel.open(t, chain);
  node.mine();
  const launch = launchOf('New');
  const order = orderOf(launch.token, 'buy');
  const cancel = transaction({
    inputs: [order.ref],
    spends: { 0: new Constr(0, []) },
    outputs: [{ address: aliceText, value: coins(3n * ADA) }],
  });
  node.arrive(payment(3n), launch.tx, payment(4n), order.tx, cancel);
  const expected = [launch.tx.id, order.tx.id, cancel.id];
  await model.until('they are reported', () => model.waiting.size === 3);
  assert.deepEqual([...model.waiting], expected);
  node.mine(...node.waiting);
  await model.until('they are in a block', () => model.newest?.transactions.length === 3);
  assert.deepEqual(
    [model.newest?.transactions.map(({ id }) => id), model.newest?.txIndexes, model.removed],
    [expected, [1, 3, 4], []],
  );
});

test('after a fork that left the mempool unchanged, all of it is reported again', {
  timeout: 120_000,
}, async (t) => {
  const node = new Node(await startFakeOgmios(t));
  const chain = await startOgmios(t, node.fake.url);
  const model = await StreamModel.open(t, chain);
  node.mine();
  node.mine();
  node.arrive(payment(3n));
  await node.agrees(model);
  const { wholes } = model;
  node.fork(1, true);
  await model.until(
    'it is reported again',
    () => model.wholes > wholes && model.waiting.size === 1,
  );
  assert.deepEqual(model.removed, []);
});

test('our submission is reported at once, and removed if the node never shows it', {
  timeout: 120_000,
}, async (t) => {
  const node = new Node(await startFakeOgmios(t));
  const { fake } = node;
  const chain = await startOgmios(t, fake.url, { deployment });
  const model = await StreamModel.open(t, chain);
  node.mine();
  const shown = launchOf('Shown').tx;
  node.arrive(shown);
  await node.agrees(model);
  const [lost, mined] = [payment(3n), payment(4n)];
  fake.submit = async (cbor) => decodeTransaction(Buffer.from(cbor, 'hex')).id;
  for (const tx of [lost, mined]) {
    assert.equal((await chain.submit(tx.bytes)).outcome, 'accepted');
    await model.until('it is reported', () => model.waiting.has(tx.id));
  }
  node.mine(mined);
  await model.until('it is in a block', () => model.newest?.transactions[0]?.id === mined.id);
  await model.until('the other one is dropped', () => model.removed.length > 0);
  assert.deepEqual(model.removed, [{ id: lost.id, reason: 'REFUSED' }]);
  await node.agrees(model);
});
