/** The outcome of lines: entries, verdicts, ends of intervals. Replay: `{ seed, path }`. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { Payload } from '../../../src/engine/log/entry.ts';
import { RESOLUTIONS } from '../../../src/engine/market/resolution.ts';
import { FoldWorld } from '../../support/foldWorld.ts';
import { pairOf, tradeLine } from '../../support/lines.ts';
import { temporaryDirectory } from '../../support/server.ts';

const START_MS = Date.UTC(2024, 0, 1);

async function openWorld(scope: TestContext, latenessMs = 0): Promise<FoldWorld> {
  return FoldWorld.open(scope, join(temporaryDirectory(scope), 'world'), { latenessMs });
}

/** Entries in short: `block 10 a b` (second of the trades, ids), `end 60`, `start 60`. */
async function inShort(world: FoldWorld, fromSeq = 2): Promise<string[]> {
  const seconds = (timeMs: number) => (timeMs - START_MS) / 1000;
  const say = (payload: Payload, timeMs: number) => {
    if (payload.kind === 'time') return `${payload.phase} ${seconds(timeMs)}`;
    if (payload.kind !== 'block') return payload.kind;
    return `block ${seconds(payload.atMs)} ${payload.trades.map(({ id }) => id).join(' ')}`;
  };
  return (await world.entries(fromSeq)).map(({ entry }) => say(entry.payload, entry.timeMs));
}

const at = (second: number, id: string, pair = 1) =>
  tradeLine({ id, timeMs: START_MS + second * 1000, pair });

test('consecutive trades of one moment are one entry, others are not', async (scope) => {
  const world = await openWorld(scope, 60_000);
  await world.feed([at(1, 'a'), at(1, 'b', 2), at(2, 'c'), at(1, 'd'), at(1, 'e'), at(2, 'f')]);
  assert.deepEqual(await inShort(world), [
    'start -60',
    'block 1 a b',
    'block 2 c',
    'block 1 d e',
    'block 2 f',
    'end 60',
  ]);
});

test('a minute ends, the next begins, then its trades: three positions', async (scope) => {
  const world = await openWorld(scope);
  await world.feed([at(10, 'a'), at(90, 'b')]);
  assert.deepEqual(await inShort(world), [
    'start 0',
    'block 10 a',
    'end 60',
    'start 60',
    'block 90 b',
    'end 120',
  ]);
  assert.equal(world.fold.marketMs, START_MS + 120_000);
});

test('every interval that has a bar ends at its own time, once for all pairs', async (scope) => {
  const world = await openWorld(scope);
  await world.feed([at(10, 'a'), at(20, 'b', 2), at(7_200, 'c', 3)]);
  assert.deepEqual(await inShort(world), [
    'start 0',
    'block 10 a',
    'block 20 b',
    'end 60',
    'end 300',
    'end 3600',
    'start 7200',
    'block 7200 c',
    'end 7260',
  ]);
});

test('bars wait for late trades as long as the lateness allows', async (scope) => {
  const world = await openWorld(scope, 30_000);
  await world.feed([at(10, 'a'), at(70, 'b'), at(50, 'c'), at(95, 'd'), at(64, 'e')]);
  assert.deepEqual(await inShort(world), [
    'start -60',
    'block 10 a',
    'start 0',
    'block 70 b',
    'block 50 c',
    'end 60',
    'start 60',
    'block 95 d',
    'end 120',
  ]);
  const pool = world.fold.pairBars(pairOf(1));
  assert.ok(pool !== null && pool !== 'quarantined');
  const rows = world.fold.store.bars(pool.pair.id, 0, 0, Number.MAX_SAFE_INTEGER, 9);
  assert.equal(rows.length, 2);
});

test('the end of a feed ends the minute of its newest trade, not more', async (scope) => {
  const world = await openWorld(scope, 3_600_000);
  await world.feed([at(10, 'a'), at(400, 'b')]);
  assert.deepEqual((await inShort(world)).slice(4), ['end 60', 'end 300', 'end 420']);
  const { seq } = world;
  await world.feed([]);
  assert.equal(world.seq, seq);
  await world.feed([at(390, 'c'), at(500, 'd')]);
  assert.deepEqual((await inShort(world, seq + 1)).slice(1), [
    'block 390 c',
    'block 500 d',
    'end 540',
  ]);
});

test('the first trade that counts fixes the decimals of its pair', async (scope) => {
  const world = await openWorld(scope, 1_000);
  const odd = (id: string, second: number) =>
    tradeLine({ id, timeMs: START_MS + second * 1000, pair: 2, baseDecimals: 5 });
  const counts = await world.feed([at(100, 'a'), odd('late', 1), at(100, 'b', 2), odd('c', 100)]);
  assert.deepEqual([counts.trades, counts.late, counts.rejected], [2, 1, 1]);
  assert.equal(world.said.rejected[1], '4: decimals differ from the first trade of this pair');
  const pool = world.fold.pairBars(pairOf(2));
  assert.ok(pool !== null && pool !== 'quarantined');
  assert.equal(pool.pair.baseDecimals, 0);
});

