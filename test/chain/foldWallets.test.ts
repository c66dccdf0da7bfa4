/**
 * Random markets on a chain that forks: holders, balances and positions equal the sums over all
 * events of the remaining blocks. Replay a failure: put the printed `{ seed, path }` into the
 * options of `fc.assert`.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { insightsOf } from '../../src/api/holders/insights.ts';
import { balanceOf, holderPage, metricsOf, poolOf } from '../../src/api/holders/routes.ts';
import { topTraders } from '../../src/api/holders/traders.ts';
import type { Fold } from '../../src/engine/fold/fold.ts';
import type { PoolRecord } from '../../src/engine/store/records.ts';
import { checkRebuild } from '../support/foldCheck.ts';
import { FoldWorld, NEVER_MS } from '../support/foldWorld.ts';
import { temporaryDirectory } from '../support/server.ts';
import { appendBlock, rollBackTo, rowsOf } from './foldChain.ts';
import { type Action, BlockMaker, type MadeBlock } from './foldMarket.ts';
import { addressOf, type ModelPool, ownerOf, USERS } from './foldState.ts';
import { trustTruth } from './trustTruth.ts';
import {
  metricsTruth,
  spotNow,
  spread,
  tradersTruth,
  type WalletTruth,
  walletTruth,
} from './walletTruth.ts';

const user = fc.oneof({ weight: 3, arbitrary: fc.nat(3) }, fc.nat(USERS - 1));
const pool = fc.nat(1);
const index = fc.nat(20);
const just = <const T>(value: T) => fc.constant(value);
const trade = (side: 'buy' | 'sell', most: number) => {
  const amount = fc.integer({ min: 1, max: most });
  return fc.record({ do: just('place'), user, pool, side: just(side), amount });
};
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ do: just('launch'), user, buy: fc.nat(60), to: user }),
  { weight: 3, arbitrary: trade('buy', 12) },
  { weight: 4, arbitrary: trade('sell', 100) },
  { weight: 5, arbitrary: fc.record({ do: just('execute'), pool }) },
  fc.record({ do: fc.constantFrom('refund', 'cancel', 'withdraw'), index }),
  fc.record({ do: just('withdraw'), index, giver: fc.nat(1) }),
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('transfer', 'lock'), user, pool, to: user }),
  },
);

interface Step {
  readonly actions: readonly Action[];
  /** Taken back first. */
  readonly back: number;
  readonly restarts: boolean;
}
const step: fc.Arbitrary<Step> = fc.record({
  actions: fc.array(action, { maxLength: 8 }),
  back: fc.oneof({ weight: 4, arbitrary: just(0) }, fc.nat(4)),
  restarts: fc.oneof({ weight: 5, arbitrary: just(false) }, just(true)),
});
const START: readonly (readonly Action[])[] = [
  [
    { do: 'launch', user: 0, buy: 60 },
    { do: 'launch', user: 1, buy: 0 },
    { do: 'place', user: 1, pool: 0, side: 'buy', amount: 13 },
  ],
  [
    { do: 'execute', pool: 0 },
    { do: 'transfer', user: 0, pool: 0, to: 2 },
  ],
  [{ do: 'place', user: 1, pool: 0, side: 'sell', amount: 40 }],
  // More holders than the largest ten, each with another amount.
  Array.from({ length: USERS }, (_, each) => ({
    do: 'place',
    user: each,
    pool: 0,
    side: 'buy',
    amount: 2 + (each % 3),
  })),
  Array.from({ length: USERS / 2 }, () => ({ do: 'execute', pool: 0 })),
  [
    { do: 'execute', pool: 0 },
    { do: 'place', user: 1, pool: 0, side: 'sell', amount: 70 },
    { do: 'lock', user: 0, pool: 0, to: 3 },
  ],
  [
    { do: 'refund', index: 0 },
    { do: 'withdraw', index: 0, giver: 0 },
  ],
];

class Runner {
  readonly maker = new BlockMaker();
  #blocks: MadeBlock[] = [];
  world: FoldWorld;

  constructor(world: FoldWorld) {
    this.world = world;
  }

  async perform({ actions, back, restarts }: Step): Promise<void> {
    if (back > 0 && this.#blocks.length > 0) {
      const height = this.maker.back(back);
      this.#blocks = this.#blocks.slice(0, height);
      await rollBackTo(this.world, height);
      this.#check();
    }
    const block = spread(this.maker.block(actions, 20_000));
    this.#blocks.push(block);
    await appendBlock(this.world, block);
    if (restarts) this.world = await this.world.restarted();
    this.#check();
  }

