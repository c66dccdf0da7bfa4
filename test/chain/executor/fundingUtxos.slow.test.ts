/** Funding outputs are reserved one per pool, only where needed, and merged from time to time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refText, type Utxo } from '../../../src/cardano/codec/output.ts';
import { decodeTransaction } from '../../../src/cardano/codec/transaction.ts';
import { coins } from '../../../src/cardano/codec/value.ts';
import type { UtxoLookup } from '../../../src/cardano/ledger/port.ts';
import type { TransactionPlan } from '../../../src/cardano/transactions/plan.ts';
import type { BuildOptions } from '../../../src/cardano/transactions/port.ts';
import {
  Consolidation,
  FundingUtxos,
  planConsolidation,
} from '../../../src/chain/executor/fundingUtxos.ts';
import { accepted } from '../../cardano/transactions/verdict.ts';
import {
  ADA,
  ada,
  built,
  DEPLOYMENT,
  holding,
  outcomeOf,
  PLATFORM,
  TOKEN,
} from '../../cardano/transactions/world.ts';
import { DevnetWorld } from '../../e2e/devnet/world.ts';
import { executorOver, stopOwn } from './poolExecutorWorld.ts';

/** A ledger in memory: the outputs of the fee address, and a count of the pages that were read. */
class Held implements UtxoLookup {
  utxos: readonly Utxo[];
  pages = 0;

  constructor(utxos: readonly Utxo[]) {
    this.utxos = utxos;
  }

  async byPaymentKey(...[, , page]: Parameters<UtxoLookup['byPaymentKey']>) {
    this.pages += 1;
    const after = page?.after;
    const from = after === undefined ? 0 : 1 + this.utxos.findIndex((each) => each.ref === after);
    return this.utxos.slice(from, from + (page?.limit ?? this.utxos.length));
  }

  async byAsset() {
    return [];
  }

  async newestOf() {
    return null;
  }

  async byRefs(refs: Parameters<UtxoLookup['byRefs']>[0]) {
    return refs.map((ref) => {
      const utxo = this.utxos.find((each) => refText(each.ref) === refText(ref));
      if (utxo === undefined) return { state: 'spent', utxo: null } as const;
      return { state: 'unspent', utxo } as const;
    });
  }
}

const fees = (count: number, lovelace = 3n * ADA) =>
  Array.from({ length: count }, () => ada(PLATFORM, lovelace));

const laneOf = (n: number) => `${n.toString(16).padStart(56, '0')}.`;

test('pools that reserve at once get different outputs from one lookup', async () => {
  const held = new Held([holding(PLATFORM, 9n * ADA, TOKEN, 1n), ...fees(3, ADA), ...fees(20)]);
  const funding = new FundingUtxos(held);
  const lanes = Array.from({ length: 25 }, (_, n) => laneOf(n));
  const reserved = lanes.map((lane) => funding.reserve(lane, DEPLOYMENT.feeKeyHash));
  const found = (await Promise.all(reserved)).flat();
  assert.equal(found.length, 20);
  assert.equal(new Set(found.map(({ ref }) => refText(ref))).size, 20);
  assert.ok(found.every(({ output }) => output.value.lovelace >= 3n * ADA));
  assert.deepEqual(await funding.reserve('late', DEPLOYMENT.feeKeyHash), []);
  funding.release(laneOf(0));
  assert.equal((await funding.reserve('late', DEPLOYMENT.feeKeyHash)).length, 1);
});

test('a page of outputs is used up before the next lookup; spent ones are skipped', async () => {
  const held = new Held(fees(600));
  const funding = new FundingUtxos(held);
  for (let n = 0; n < 300; n += 1) {
    assert.equal((await funding.reserve('one', DEPLOYMENT.feeKeyHash)).length, 1);
    funding.release('one');
  }
  assert.equal(held.pages, 1);
  held.utxos = held.utxos.slice(400);
  const [float] = await funding.reserve('one', DEPLOYMENT.feeKeyHash);
  assert.ok(float !== undefined && held.utxos.includes(float));
  assert.equal(held.pages, 2);
});

