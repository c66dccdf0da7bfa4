/** One piece of work that fails, or waits, keeps no other from being done. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { refText } from '../../../src/cardano/codec/output.ts';
import type { UtxoLookup } from '../../../src/cardano/ledger/port.ts';
import type { TransactionPlan } from '../../../src/cardano/transactions/plan.ts';
import type { Builder } from '../../../src/cardano/transactions/port.ts';
import type { PlacedOrder } from '../../../src/client/trade/tradingClient.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import type { StateStore } from '../../../src/engine/store/state.ts';
import { ADA, DevnetWorld } from '../../e2e/devnet/world.ts';
import { until } from '../../support/until.ts';
import { executorOver, stopOwn } from './poolExecutorWorld.ts';

const ends: (() => void | Promise<void>)[] = [];
after(async () => {
  for (const end of ends.toReversed()) await end();
});
const world = await DevnetWorld.start({ after: (end) => void ends.push(end) });
await stopOwn(world);
const alice = await world.funded('alice', 9_999, 4);
const plain = world.kit.txContext.builder;

const buyOf = (assetId: string, ada: bigint) =>
  ({ assetId, side: 'BUY', amount: ada * ADA, slippage: 'infinity' }) as const;

async function placed(asset: string, count: number, ada = 5n): Promise<PlacedOrder[]> {
  const orders: PlacedOrder[] = [];
  for (let n = 0; n < count; n += 1) orders.push(await alice.order(buyOf(asset, ada)));
  return orders;
}

async function filled(orders: readonly PlacedOrder[]): Promise<void> {
  for (const { id } of orders) await world.wanted(id);
  await world.mine();
  for (const { id } of orders) assert.equal(world.order(id).state, 'executed');
}

const ordersIn = ({ inputs }: TransactionPlan) =>
  inputs.filter(({ redeemer }) => redeemer !== null).length - 1;

/** Orders whose fill cannot be built, alone or with others. */
function refusing(bad: readonly string[]): Builder {
  return {
    async build(plan, options) {
      const isBad = plan.inputs.some(({ utxo }) => bad.includes(refText(utxo.ref)));
      const refusal = { outcome: 'refused', reason: 'SCRIPT_FAILED', message: 'bad' } as const;
      return isBad ? { ...refusal, log: [] } : plain.build(plan, options);
    },
  };
}

/** The fee address of a market without an output. */
const NOTHING: UtxoLookup = {
  byPaymentKey: async () => [],
  byAsset: (...asked) => world.chain.byAsset(...asked),
  newestOf: (ref, asset) => world.chain.newestOf(ref, asset),
  byRefs: (refs) => world.chain.byRefs(refs),
};

test('an order that cannot be built blocks none behind it', async (t) => {
  const { asset } = await world.launch(alice, { name: 'Poison' });
  const [bad, ...good] = await placed(asset, 4);
  assert.ok(bad !== undefined);
  const pacer = { monotonicMs: () => 0 };
  const { heard, executor } = executorOver(t, world, { builder: refusing([bad.id]), pacer });
  await world.mine();
  await filled(good);
  assert.equal(world.order(bad.id).state, 'open');
  assert.deepEqual([heard.failed, heard.stuck], [[], []]);
  await executor.stop();
  await alice.cancel(bad.id);
  await world.mine();
});

test('a batch whose build takes too long is halved, after a pause', async (t) => {
  const { asset } = await world.launch(alice, { name: 'Slow' });
  const orders = await placed(asset, 8);
  const tried: number[] = [];
  const builder: Builder = {
    async build(plan, options) {
      tried.push(ordersIn(plan));
      if (ordersIn(plan) <= 3) return plain.build(plan, options);
      return new Failure('SERVER_ERROR', 'build: it took longer than 10 ms', {
        reason: 'TIMED_OUT',
      });
    },
  };
  let nowMs = 0;
  const { heard } = executorOver(t, world, { builder, pacer: { monotonicMs: () => nowMs } });
  await world.mine();
  await until('too slow', () => heard.rejected.length === 1);
  await world.mine(2);
  assert.deepEqual(tried, [8], 'the machine is busy: not at once');
  nowMs += 1_000;
  await world.mine();
  await until('too slow again', () => heard.rejected.length === 2);
  nowMs += 2_000;
  await world.mine();
  await filled(orders);
  assert.deepEqual(tried.slice(0, 3), [8, 4, 2]);
});