  #check(): void {
    const { said } = this.world;
    assert.deepEqual([said.foldFailures, said.quarantined], [[], []]);
    const truth = walletTruth(this.#blocks);
    const { pools } = this.maker.state;
    const count = (rows: readonly unknown[]) => rows.length;
    const rows = [...truth.holders.values()].map(count).reduce((sum, each) => sum + each, 0);
    assert.equal(rowsOf(this.world, 'holders').size, rows, 'no row is left behind');
    const insights = [...pools.values()].map(({ token }) => trustTruth(this.#blocks, token));
    const ranked = insights.reduce((sum, { holders }) => sum + holders, 0);
    assert.equal(rowsOf(this.world, 'holder_ranks').size, ranked, 'no rank is left behind');
    const balances = new Map([...truth.balances].map(([key, held]) => [key, String(held)]));
    assert.deepEqual(rowsOf(this.world, 'balances'), balances);
    assert.deepEqual(new Set(rowsOf(this.world, 'traders').keys()), new Set(truth.fills.keys()));
    for (const each of pools.values()) this.#checkToken(each, truth);
  }

  #checkToken(model: ModelPool, truth: WalletTruth): void {
    const { fold } = this.world;
    const { token } = model;
    const record = poolOf(fold, token);
    assert(record !== null);
    const holders = truth.holders.get(token) ?? [];
    const held = (pkh: string) => truth.balances.get(`${pkh}/${token}`) ?? 0n;
    const users = Array.from({ length: USERS }, (_, each) => each);
    const author = users.find((each) => ownerOf(each) === model.author) ?? -1;
    const dev = { address: addressOf(author), quantity: String(held(model.author)) };
    const expected = { dev, count: holders.length };
    for (const [offset, limit] of [
      [0, 100],
      [1, 2],
      [2, 1],
      [holders.length, 5],
    ] as const) {
      assert.deepEqual(holderPage(fold, record, { offset, limit }), {
        holders: holders.slice(offset, offset + limit),
        ...expected,
      });
    }
    const others = [...this.maker.state.pools.values()].filter((pool) => {
      return pool.author === model.author && pool.token !== token;
    });
    const { author: own, ...trust } = trustTruth(this.#blocks, token);
    const graduated = others.filter(({ graduatedMs }) => graduatedMs !== null).length;
    const { topHolderPercent, authorPercent, authorSold, authorSoldTokens, bundled, ...found } =
      insightsOf(fold, record);
    assert.deepEqual(found, { ...trust, author: { ...own, launches: others.length, graduated } });
    for (const pkh of users.map(ownerOf)) {
      assert.equal(balanceOf(fold, pkh, token), held(pkh));
      const fills = truth.fills.get(`${pkh}/${token}`);
      const metrics = fills && {
        asset: token,
        pkh,
        ...metricsTruth(fills, spotNow(model), held(pkh)),
      };
      assert.deepEqual(metricsOf(fold, token, pkh), metrics ?? null);
    }
    for (const sort of ['realized', 'unrealized', 'volume'] as const) {
      const all = tradersTruth(truth, users.map(ownerOf), { token, spot: spotNow(model), sort });
      for (const limit of [100, 2]) {
        assert.deepEqual(tradersNow(fold, record, { sort, limit }), all.slice(0, limit), sort);
      }
    }
  }
}

function tradersNow(fold: Fold, pool: PoolRecord, query: Parameters<typeof topTraders>[2]) {
  const held = fold.store.snapshot();
  const steps = topTraders({ rows: held.rows }, pool, query);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done !== true) continue;
    held.release();
    return step.value;
  }
}

const anyOptions = fc.record({
  horizonBlocks: fc.constantFrom(3, 2160, 2160),
  commitEveryMs: fc.constantFrom(0, NEVER_MS),
});

test('holders, balances and positions are those of the blocks that are left', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyOptions,
      fc.array(step, { minLength: 4, maxLength: 16 }),
      async (...run) => {
        const [options, steps] = run;
        const ends: (() => void | Promise<void>)[] = [];
        const scope = { after: (end: () => void | Promise<void>) => void ends.push(end) };
        const directory = join(temporaryDirectory(), 'data');
        const runner = new Runner(await FoldWorld.open(scope, directory, options));
        try {
          for (const actions of START) await runner.perform({ actions, back: 0, restarts: false });
          for (const each of steps) await runner.perform(each);
          await checkRebuild(runner.world);
        } finally {
          for (const end of ends.reverse()) await end();
        }
      },
    ),
    { numRuns: Number(process.env.RUNS ?? 12), includeErrorInReport: true },
  );
});
