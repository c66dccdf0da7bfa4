/** A pool whose rows are damaged is taken out, alone, and the next start mends it. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openDatabase } from '../../../src/engine/store/database.ts';
import { checkRebuild, checkWorld } from '../../support/foldCheck.ts';
import { FoldModel } from '../../support/foldModel.ts';
import { FoldWorld, type FoldWorldOptions } from '../../support/foldWorld.ts';
import { manyLines, pairOf, tradeLine } from '../../support/lines.ts';
import { temporaryDirectory } from '../../support/server.ts';

const START_MS = Date.UTC(2024, 0, 1);
const HOUR_MS = 3_600_000;

/** A stopped market of three pairs whose state is then damaged with SQL. */
async function damagedMarket(
  scope: TestContext,
  sql: string,
  options: Partial<FoldWorldOptions> = {},
): Promise<FoldWorld> {
  const directory = join(temporaryDirectory(scope), 'world');
  const first = await FoldWorld.open(scope, directory, options);
  await first.feed(manyLines(60, START_MS, 20_000));
  await first.stop();
  const database = openDatabase(first.files.state, { synchronous: 'NORMAL', maxMb: 0 });
  assert.ok(database.prepare(sql).run().changes > 0);
  database.close();
  // As after an upgrade, the file gets new checksums of its present content.
  rmSync(`${first.files.state}-sums`);
  const world = await FoldWorld.open(scope, directory, options);
  return world;
}

async function checkMended(world: FoldWorld): Promise<void> {
  assert.ok(existsSync(world.files.damaged));
  const mended = await world.restarted();
  assert.deepEqual(mended.said.quarantined, []);
  assert.ok(!existsSync(mended.files.damaged));
  await checkWorld(mended, new FoldModel(mended.options.horizonBlocks));
  await checkRebuild(mended);
}

function checkOthers(world: FoldWorld): void {
  assert.deepEqual(world.said.foldFailures, []);
  assert.deepEqual(world.said.quarantined, [pairOf(1)]);
  assert.equal(world.fold.quarantinedPairs, 1);
  assert.equal(world.fold.pairBars(pairOf(1)), 'quarantined');
  for (const other of [0, 2]) {
    const pool = world.fold.pairBars(pairOf(other));
    assert.ok(pool !== null && pool !== 'quarantined');
    assert.equal(pool.series('min1').newest?.close.id, `late-${other}`);
  }
  assert.match(readFileSync(world.files.damaged, 'utf8'), new RegExp(`^${pairOf(1)} `));
}

const nextTrades = [0, 1, 2].map((pair) =>
  tradeLine({ id: `late-${pair}`, timeMs: START_MS + HOUR_MS, pair }),
);
const ID_OF_PAIR_1 = `(SELECT value FROM market WHERE key = 'id:${pairOf(1)}')`;

const DAMAGES = {
  'an open bar': `UPDATE bars SET value = 'x' WHERE final = 0 AND pair = ${ID_OF_PAIR_1}`,
  'a final bar': `UPDATE bars SET value = 'x' WHERE final = 1 AND pair = ${ID_OF_PAIR_1}`,
};

for (const [what, sql] of Object.entries(DAMAGES)) {
  test(`the next trade quarantines the pool with ${what} damaged, only it`, async (scope) => {
    const world = await damagedMarket(scope, sql);
    const counts = await world.feed(nextTrades);
    assert.equal(counts.trades, 3);
    checkOthers(world);
    await world.feed([tradeLine({ id: 'more', timeMs: START_MS + HOUR_MS, pair: 1 })]);
    checkOthers(world);
    await checkMended(world);
  });
}

test('a late trade that reaches a damaged bar of the past quarantines its pool', async (scope) => {
  const sql = `UPDATE bars SET value = replace(value, char(9), ' ')
    WHERE resolution = 0 AND start = ${START_MS} AND pair = ${ID_OF_PAIR_1}`;
  const world = await damagedMarket(scope, sql, { latenessMs: 2 * HOUR_MS });
  await world.feed([tradeLine({ id: 'fine', timeMs: START_MS + HOUR_MS, pair: 1 })]);
  assert.deepEqual(world.said.quarantined, []);
  await world.feed([tradeLine({ id: 'hit', timeMs: START_MS + 100, pair: 1 })]);
  assert.deepEqual(world.said.quarantined, [pairOf(1)]);
  await checkMended(world);
});

test('a reader that meets a damaged pool quarantines it, and is not thrown at', async (scope) => {
  const world = await damagedMarket(scope, DAMAGES['an open bar']);
  assert.equal(world.fold.pairBars(pairOf(1)), 'quarantined');
  assert.notEqual(world.fold.pairBars(pairOf(0)), 'quarantined');
  assert.equal(world.fold.pairBars(pairOf(7)), null);
  await checkMended(world);
});

test('a quarantined pair keeps its decimals', async (scope) => {
  const world = await damagedMarket(scope, DAMAGES['an open bar']);
  await world.feed(nextTrades);
  const line = { id: 'x', timeMs: START_MS + HOUR_MS, pair: 1, baseDecimals: 3 };
  const counts = await world.feed([tradeLine(line)]);
  assert.equal(counts.rejected, 1);
  await checkMended(world);
});

test('a pool that no rebuild can mend stays quarantined after a restart', async (scope) => {
  const directory = join(temporaryDirectory(scope), 'world');
  const options = { maxLoadedPairs: 1 };
  const first = await FoldWorld.open(scope, directory, options);
  const event = {
    base: pairOf(1).slice(0, -2),
    quote: '.',
    baseDecimals: 0,
    quoteDecimals: 0,
    baseAmount: '1',
    quoteAmount: '1',
  };
  const block = (id: string) => ({
    timeMs: START_MS,
    payload: { kind: 'block', atMs: START_MS, trades: [{ ...event, id }] } as const,
  });
  // An empty id passes no feed; stored, it makes a row that cannot be read back.
  const drafts = [block('1'), block(''), block('2')];
  await first.node.reached(await first.writer.append(drafts));
  await first.feed(manyLines(6, START_MS + 1_000, 1_000));
  assert.equal(first.fold.pairBars(pairOf(1)), 'quarantined', 'the one who reads the row meets it');
  assert.deepEqual(new Set(first.said.quarantined), new Set([pairOf(1)]));
  const second = await first.restarted(options);
  assert.equal(second.fold.quarantinedPairs, 1, 'before anybody reads it');
  assert.equal(second.fold.pairBars(pairOf(1)), 'quarantined');
  assert.notEqual(second.fold.pairBars(pairOf(0)), 'quarantined');
  assert.ok(existsSync(second.files.damaged));
});
