/**
 * The fold against the model, through ingest, log and store: blocks, late trades, duplicates,
 * rollbacks near and far, restarts, crashes, evictions.
 * Replay a failure: put the printed `{ seed, path }` into the options of `fc.assert`.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkRebuild, checkWorld, followLog } from '../../support/foldCheck.ts';
import { FoldModel } from '../../support/foldModel.ts';
import { FoldWorld, type FoldWorldOptions, NEVER_MS } from '../../support/foldWorld.ts';
import { temporaryDirectory } from '../../support/server.ts';

/** Two minutes before a leap day and, a day on, a month. */
const START_MS = Date.UTC(2024, 1, 28, 23, 58);
const LATENESS_MS = 60_000;

interface FedTrade {
  readonly pair: number;
  /** From the newest moment fed so far. */
  readonly moveMs: number;
  /** An id that was fed before, counted from the newest; null: a new one. */
  readonly again: number | null;
  readonly base: number;
  readonly quote: number;
}

type Step =
  | { readonly do: 'feed'; readonly trades: readonly FedTrade[]; readonly unread: boolean }
  | { readonly do: 'rollBack'; readonly blocks: number; readonly asideMs: number }
  | { readonly do: 'crash' | 'restart' | 'rebuild' | 'commit' };

const moveMs = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 3_000 }) },
  { weight: 3, arbitrary: fc.integer({ min: 10_000, max: 100_000 }) },
  { weight: 3, arbitrary: fc.integer({ min: -LATENESS_MS, max: -1 }) },
  { weight: 1, arbitrary: fc.integer({ min: -300_000, max: -LATENESS_MS }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 3_600_000, 86_400_000, 40 * 86_400_000) },
);
const fed: fc.Arbitrary<FedTrade> = fc.record({
  pair: fc.nat(2),
  moveMs,
  again: fc.option(fc.nat(8), { freq: 6 }),
  base: fc.integer({ min: 1, max: 3 }),
  quote: fc.integer({ min: 1, max: 6 }),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('feed' as const),
      trades: fc.array(fed, { minLength: 1, maxLength: 6 }),
      unread: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('rollBack' as const),
      blocks: fc.nat(7),
      asideMs: fc.constantFrom(0, -1, 1),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('crash' as const, 'restart', 'rebuild', 'commit') }),
  },
);
const anyOptions = fc.record({
  horizonBlocks: fc.constantFrom(3, 3, 1, 2160),
  maxLoadedPairs: fc.constantFrom(1, 2, 100),
  commitEveryMs: fc.constantFrom(0, NEVER_MS),
});

class Runner {
  readonly model: FoldModel;
  #world: FoldWorld;
  #newestMs = START_MS;
  #ids: { pair: number; id: string }[] = [];

  constructor(world: FoldWorld) {
    this.#world = world;
    this.model = new FoldModel(world.options.horizonBlocks);
  }

  get world(): FoldWorld {
    return this.#world;
  }

  async take(next: Step): Promise<void> {
    if (next.do === 'feed') await this.#feed(next.trades);
    else if (next.do === 'rollBack') await this.#rollBack(next.blocks, next.asideMs);
    else if (next.do === 'crash') this.#world = await this.#world.crashed();
    else if (next.do === 'restart') this.#world = await this.#world.restarted();
    else if (next.do === 'commit') await this.#world.fold.store.commit();
    else await checkRebuild(this.#world);
    // Bars that no reader asks for end when the fold or a commit needs them.
    if (next.do === 'feed' && next.unread) await followLog(this.#world, this.model);
    else await checkWorld(this.#world, this.model);
  }

  async #feed(trades: readonly FedTrade[]): Promise<void> {
    const lines = trades.map(({ pair, moveMs: move, again, base, quote }) => {
      const timeMs = Math.max(0, this.#newestMs + move);
      this.#newestMs = Math.max(this.#newestMs, timeMs);
      const known = again === null ? undefined : this.#ids.at(-1 - again);
      const { pair: of, id } = known ?? { pair, id: String(this.#ids.length + 7) };
      if (known === undefined) this.#ids.push({ pair: of, id });
      return JSON.stringify({
        id,
        timeMs,
        base: `${String(of).repeat(56)}.`,
        quote: '.',
        baseDecimals: 0,
        quoteDecimals: 6,
        baseAmount: String(base),
        quoteAmount: String(quote),
      });
    });
    await this.#world.feed(lines);
    const rejected = this.#world.said.rejected.filter((told) => !/too late|same id/.test(told));
    assert.deepEqual(rejected, []);
  }

  async #rollBack(blocks: number, asideMs: number): Promise<void> {
    const { now } = this.model;
    const block = now.blocks.at(-1 - blocks);
    // 0 takes everything back; another time before 2009 would be refused.
    const toMs = block === undefined ? 0 : block.atMs + asideMs;
    const expected = this.model.rollBack(toMs);
    const { seq } = this.#world;
    const { rollbacks } = await this.#world.feed([JSON.stringify({ rollbackToMs: toMs })]);
    this.#newestMs = Math.max(START_MS, toMs);
    assert.equal(rollbacks, expected.kind === 'nothing' ? 0 : 1);
    if (expected.kind === 'nothing') return;
    const [entry] = await this.#world.log.read(seq + 1, 1);
    const payload = entry?.entry.payload;
    const toSeq = payload?.kind === 'rollback' ? payload.toSeq : null;
    const base = payload?.kind === 'epoch' ? payload.base?.seq : null;
    assert.deepEqual({ kind: payload?.kind, toSeq: toSeq ?? base }, expected);
  }
}

async function play(directory: string, some: Partial<FoldWorldOptions>, steps: readonly Step[]) {
  const ends: (() => void | Promise<void>)[] = [];
  const scope = { after: (end: () => void | Promise<void>) => void ends.push(end) };
  const options = { ...some, latenessMs: LATENESS_MS };
  const runner = new Runner(await FoldWorld.open(scope, directory, options));
  try {
    await checkWorld(runner.world, runner.model);
    for (const next of steps) await runner.take(next);
    await checkRebuild(runner.world);
    await checkWorld(runner.world, runner.model);
  } finally {
    for (const end of ends) await end();
  }
}

test('any sequence of events leaves what the model and a rebuild say', async (scope) => {
  const directory = temporaryDirectory(scope);
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(anyOptions, fc.array(step, { maxLength: 14 }), async (some, steps) => {
      runs += 1;
      await play(join(directory, `world${runs}`), some, steps);
    }),
    {
      numRuns: Number(process.env.RUNS ?? 25),
      includeErrorInReport: true,
      interruptAfterTimeLimit: 15_000,
      markInterruptAsFailure: false,
    },
  );
});
