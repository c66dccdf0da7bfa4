/**
 * Bytes that change on the disk while a node is stopped. After a start it has the rows of before,
 * made again where need be, or it refuses and names the file and what to do.
 */
import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isFault } from '../../../src/engine/runtime/assert.ts';
import { type Rng, seededRng } from '../../../src/engine/runtime/rng.ts';
import { openDatabase } from '../../../src/engine/store/database.ts';
import { checkRebuild } from '../../support/foldCheck.ts';
import { FoldWorld, type FoldWorldOptions, NEVER_MS } from '../../support/foldWorld.ts';
import { manyLines, pairOf, rollbackTo } from '../../support/lines.ts';
import { temporaryDirectory } from '../../support/server.ts';
import { until } from '../../support/until.ts';

const START_MS = Date.UTC(2024, 0, 1);
const OPTIONS: Partial<FoldWorldOptions> = { horizonBlocks: 200, commitEveryMs: 1 };
const SEED = Number(process.env.SEED ?? 12);

interface Stopped {
  readonly directory: string;
  readonly seq: number;
  readonly digest: Awaited<ReturnType<FoldWorld['fold']['store']['digest']>>;
}

/** A market of 600 trades with rollbacks; `killed`: as kill -9 leaves it. */
async function stopped(scope: TestContext, killed: boolean): Promise<Stopped> {
  const world = await FoldWorld.open(scope, join(temporaryDirectory(scope), 'world'), OPTIONS);
  // Enough commits to move some from the state's write-ahead log into the file, each with a
  // rollback.
  for (let round = 0; round < 20; round += 1) {
    const fromMs = START_MS + round * 30 * 20_000;
    await world.feed(manyLines(30, fromMs, 20_000));
    await world.feed([rollbackTo(fromMs + 27 * 20_000)]);
  }
  const { seq } = world;
  const digest = await world.fold.store.digest();
  const image = killed ? await world.image() : null;
  await world.stop();
  return { directory: image ?? world.directory, seq, digest };
}

/** 1 to 4,096 bytes of one file; answers its name. */
function damageSome(directory: string, rng: Rng): string {
  const names = readdirSync(directory)
    .filter((name) => /^(log|state)\.sqlite(-wal|-sums)?$/.test(name))
    .filter((name) => readFileSync(join(directory, name)).length > 0)
    .sort();
  const name = names[Math.floor(rng.unit() * names.length)] ?? '';
  const path = join(directory, name);
  const bytes = readFileSync(path);
  const length = [1, 64, 4096][Math.floor(rng.unit() * 3)] ?? 1;
  const from = Math.floor(rng.unit() * bytes.length);
  const to = Math.min(bytes.length, from + length);
  for (let index = from; index < to; index += 1) {
    const before = bytes[index] ?? 0;
    bytes[index] = before ^ (1 + Math.floor(rng.unit() * 255));
  }
  writeFileSync(path, bytes);
  return name;
}

async function openDamaged(scope: TestContext, directory: string, name: string, what: string) {
  try {
    return await FoldWorld.open(scope, directory, OPTIONS);
  } catch (error) {
    assert.ok(
      isFault(error, 'damagedFile') || isFault(error, 'unreadableEntry'),
      `${what}: ${error}`,
    );
    assert.match(name, /^log/, `${what}: a state is made again, not refused: ${error.message}`);
    assert.ok(error.message.includes(join(directory, basename('log.sqlite'))), error.message);
    assert.match(error.message, /restore DATA_DIR from a backup/);
    return null;
  }
}

for (const killed of [false, true]) {
  const how = killed ? 'killed' : 'stopped';
  test(`a ${how} node whose files were damaged has right rows or refuses`, async (scope) => {
    const before = await stopped(scope, killed);
    const outcomes = { opened: 0, refused: 0, rebuilt: 0 };
    for (let trial = 0; trial < 40; trial += 1) {
      const directory = `${before.directory}-${how}-${trial}`;
      cpSync(before.directory, directory, { recursive: true });
      const name = damageSome(directory, seededRng(SEED * 1_000 + trial));
      const what = `SEED=${SEED}, trial ${trial}, ${name}`;
      const world = await openDamaged(scope, directory, name, what);
      if (world === null) outcomes.refused += 1;
      else {
        outcomes.opened += 1;
        outcomes.rebuilt += world.said.unreadable.length > 0 ? 1 : 0;
        assert.deepEqual([...world.said.foldFailures, ...world.said.quarantined], [], what);
        // The last commit before a kill may be lost with its frames, as in a power cut.
        if (name !== 'log.sqlite-wal') assert.equal(world.seq, before.seq, what);
        await checkRebuild(world);
        const digest = await world.fold.store.digest();
        if (world.seq === before.seq) assert.deepEqual(digest, before.digest, what);
        await world.stop();
      }
      rmSync(directory, { recursive: true });
    }
    scope.diagnostic(JSON.stringify(outcomes));
    assert.ok(outcomes.refused > 3 && outcomes.rebuilt > 3, JSON.stringify(outcomes));
  });
}

test('a damaged entry of the log is named, with what to do', async (scope) => {
  const { directory } = await stopped(scope, false);
  const file = join(directory, 'log.sqlite');
  const bytes = readFileSync(file);
  const at = bytes.indexOf('"seq":333,');
  bytes.write('"seq":334,', at);
  writeFileSync(file, bytes);
  await assert.rejects(FoldWorld.open(scope, directory, OPTIONS), (error: Error) => {
    assert.match(error.message, /log\.sqlite is damaged: page \d+ .*; entry 333 is the first/);
    assert.match(error.message, /move log\.sqlite\* out of DATA_DIR/);
    return true;
  });
  // The remedy it names.
  for (const name of readdirSync(directory)) {
    if (name.startsWith('log.sqlite')) rmSync(join(directory, name));
  }
  const world = await FoldWorld.open(scope, directory, OPTIONS);
  assert.match(world.node.applied().epoch, /^2-/);
  await checkRebuild(world);
});

