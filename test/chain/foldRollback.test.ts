/**
 * Random markets on a chain that forks: after blocks, roll-backs within the horizon and beyond it,
 * restarts and crashes, rows and bars equal the model of the market that made the blocks, and
 * replaying the log alone gives the same state. Replay a failure: put the printed `{ seed, path }`
 * into the options of `fc.assert`.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkRebuild } from '../support/foldCheck.ts';
import { FoldWorld, NEVER_MS } from '../support/foldWorld.ts';
import { temporaryDirectory } from '../support/server.ts';
import { seedOf, untilSeen } from '../support/untilSeen.ts';
import { appendBlock, passTo, rollBackTo } from './foldChain.ts';
import { type Action, BlockMaker } from './foldMarket.ts';
import { checkBars, checkRows } from './foldTruth.ts';

type Step =
  | {
      readonly do: 'block';
      readonly actions: readonly Action[];
      readonly afterMs: number;
      readonly isDeep: boolean;
    }
  | { readonly do: 'back'; readonly blocks: number }
  | { readonly do: 'pass'; readonly forMs: number }
  | { readonly do: 'restart' | 'crash' | 'rebuild' };

const user = fc.nat(3);
const pool = fc.nat(2);
const index = fc.nat(20);
const place = (side: 'buy' | 'sell', most: number) =>
  fc.record({
    do: fc.constant('place' as const),
    user,
    pool,
    side: fc.constant(side),
    amount: fc.integer({ min: 1, max: most }),
  });
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('launch' as const), user, buy: fc.nat(60) }),
  },
  { weight: 3, arbitrary: place('buy', 12) },
  { weight: 1, arbitrary: place('buy', 120) },
  { weight: 2, arbitrary: place('sell', 100) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('execute' as const), pool }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('collect' as const), pool }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('refund' as const), index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('withdraw' as const), index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lock' as const), user, pool, to: user }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('transfer' as const), user, pool, to: user }),
  },
);
const depth = fc.oneof({ weight: 4, arbitrary: fc.nat(2) }, fc.nat(12));
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('block' as const),
      actions: fc.array(action, { maxLength: 6 }),
      afterMs: fc.constantFrom(1_000, 20_000, 61_000, 3_600_000, 3 * 86_400_000),
      // Few, because later roll-backs go back to such a block at most.
      isDeep: fc.nat(7).map((any) => any === 0),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('back' as const), blocks: depth }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      forMs: fc.constantFrom(30_000, 400_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('restart' as const, 'crash', 'rebuild') }),
  },
);
const anyOptions = fc.record({
  horizonBlocks: fc.constantFrom(3, 2160, 2160),
  maxLoadedPairs: fc.constantFrom(1, 3, 100),
  commitEveryMs: fc.constantFrom(0, NEVER_MS),
});

const EXECUTE: Action = { do: 'execute', pool: 0 };

class Runner {
  readonly maker = new BlockMaker();
  world: FoldWorld;

  constructor(world: FoldWorld) {
    this.world = world;
  }

  async perform(next: Step): Promise<void> {
    const { world, maker } = this;
    if (next.do === 'block') {
      const { isDeep } = next;
      await appendBlock(world, maker.block(next.actions, next.afterMs), { isDeep });
    } else if (next.do === 'back') await this.#back(next.blocks);
    // Time entries without a block run ahead of the chain, as the node's own clock does.
    else if (next.do === 'pass') await passTo(world, world.fold.marketMs + next.forMs);
    else if (next.do === 'restart') this.world = await world.restarted();
    else if (next.do === 'crash') this.world = await world.crashed();
    else await checkRebuild(world);
    this.check();
  }

  check(): void {
    checkRows(this.world, this.maker.state);
    checkBars(this.world, this.maker.state);
  }

  async #back(blocks: number): Promise<void> {
    if (blocks === 0 || this.maker.state.height === 0) return;
    await rollBackTo(this.world, this.maker.back(blocks));
  }
}

/** Kinds of events that random actions cause. */
const KINDS = 13;

test('rows and bars are those of the blocks that are left, whatever was rolled back', async () => {
  const kinds = new Map<string, number>();
  const steps = fc.array(step, { minLength: 5, maxLength: 25 });
  const property = fc.asyncProperty(anyOptions, steps, async (...run) => {
    const [options, each] = run;
    const ends: (() => void | Promise<void>)[] = [];
    const scope = { after: (end: () => void | Promise<void>) => void ends.push(end) };
    const directory = join(temporaryDirectory(), 'data');
    const runner = new Runner(await FoldWorld.open(scope, directory, options));
    try {
      // A market to begin with, on the curve and beyond it: most random actions need one.
      const start: Action[] = [
        { do: 'launch', user: 0, buy: 190 },
        { do: 'launch', user: 1, buy: 0 },
        { do: 'place', user: 1, pool: 0, side: 'buy', amount: 13 },
      ];
      const lock: Action[] = [
        { do: 'lock', user: 0, pool: 0, to: 1 },
        { do: 'withdraw', index: 0 },
      ];
      for (const actions of [start, [EXECUTE], [EXECUTE], lock]) {
        await runner.perform({ do: 'block', actions, afterMs: 20_000, isDeep: true });
      }
      for (const next of each) await runner.perform(next);
      await checkRebuild(runner.world);
      for (const [kind, count] of runner.maker.counts) {
        kinds.set(kind, (kinds.get(kind) ?? 0) + count);
      }
    } finally {
      for (const end of ends.reverse()) await end();
    }
  });
  const numRuns = Number(process.env.RUNS ?? 16);
  const counts = { all: 0 };
  await untilSeen(counts, async (round) => {
    await fc.assert(property, { ...seedOf(round), numRuns, includeErrorInReport: true });
    assert.ok(kinds.size <= KINDS, `kinds that are not counted: ${[...kinds].join(' ')}`);
    counts.all = kinds.size === KINDS ? 1 : 0;
  });
});