test('ids are known for ever, in any script, whatever was evicted or restarted', async (scope) => {
  const directory = join(temporaryDirectory(scope), 'world');
  const options = { maxLoadedPairs: 1, latenessMs: 60_000 };
  const world = await FoldWorld.open(scope, directory, options);
  const ids = ['9', '10', '￮￮a', '😀a', 'é', '1:2', ' ', '￮b'];
  const lines = (pair: number) => ids.map((id, index) => at(index, id, pair));
  const first = await world.feed([...lines(1), ...lines(2)]);
  assert.equal(first.trades, 2 * ids.length);
  const again = await world.feed([...lines(2), ...lines(1)]);
  assert.deepEqual([again.trades, again.duplicates], [0, 2 * ids.length]);
  const later = await world.restarted();
  const last = await later.feed([...lines(1).reverse(), at(5, 'new')]);
  assert.deepEqual([last.trades, last.duplicates], [1, ids.length]);
});

test('in a feed in order no bar changes after it was final', async (scope) => {
  const world = await openWorld(scope);
  const gap = fc.oneof(fc.nat(9_000), fc.integer({ min: 30_000, max: 90_000 }), fc.nat(9_000_000));
  const steps = fc.array(fc.tuple(gap, fc.nat(2)), { minLength: 1, maxLength: 15 });
  let timeMs = START_MS;
  await fc.assert(
    fc.asyncProperty(steps, async (some) => {
      const { seq } = world;
      timeMs += 86_400_000;
      const lines = some.map(([gapMs, pair], index) => {
        timeMs += gapMs;
        return tradeLine({ id: `${seq}-${index}`, timeMs, pair });
      });
      await world.feed(lines);
      for (const pair of [1, 2, 3]) {
        for (const resolution of RESOLUTIONS) {
          const changed = world.fold.store.barsChangedSince(pair, resolution, seq, 1_000);
          assert.deepEqual(
            changed.filter(({ cause }) => cause === 'late'),
            [],
          );
        }
      }
    }),
    { includeErrorInReport: true, numRuns: 100 },
  );
});

interface Line {
  readonly pair: number;
  readonly id: string;
  readonly timeMs: number;
}

/** Verdicts read off the rules: a known id before late, lateness from the newest that counts. */
class NaiveIngest {
  readonly taken: string[] = [];
  duplicates = 0;
  late = 0;
  rejected = 0;
  #seenMs: number;

  constructor(seenMs: number) {
    this.#seenMs = seenMs;
  }

  add({ pair, id, timeMs }: Line, latenessMs: number): void {
    const name = `${pairOf(pair)} ${id} ${timeMs}`;
    if (this.taken.includes(name)) this.duplicates += 1;
    else if (this.taken.some((other) => other.startsWith(`${pairOf(pair)} ${id} `)))
      this.rejected += 1;
    else if (timeMs < this.#seenMs - latenessMs) this.late += 1;
    else {
      this.#seenMs = Math.max(this.#seenMs, timeMs);
      this.taken.push(name);
    }
  }
}

test('lines are taken, dropped or too late by the rules', async (scope) => {
  const world = await openWorld(scope);
  const move = fc.oneof(fc.nat(3_000), fc.integer({ min: -90_000, max: 120_000 }));
  const line = fc.record({ pair: fc.nat(2), id: fc.nat(12).map(String), move });
  const batches = fc.array(fc.array(line, { maxLength: 12 }), { maxLength: 4 });
  let startMs = START_MS;
  await fc.assert(
    fc.asyncProperty(batches, fc.constantFrom(0, 30_000), async (some, latenessMs) => {
      // Runs share a world: each begins a day later and has its own ids.
      startMs += 86_400_000;
      const { seq } = world;
      const naive = new NaiveIngest(world.fold.seenMs);
      let newestMs = startMs;
      const sums = { trades: 0, duplicates: 0, late: 0, rejected: 0 };
      for (const batch of some) {
        const lines = batch.map(({ pair, id, move: by }) => {
          const timeMs = newestMs + by;
          newestMs = Math.max(newestMs, timeMs);
          return { pair, id: `${startMs}-${id}`, timeMs };
        });
        for (const one of lines) naive.add(one, latenessMs);
        const counts = await world.feed(lines.map(tradeLine), latenessMs);
        const { trades, duplicates, late, rejected } = counts;
        sums.trades += trades;
        sums.rejected += rejected;
        sums.duplicates += duplicates;
        sums.late += late;
      }
      const { duplicates, late, rejected, taken } = naive;
      assert.deepEqual(sums, { trades: taken.length, duplicates, late, rejected });
      const logged = (await world.entries(seq + 1)).flatMap(({ entry: { payload } }) =>
        payload.kind !== 'block'
          ? []
          : payload.trades.map(({ base, quote, id }) => `${base}_${quote} ${id} ${payload.atMs}`),
      );
      assert.deepEqual(logged, taken);
    }),
    { includeErrorInReport: true, numRuns: 150 },
  );
});
