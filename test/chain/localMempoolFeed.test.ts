/**
 * A node that does not write the log, and the transactions that it hears of from its own Cardano
 * node.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Transaction } from '../../src/cardano/codec/transaction.ts';
import { asValue } from '../../src/cardano/codec/value.ts';
import { chainTip } from '../../src/chain/chainPoints.ts';
import { LocalMempoolFeed } from '../../src/chain/localMempoolFeed.ts';
import { systemClock } from '../../src/engine/runtime/clock.ts';
import { PUBLIC_POLICY } from '../support/chainPolicies.ts';
import type { FoldWorld } from '../support/foldWorld.ts';
import { until } from '../support/until.ts';
import { followFrom, MadeElsewhere } from './distantChain.ts';
import { caughtUp, openWorld } from './followed.ts';
import { ADA, aliceText, launchOf, orderOf, RULES, transaction } from './recogniseWorld.ts';

/** Blocks are brought into the log by another node, whose chain is the same up to its own end. */
async function open(t: TestContext) {
  const [own, leader] = [new MadeElsewhere(), new MadeElsewhere()];
  const world = await openWorld(t);
  const { follower } = followFrom(t, world, leader);
  t.after(() => follower.stop());
  own.empty(3);
  leader.again(...own.blocks);
  await caughtUp(world, own);
  return { own, leader, world };
}

function overhear(t: TestContext, { node }: FoldWorld, source: MadeElsewhere) {
  const said: string[] = [];
  const shown: string[] = [];
  const faults: unknown[] = [];
  const view = {
    apply: ({ added }: { readonly added: readonly unknown[] }) =>
      void said.push(`${added.length} wait`),
    markShown: (transactions: readonly Transaction[]) =>
      void shown.push(...transactions.map(({ id }) => id)),
    confirm: (transactions: readonly unknown[]) => void said.push(`${transactions.length} settled`),
    clear: () => void said.push('forgotten'),
  };
  const heard = new LocalMempoolFeed(
    { source, node, overlay: view, rules: RULES, policy: PUBLIC_POLICY, clock: systemClock },
    (error) => {
      faults.push(error);
    },
  );
  t.after(() => heard.stop());
  return { heard, said, shown, faults };
}

const heightOf = ({ fold }: FoldWorld) => chainTip(fold.store)?.height;

test('pending transactions are reported, and confirmed once the log has their block', async (t) => {
  const { own, leader, world } = await open(t);
  const { tx } = launchOf('Heard');
  own.wait(tx);
  const { heard, said, faults } = overhear(t, world, own);
  assert.equal(heard.isOpen, false);
  await heard.start();
  assert.equal(heard.isOpen, true);
  await until('it waits', () => said.at(-1) === '1 wait');
  own.block([tx]);
  await until('its block is heard of', () => own.isHeard);
  assert.deepEqual([said.at(-1), heightOf(world)], ['1 wait', 3], 'the log does not have it yet');
  leader.again(...own.blocks.slice(3));
  await until('it is settled', () => said.at(-1) === '1 settled');
  assert.equal(heightOf(world), 4);
  own.cut(3);
  await until('a way back forgets', () => said.at(-1) === 'forgotten');
  assert.equal(heightOf(world), 4, 'and changes nothing else');
  await heard.stop();
  assert.deepEqual([heard.isOpen, faults], [false, []]);
});

test('a pending transaction shows once the log has its launch or its orders', async (t) => {
  const { own, leader, world } = await open(t);
  const launch = launchOf('Shown');
  own.block([launch.tx]);
  leader.again(...own.blocks.slice(3));
  await caughtUp(world, own);
  const plain = transaction({ outputs: [{ address: aliceText, value: asValue(2n * ADA, []) }] });
  const [another, order] = [launchOf('Another').tx, orderOf(launch.token, 'buy').tx];
  own.wait(plain, another, order);
  const { heard, shown, faults } = overhear(t, world, own);
  await heard.start();
  await until('the payment is shown: the log says nothing of it', () => shown.length > 0);
  assert.deepEqual(shown, [plain.id]);
  leader.wait(another);
  await until('the launch is shown', () => shown.length === 2);
  leader.wait(order);
  await until('the order is shown', () => shown.length === 3);
  assert.ok(world.fold.mempool.has(order.id));
  assert.deepEqual([shown, faults], [[plain.id, another.id, order.id], []]);
});

test('far ahead of the log it reads no further until the log is there', async (t) => {
  const { own, leader, world } = await open(t);
  const { heard, said, faults } = overhear(t, world, own);
  await heard.start();
  own.empty(200);
  await until('it reads some', () => own.told > 3);
  const settled = () => said.filter((each) => each === '0 settled').length;
  for (let height = 4; height <= own.blocks.length; height += 50) {
    leader.again(...own.blocks.slice(leader.blocks.length, height));
    await caughtUp(world, leader);
    await until('it hears what the log has', () => settled() >= height - 3);
    assert(own.told <= height + 64, `${own.told} blocks are reported, the log has ${height}`);
  }
  assert.deepEqual(faults, []);
});

test('it stops while its node is away, and does not speak up later', async (t) => {
  const { own, world } = await open(t);
  const reached = Promise.withResolvers<void>();
  own.reached = reached.promise;
  const { heard, said } = overhear(t, world, own);
  const starting = heard.start();
  await heard.stop();
  await starting;
  const before = [...said];
  reached.resolve();
  await until('what comes too late is closed', () => own.closed === 1);
  assert.deepEqual([said, heard.isOpen], [before, false]);
});

test('a node of another chain, or without one yet, is none to lead with', async (t) => {
  const { leader, world } = await open(t);
  leader.block([], 200_000);
  await caughtUp(world, leader);
  const strange = new MadeElsewhere('strange');
  strange.empty(9);
  const { heard } = overhear(t, world, strange);
  await assert.rejects(heard.start(), /none of the newest blocks/);
  assert.equal(heard.isOpen, false);
});
