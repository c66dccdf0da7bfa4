/** Sequences that once left a wrong state, or changes that `since` did not tell. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { checkRebuild, checkWorld } from '../../support/foldCheck.ts';
import { FoldModel } from '../../support/foldModel.ts';
import { FoldWorld, type FoldWorldOptions } from '../../support/foldWorld.ts';
import { pairOf, rollbackTo, tradeLine } from '../../support/lines.ts';
import { temporaryDirectory } from '../../support/server.ts';

const START_MS = Date.UTC(2024, 0, 1);

const at = (second: number, pair = 1) =>
  tradeLine({ id: `${pair}-${second}`, timeMs: START_MS + second * 1000, pair, quote: second + 1 });
const back = (second: number) => rollbackTo(START_MS + second * 1000);

type Step = string | readonly string[];

/** Feeds the steps (a step may also be `restart` or `commit`) and checks after each. */
async function play(
  scope: TestContext,
  steps: readonly Step[],
  options: Partial<FoldWorldOptions> = {},
): Promise<FoldWorld> {
  const directory = join(temporaryDirectory(scope), 'world');
  let world = await FoldWorld.open(scope, directory, options);
  const model = new FoldModel(world.options.horizonBlocks);
  for (const step of steps) {
    if (typeof step !== 'string') await world.feed(step);
    else if (step === 'restart') world = await world.restarted(options);
    else await world.fold.store.commit();
    await checkWorld(world, model);
  }
  await checkRebuild(world);
  return world;
}

test('a final bar undone and traded again before a commit stands once', async (scope) => {
  await play(scope, [[at(10), at(4_000)], 'commit', [back(10), at(30)], 'commit', 'restart']);
});

test('a bar that vanished and comes back open takes the place of its tombstone', async (scope) => {
  await play(scope, [[at(10), at(100)], [back(10)], 'commit', [at(110)], 'commit', 'restart']);
});

test('since tells a first trade in an interval that has ended', async (scope) => {
  await play(scope, [[at(10), at(200)], [at(185)], [at(190, 2)], 'commit', 'restart', [at(300)]]);
});

test('a pair that was undone keeps its id and its tombstones when it comes back', async (scope) => {
  const steps = [[at(1, 3)], [at(10, 1)], [at(70, 2)], [back(1)], [at(80, 2)], [at(150, 1)]];
  const world = await play(scope, steps);
  const ids = [3, 1, 2].map((pair) => {
    const pool = world.fold.pairBars(pairOf(pair));
    return pool !== null && pool !== 'quarantined' ? pool.pair.id : null;
  });
  assert.deepEqual(ids, [1, 2, 3]);
  await play(scope, [...steps.slice(0, 4), 'restart', ...steps.slice(4)]);
});

test('pools close in one order, whenever the node was started', async (scope) => {
  const steps = [
    [at(1, 3), at(2, 1), at(3, 2)],
    'restart',
    [at(400, 2)],
    'restart',
    [at(4_000, 3)],
  ];
  await play(scope, steps);
});

test('points beyond the horizon stay out after a rollback', async (scope) => {
  const trades = Array.from({ length: 7 }, (_, index) => at(10 * index));
  const world = await play(scope, [trades, [back(40)], [back(20)]], { horizonBlocks: 3 });
  assert.equal(world.said.epochChanges, 1);
});

test('bars that left memory are read from the store', async (scope) => {
  const minutes = Array.from({ length: 30 }, (_, index) => at(60 * index));
  const late = [3, 9, 15, 4, 27, 12, 1, 6, 18, 21].map((index) => at(60 * index + 5));
  await play(scope, [minutes, late, 'commit', [at(1_860)]], {
    latenessMs: 3_600_000,
  });
});

test('a rollback to before everything leaves no pair and can be traded on', async (scope) => {
  const world = await play(scope, [[at(10), at(70, 2)], [rollbackTo(-5)], [at(20)]]);
  assert.equal(world.fold.pairBars(pairOf(2)), null);
  assert.equal(world.said.epochChanges, 0);
});

test('a pair that was undone and traded again at once is there again', async (scope) => {
  await play(scope, [[at(10, 2)], [at(20)], [back(10), at(30), at(31)], [back(10)], [at(40)]]);
});

test('a fault in a bar shows in the digest of bars, not in the state hash', async (scope) => {
  const [hashes, states]: [string[], string[]] = [[], []];
  for (const fault of [0, 0, 1]) {
    const directory = join(temporaryDirectory(scope), 'world');
    const world = await FoldWorld.open(scope, directory, { latenessMs: 0 });
    await world.feed([at(1, 2), at(2)]);
    const pool = world.fold.pairBars(pairOf(2));
    assert(pool !== null && pool !== 'quarantined');
    const bar = pool.series('day1').newest;
    assert(bar !== null && !bar.final);
    bar.trades += fault;
    await world.feed(Array.from({ length: 140 }, (_, index) => at(90_000 + index)));
    hashes.push((await world.fold.store.digest()).bars);
    states.push(world.node.stateHash());
  }
  const [right, again, wrong] = hashes;
  assert.equal(right, again);
  assert.notEqual(right, wrong);
  assert.equal(new Set(states).size, 1, 'bars follow from trades, which the state hash covers');
});