test('funding are found behind a page of dust', async () => {
  const held = new Held([...fees(700, ADA), ...fees(1)]);
  const found = await new FundingUtxos(held).reserve('one', DEPLOYMENT.feeKeyHash);
  assert.deepEqual(found, held.utxos.slice(-1));
});

test('many small fee outputs become one; large ones, tokens and enough funding stay', () => {
  const others = [ada(PLATFORM, 50n * ADA), holding(PLATFORM, 2n * ADA, TOKEN, 1n)];
  assert.equal(planConsolidation([...others, ...fees(109)], PLATFORM.text), null);
  const small = fees(330, 2n * ADA);
  const plan = planConsolidation([...others, ...small], PLATFORM.text);
  assert.ok(plan !== null);
  const transaction = built(plan);
  assert.equal(transaction.inputs.length, 200);
  const names = new Set(small.map(({ ref }) => refText(ref)));
  assert.ok(transaction.inputs.every(({ ref }) => names.has(refText(ref))));
  const { outputs, feeLovelace } = decodeTransaction(accepted(transaction, plan, [PLATFORM]));
  assert.deepEqual(
    outputs.map(({ address, value }) => [address, value]),
    [[PLATFORM.text, coins(400n * ADA - feeLovelace)]],
  );
  assert.equal(
    planConsolidation([...others, ...small.slice(220)], PLATFORM.text)?.inputs.length,
    10,
  );
});

test('at most one consolidation per minute, and never of a reserved output', async () => {
  const held = new Held(fees(150));
  const funding = new FundingUtxos(held);
  const [reserved] = await funding.reserve('one', DEPLOYMENT.feeKeyHash);
  assert.ok(reserved !== undefined);
  let nowMs = 0;
  const spent: string[][] = [];
  const heard: string[] = [];
  const consolidation = new Consolidation(
    {
      utxos: held,
      funding: funding,
      keys: [PLATFORM.key],
      clock: { nowMs: () => nowMs },
      builder: { build: async (plan) => outcomeOf(plan) },
      submitter: {
        async submit(bytes) {
          const { id, inputs } = decodeTransaction(bytes);
          spent.push(inputs.map(refText));
          return { outcome: 'accepted', txHash: id };
        },
      },
    },
    {
      executorSubmitted: (kind) => void heard.push(kind),
      executorRejected: (_kind, _token, reason) => void heard.push(reason),
    },
  );
  for (nowMs of [0, 30_000, 59_999, 60_000]) await consolidation.run(async () => DEPLOYMENT);
  assert.deepEqual(heard, ['consolidate', 'consolidate']);
  assert.deepEqual(
    spent.map(({ length }) => length),
    [49, 49],
  );
  assert.ok(!spent.flat().includes(refText(reserved.ref)));
});

test('funding is looked up only where needed; builds are urgent and leave room', async (t) => {
  const world = await DevnetWorld.start(t);
  await stopOwn(world);
  const alice = await world.funded('alice', 500, 8);
  const { asset } = await world.launch(alice);
  let looks = 0;
  const fundingLookup: UtxoLookup = {
    byPaymentKey: (...asked) => {
      looks += 1;
      return world.chain.byPaymentKey(...asked);
    },
    byAsset: (...asked) => world.chain.byAsset(...asked),
    newestOf: (ref, asset) => world.chain.newestOf(ref, asset),
    byRefs: (refs) => world.chain.byRefs(refs),
  };
  const builds: [number, number, BuildOptions | undefined][] = [];
  const builder = {
    build: (plan: TransactionPlan, options?: BuildOptions) => {
      builds.push([plan.inputs.length, plan.maxPercent, options]);
      return world.kit.txContext.builder.build(plan, options);
    },
  };
  executorOver(t, world, { fundingLookup, builder });
  const buy = { assetId: asset, side: 'BUY', amount: 5n * ADA, slippage: 'infinity' } as const;
  const several = [await alice.order(buy), await alice.order(buy), await alice.order(buy)];
  await world.mine();
  for (const { id } of several) await world.spent(id);
  assert.equal(looks, 0);
  const single = await alice.order(buy);
  await world.mine();
  await world.spent(single.id);
  assert.equal(looks, 1);
  assert.deepEqual(builds, [
    [4, 60, { urgent: true }],
    [3, 100, { urgent: true }],
  ]);
});