test('a damaged snapshot that the log begins from is named when it is needed', async (scope) => {
  const { directory } = await stopped(scope, false);
  rmSync(join(directory, 'log.sqlite'));
  const lost = await FoldWorld.open(scope, directory, OPTIONS);
  await lost.stop();
  const base = readdirSync(directory).find((name) => /^base-.*\.sqlite$/.test(name)) ?? '';
  const path = join(directory, base);
  const bytes = readFileSync(path);
  bytes[bytes.length - 100] = (bytes.at(-100) ?? 0) ^ 1;
  writeFileSync(path, bytes);
  const whole = await FoldWorld.open(scope, directory, OPTIONS);
  await whole.stop();
  rmSync(join(directory, 'state.sqlite'));
  await assert.rejects(FoldWorld.open(scope, directory, OPTIONS), (error: Error) => {
    assert.ok(error.message.startsWith(`${path} is damaged`), error.message);
    return true;
  });
});

test('outdated checksums of a log are made again where every entry is right', async (scope) => {
  const { directory, seq, digest } = await stopped(scope, false);
  const sums = join(directory, 'log.sqlite-sums');
  const bytes = readFileSync(sums);
  bytes[70] = (bytes[70] ?? 0) ^ 1;
  writeFileSync(sums, bytes);
  const world = await FoldWorld.open(scope, directory, OPTIONS);
  assert.equal(world.said.sumsOutdated.length, 1);
  assert.equal(world.seq, seq);
  const again = await world.restarted();
  assert.deepEqual(again.said.sumsOutdated, []);
  assert.deepEqual(await again.fold.store.digest(), digest);
  assert.ok(existsSync(sums));
});

/** A market that is open, with rows that were damaged since. */
async function openedThenDamaged(scope: TestContext, sql: string): Promise<FoldWorld> {
  const { directory } = await stopped(scope, false);
  const world = await FoldWorld.open(scope, directory, { ...OPTIONS, commitEveryMs: NEVER_MS });
  const database = openDatabase(world.files.state, { synchronous: 'NORMAL', maxMb: 0 });
  assert.ok(database.prepare(sql).run().changes > 0);
  database.close();
  return world;
}

test('a state with an unreadable row is made again while the node serves', async (scope) => {
  const world = await openedThenDamaged(scope, `UPDATE bars SET value = 'x' WHERE final = 0`);
  assert.equal(world.fold.pairBars(pairOf(1)), 'quarantined');
  const { seq, said } = world;
  world.node.repair(new SyntaxError('Cannot convert 3060\ufffd5 to a BigInt'));
  assert.ok(existsSync(world.files.damaged), 'where the process ends now, the next start does it');
  // The new state also holds trades that arrive during the rebuild.
  await world.feed(manyLines(30, START_MS + 700 * 20_000, 20_000));
  await until('the new state is in use', () => said.repairs.at(-1) === 'rebuilt', 30_000);
  assert.deepEqual(said.repairs, ['rebuilding', 'rebuilt']);
  assert.ok(world.seq > seq && world.node.synced());
  assert.equal(said.epochChanges, 1, 'clients load it again');
  assert.equal(world.fold.quarantinedPairs, 0);
  assert.notEqual(world.fold.pairBars(pairOf(1)), 'quarantined');
  await world.feed(manyLines(30, START_MS + 800 * 20_000, 20_000));
  await checkRebuild(world);
  assert.ok(!existsSync(world.files.damaged));
});

test('a rollback that meets an unreadable row is applied to a new state', async (scope) => {
  const { directory } = await stopped(scope, false);
  const options = { horizonBlocks: 2160, commitEveryMs: NEVER_MS };
  const first = await FoldWorld.open(scope, directory, options);
  const fromMs = START_MS + 600 * 20_000;
  await first.feed(manyLines(600, fromMs, 20_000));
  const world = await first.restarted();
  const database = openDatabase(world.files.state, { synchronous: 'NORMAL', maxMb: 0 });
  // A page of the undo rows for the commit of these trades. The next commit writes to the page on
  // which a row begins.
  const page = database
    .prepare<[], { pageno: number }>(
      `SELECT pageno FROM dbstat WHERE name = 'undo' AND path LIKE '%+000000' ORDER BY path DESC`,
    )
    .get();
  database.close();
  assert.ok(page !== undefined);
  const bytes = readFileSync(world.files.state);
  bytes.fill(0xff, (page.pageno - 1) * 4096, page.pageno * 4096);
  writeFileSync(world.files.state, bytes);
  // After a commit the node reads rows from the disk instead of memory.
  await world.feed(manyLines(3, fromMs + 600 * 20_000, 20_000));
  await world.fold.store.commit();
  await world.feed([rollbackTo(fromMs)]);
  await world.feed(manyLines(30, fromMs + 700 * 20_000, 20_000));
  assert.deepEqual([world.said.foldFailures, world.said.quarantined], [[], []]);
  assert.deepEqual(world.said.repairs, ['rebuilding', 'rebuilt']);
  await checkRebuild(world);
});

test('a state is not made again without end', async (scope) => {
  const { directory } = await stopped(scope, false);
  const world = await FoldWorld.open(scope, directory, OPTIONS);
  const { repairs } = world.said;
  for (const count of [2, 4, 6, 7]) {
    world.node.repair(new SyntaxError('not mended by it'));
    await until('it is over', () => repairs.length === count, 30_000);
  }
  assert.match(repairs.at(-1) ?? '', /made again already: stop the node, run --verify/);
});