test('an entry that changes one pool makes work for that pool only', async (t) => {
  const tokens: string[] = [];
  for (const name of ['Idle', 'Still', 'Busy']) {
    tokens.push((await world.launch(alice, { name })).asset);
  }
  const [idle = '', still = '', busy = ''] = tokens;
  const limits: PlacedOrder[] = [];
  for (const assetId of [idle, still]) {
    const limit = { minOutput: 9_000_000n, waitFor: 3_600 };
    limits.push(await alice.order({ ...buyOf(assetId, 5n), ...limit }));
  }
  await world.mine();
  const read: string[] = [];
  const store = () => {
    const rows = world.kit.txContext.store();
    const withPrefix: StateStore['withPrefix'] = (table, prefix, ...more) => {
      if (table === 'open_orders') read.push(prefix);
      return rows.withPrefix(table, prefix, ...more);
    };
    return new Proxy(rows, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (name === 'withPrefix') return withPrefix;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  };
  const { executor } = executorOver(t, world, { store });
  const others = () => read.filter((prefix) => !prefix.startsWith(busy)).length;
  await until('both are visited', () => [idle, still].every((each) => read.includes(`${each}/`)));
  await world.mine(3);
  read.length = 0;
  const orders = await placed(busy, 3);
  await world.mine();
  await filled(orders);
  await world.mine(3);
  assert.ok(read.some((prefix) => prefix.startsWith(busy)));
  assert.equal(others(), 0, read.join());
  await executor.stop();
  for (const { id } of limits) await alice.cancel(id);
  await world.mine();
});

test('a payout that lacks funding keeps no order waiting, and comes when it can', async (t) => {
  const carol = await world.funded('carol', 9_999, 3);
  const { asset } = await world.launch(alice, { name: 'Owing', initialLovelace: 50n * ADA });
  const first = executorOver(t, world);
  const { reserves, thresholdLovelace } = world.pool(asset);
  const missing = BigInt(thresholdLovelace) - BigInt(reserves.x);
  await carol.order({ ...buyOf(asset, 1n), amount: (missing * 100n) / 99n + 2n });
  await world.mine();
  await until('graduation is sent', () => first.heard.kinds.includes('graduate'));
  await world.mine();
  await first.executor.stop();
  let nowMs = 0;
  const pacer = { monotonicMs: () => nowMs };
  const broke = executorOver(t, world, { fundingLookup: NOTHING, pacer });
  const owing = await placed(asset, 3, 200n);
  await world.mine();
  await filled(owing);
  await until('the payout fails', () => broke.heard.rejected.length > 0);
  assert.deepEqual(broke.heard.rejected, [{ kind: 'collect', reason: 'FLOAT' }]);
  const behind = await placed(asset, 3);
  await world.mine();
  await filled(behind);
  nowMs += 1_000;
  await world.mine();
  await until('it fails again', () => broke.heard.stuck.length === 1);
  assert.deepEqual(
    broke.backoff.stuck().map(({ token, kind }) => [token, kind]),
    [[asset, 'collect']],
  );
  assert.deepEqual(broke.heard.failed, []);
  await broke.executor.stop();
  const busy = await placed(asset, 12);
  await world.mine();
  const single: Builder = {
    async build(plan, options) {
      if (ordersIn(plan) <= 1) return plain.build(plan, options);
      return { outcome: 'refused', reason: 'TOO_LARGE', message: 'one order', log: [] };
    },
  };
  const { heard } = executorOver(t, world, { builder: single });
  await until('a chain of ten', () => heard.kinds.length === 10);
  assert.ok(!heard.kinds.includes('collect'), 'orders go first');
  await world.mine();
  await filled(busy);
  assert.equal(heard.kinds[10], 'collect', 'but no more than ten batches');
  assert.equal(world.pool(asset).reserves.owed < String(5n * ADA), true);
});
