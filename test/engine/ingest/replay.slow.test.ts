/** Feeds of files and pipes: continued after a crash, served while they rest, stopped at once. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { checkRebuild, checkWorld } from '../../support/foldCheck.ts';
import { FoldModel } from '../../support/foldModel.ts';
import { FoldWorld } from '../../support/foldWorld.ts';
import { manyLines, rollbackTo, tradeLine } from '../../support/lines.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { until } from '../../support/until.ts';

const START_MS = Date.UTC(2024, 0, 1);

async function openWorld(scope: TestContext): Promise<FoldWorld> {
  return FoldWorld.open(scope, join(temporaryDirectory(scope), 'world'), { commitEveryMs: 1 });
}

function fileOf(lines: readonly string[]): Readable {
  return Readable.from(lines.map((line) => `${line}\n`));
}

test('the same file again changes nothing and says where it went on', async (scope) => {
  const world = await openWorld(scope);
  const lines = manyLines(300, START_MS, 9_000);
  const first = await world.replay(0, 'file').run(fileOf(lines));
  assert.equal(first.trades, 300);
  const position = world.node.applied();
  const second = await world.replay(0, 'file').run(fileOf(lines));
  assert.equal(second.resumedAfterLine, 300);
  assert.equal(second.lines, 0);
  assert.deepEqual(world.node.applied(), position);
  const other = await world.replay(60_000_000, 'other').run(fileOf(lines));
  assert.equal(other.duplicates, 300);
  assert.deepEqual(world.node.applied(), position);
});

test('after crashes in the middle the file continues where the log ends', async (scope) => {
  const lines = manyLines(4_000, START_MS, 2_500);
  lines.splice(2_000, 0, rollbackTo(START_MS + 1_900 * 2_500), ...lines.slice(1_880, 2_000));
  lines.splice(3_500, 0, 'nonsense');
  const straight = await openWorld(scope);
  await straight.replay(0, 'file').run(fileOf(lines));
  let world = await openWorld(scope);
  for (const target of [800, 2_500, 4_000]) {
    const running = world.replay(0, 'file').run(fileOf(lines));
    const ended = running.catch(() => null);
    await until('some entries are in', () => world.seq >= target);
    world = await world.crashed();
    await ended;
  }
  const last = await world.replay(0, 'file').run(fileOf(lines));
  assert.ok(last.resumedAfterLine > 1_000);
  assert.deepEqual(await barsOf(world), await barsOf(straight));
  await checkRebuild(world);
});

test('a file that is read slowly makes the same entries', async (scope) => {
  const lines = ['1', '2', '3', '4'].map((id) => tradeLine({ id, timeMs: START_MS }));
  const fast = await openWorld(scope);
  await fast.replay(0, 'file').run(fileOf(lines));
  const slow = await openWorld(scope);
  await slow.replay(0, 'file').run(Readable.from(slowly(lines)));
  assert.deepEqual(slow.node.applied().seq, fast.node.applied().seq);
  assert.equal(slow.node.stateHash(), fast.node.stateHash());
});

async function* slowly(lines: readonly string[]): AsyncGenerator<string> {
  for (const line of lines) {
    yield `${line}\n`;
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
}

async function barsOf({ fold }: FoldWorld): Promise<unknown[]> {
  return [1, 2, 3].flatMap((pair) =>
    [0, 1, 2, 3, 4, 5].map((resolution) =>
      fold.store
        .bars(pair, resolution, 0, Number.MAX_SAFE_INTEGER, 100_000)
        .map(({ start, value }) => `${start} ${value}`),
    ),
  );
}

test('malformed lines are reported with their number and skipped', async (scope) => {
  const world = await openWorld(scope);
  const good = manyLines(2, START_MS, 1_000);
  const counts = await world.feed(['{', good[0] ?? '', '', '{"id":1}', good[1] ?? '', '5']);
  assert.equal(counts.trades, 2);
  assert.equal(counts.rejected, 3);
  assert.deepEqual(
    world.said.rejected.map((said) => said.slice(0, 2)),
    ['1:', '4:', '6:'],
  );
});

test('late lines, future ones and changed ones are each told with a reason', async (scope) => {
  const world = await openWorld(scope);
  const line = (id: string, timeMs: number, quote = 1) => tradeLine({ id, timeMs, quote });
  const farMs = Date.UTC(2100, 0, 1);
  const lines = [
    line('a', START_MS),
    line('far', farMs),
    line('b', START_MS + 120_000),
    line('late', START_MS + 1_000),
    line('b', START_MS + 120_000, 2),
    line('b', START_MS + 120_000),
    line('c', START_MS + 121_000),
  ];
  const counts = await world.feed(lines);
  const { trades, late, rejected, duplicates } = counts;
  assert.deepEqual(
    { trades, late, rejected, duplicates },
    {
      trades: 3,
      late: 1,
      rejected: 2,
      duplicates: 1,
    },
  );
  const expected = [/^2: .*day ahead/, /^4: too late/, /^5: .*same id/];
  for (const [index, reason] of expected.entries()) {
    assert.match(world.said.rejected[index] ?? '', reason);
  }
  // After a trade was applied and even evicted, its content still identifies it.
  const later = await world.restarted();
  const again = await later.feed([line('a', START_MS, 2), line('a', START_MS)]);
  assert.deepEqual([again.rejected, again.duplicates], [1, 1]);
  const far = await later.replay(60_000, null, true).run(fileOf([line('far', farMs)]));
  assert.equal(far.trades, 1);
});

test('seconds written as milliseconds are refused, trades and rollbacks', async (scope) => {
  const world = await openWorld(scope);
  await world.feed([tradeLine({ id: 'a', timeMs: START_MS })]);
  const { seq } = world;
  const seconds = Math.floor(START_MS / 1_000);
  const lines = [
    tradeLine({ id: 'b', timeMs: seconds }),
    JSON.stringify({ rollbackToMs: seconds }),
    tradeLine({ id: 'c', timeMs: Date.UTC(2009, 0, 1) - 1 }),
  ];
  const counts = await world.feed(lines);
  assert.deepEqual([counts.trades, counts.rollbacks, counts.rejected], [0, 0, 3]);
  assert.equal(world.seq, seq, 'nothing was undone');
  const [trade = '', rollback = ''] = world.said.rejected;
  assert.match(trade, /^1: timeMs is before 2009: 1970-01-20T.*milliseconds.*--allow-past/);
  assert.match(rollback, /^2: rollbackToMs is before 2009: 1970-01-20T/);

  const old = await openWorld(scope);
  const taken = await old.replay(60_000, null, false, true).run(fileOf(lines.slice(0, 1)));
  assert.deepEqual([taken.trades, taken.rejected], [1, 0]);
});

test('lines that are not UTF-8 are refused: their ids would become one', async (scope) => {
  const world = await openWorld(scope);
  const [before = '', after = ''] = tradeLine({ id: 'X', timeMs: START_MS }).split('X');
  const lines = [0xfe, 0xff].flatMap((byte) => [
    Buffer.from(before),
    Buffer.from([byte]),
    Buffer.from(`${after}\n`),
  ]);
  const counts = await world.replay(0).run(Readable.from([Buffer.concat(lines)]));
  assert.deepEqual([counts.trades, counts.rejected], [0, 2]);
  assert.deepEqual(world.said.rejected, ['1: not valid UTF-8', '2: not valid UTF-8']);
});

test('a rollback to a forgotten moment is reported, not done', async (scope) => {
  const world = await openWorld(scope);
  await world.feed(manyLines(20, START_MS, 1_000));
  const { seq } = world;
  await world.log.trim(10);
  const small = await world.restarted({ horizonBlocks: 3 });
  const counts = await small.feed([rollbackTo(START_MS)]);
  assert.deepEqual([counts.rollbacks, counts.rejected], [0, 1]);
  assert.equal(small.seq, seq);
});

test('a pipe that rests has what it sent applied, and the minute stays open', async (scope) => {
  const world = await openWorld(scope);
  const pipe = new PassThrough();
  const running = world.replay(0).run(pipe);
  pipe.write(`${tradeLine({ id: '1', timeMs: START_MS })}\n${'{"half":'}`);
  await until('the first trade is applied', () => world.fold.seenMs === START_MS);
  pipe.write(`1}\n${tradeLine({ id: '2', timeMs: START_MS + 1_000 })}\n`);
  await until('the second one too', () => world.fold.seenMs === START_MS + 1_000);
  assert.ok(world.fold.marketMs < START_MS + 60_000);
  pipe.end();
  const counts = await running;
  assert.deepEqual([counts.trades, counts.rejected], [2, 1]);
  const model = new FoldModel(world.options.horizonBlocks);
  await checkWorld(world, model);
  assert.equal(world.fold.marketMs, START_MS + 60_000);
});

test('a pipe that never rests is appended as it comes, not in full batches', async (scope) => {
  const world = await openWorld(scope);
  const pipe = new PassThrough();
  const running = world.replay(0).run(pipe);
  // One line per turn of the loop, each with the same millisecond. They would be one entry, but no
  // batch fills.
  let written = 0;
  while (world.fold.seenMs < START_MS && written < 50_000) {
    written += 1;
    pipe.write(`${tradeLine({ id: String(written), timeMs: START_MS })}\n`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(written < 50_000, 'the first lines are applied while more keep coming');
  pipe.end();
  assert.equal((await running).trades, written);
});

test('stop ends a pipe that rests, with what came before it applied', async (scope) => {
  const world = await openWorld(scope);
  const pipe = new PassThrough();
  const replay = world.replay(0);
  const running = replay.run(pipe);
  pipe.write(`${tradeLine({ id: '1', timeMs: START_MS })}\n`);
  await until('the trade is applied', () => world.fold.seenMs === START_MS);
  replay.stop();
  const counts = await running;
  assert.equal(counts.trades, 1);
  assert.ok(world.fold.marketMs < START_MS + 60_000, 'a feed that was stopped has not ended');
});

test('a feed that breaks fails, and what came before it is kept', async (scope) => {
  const world = await openWorld(scope);
  const pipe = new PassThrough();
  const running = world.replay(0).run(pipe);
  pipe.write(`${tradeLine({ id: '1', timeMs: START_MS })}\n`);
  await until('the trade is applied', () => world.fold.seenMs === START_MS);
  pipe.destroy(new Error('the pipe broke'));
  await assert.rejects(running, /the pipe broke/);
});
