/** A full disk stops folding, not the node; nothing is lost and folding resumes by itself. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Database, openDatabase } from '../../../src/engine/store/database.ts';
import { checkRebuild } from '../../support/foldCheck.ts';
import { FoldWorld } from '../../support/foldWorld.ts';
import { manyLines, rollbackTo } from '../../support/lines.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { until } from '../../support/until.ts';

const START_MS = Date.UTC(2024, 0, 1);
const BALLAST_BYTES = 1_850 * 1024;

/** A directory whose state file is nearly as large as a node with `maxMb: 2` may make it. */
async function crampedDirectory(scope: TestContext) {
  const directory = join(temporaryDirectory(scope), 'world');
  const empty = await FoldWorld.open(scope, directory);
  await empty.stop();
  const database = openDatabase(empty.files.state, { synchronous: 'NORMAL', maxMb: 0 });
  database.exec('CREATE TABLE ballast (bytes BLOB)');
  database.prepare('INSERT INTO ballast (bytes) VALUES (zeroblob(?))').run(BALLAST_BYTES);
  return { directory, makeRoom: () => makeRoom(database) };
}

function makeRoom(database: Database): void {
  database.exec('DROP TABLE ballast');
  database.close();
}

const OPTIONS = { maxMb: 2, horizonBlocks: 50 };
/** More than may wait in memory. */
const LINES = 20_000;
const RE_FED = { rollbacks: 1, trades: LINES + 19, duplicates: 21 };

/** Opened with free space again, the state equals a rebuild from the log. */
async function checkAfter(scope: TestContext, directory: string): Promise<void> {
  const after = await FoldWorld.open(scope, directory, { ...OPTIONS, maxMb: 0 });
  assert.deepEqual(after.said.epochs, []);
  assert.deepEqual(after.said.foldFailures, []);
  await checkRebuild(after);
}

test('folding waits for a full disk, readers do not, and it resumes', async (scope) => {
  const { directory, makeRoom: room } = await crampedDirectory(scope);
  const world = await FoldWorld.open(scope, directory, OPTIONS);
  let fed = false;
  const feeding = world.feed(manyLines(LINES, START_MS, 500)).then((counts) => {
    fed = true;
    return counts;
  });
  const { said } = world;
  await until('the disk refuses, again', () => said.commitFailures.length >= 2, 30_000);
  assert.match(String(said.commitFailures[0]), /full/);
  const { seq } = world;
  const staged = world.fold.store.pendingRows;
  await until('the disk refuses, still', () => said.commitFailures.length >= 3, 30_000);
  assert.equal(world.seq, seq, 'no entry was folded meanwhile');
  assert.equal(world.fold.store.pendingRows, staged);
  assert.ok(!fed);
  assert.ok(world.fold.store.bars(1, 0, 0, Number.MAX_SAFE_INTEGER, 10).length === 10);
  room();
  const counts = await feeding;
  assert.equal(counts.trades, LINES);
  assert.deepEqual(said.quarantined, []);
  await world.stop();
  await checkAfter(scope, directory);
});

test('a node that is stopped while the disk is full loses nothing', async (scope) => {
  const { directory } = await crampedDirectory(scope);
  const world = await FoldWorld.open(scope, directory, { ...OPTIONS, commitEveryMs: 1 });
  const feeding = world.feed(manyLines(LINES, START_MS, 3_600_000, 1)).catch(() => 'stopped');
  await until('the disk refuses', () => world.said.commitFailures.length > 0, 30_000);
  await world.stop();
  assert.equal(await feeding, 'stopped');
  await checkAfter(scope, directory);
});

test('a rollback waits for the disk too', async (scope) => {
  const { directory, makeRoom: room } = await crampedDirectory(scope);
  const world = await FoldWorld.open(scope, directory, OPTIONS);
  const lines = manyLines(LINES, START_MS, 500);
  const toMs = START_MS + (LINES - 20) * 500;
  const feeding = world.feed([...lines, rollbackTo(toMs), ...lines.slice(-40)]);
  await until('the disk refuses', () => world.said.commitFailures.length > 0, 30_000);
  room();
  const { rollbacks, trades, duplicates } = await feeding;
  assert.deepEqual({ rollbacks, trades, duplicates }, RE_FED);
  await world.stop();
  await checkAfter(scope, directory);
});
