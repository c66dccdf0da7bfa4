/**
 * Directories that earlier versions wrote (`test/data/states`; `support/recordState.ts` says how):
 * this program makes the state again from their log, with the bars and trades that they had.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { isFault } from '../../../src/engine/runtime/assert.ts';
import { decompress } from '../../../src/engine/snapshots/compressed.ts';
import { openDatabase } from '../../../src/engine/store/database.ts';
import { checkpointWithChecksums } from '../../../src/engine/store/pageChecksums.ts';
import { FoldWorld } from '../../support/foldWorld.ts';
import { manyLines } from '../../support/lines.ts';
import { temporaryDirectory } from '../../support/server.ts';

const START_MS = Date.UTC(2024, 0, 1);
const STEP_MS = 20_000;
const STATES = join(import.meta.dirname, '../../data/states');
const SHOWN = [
  'SELECT pair, resolution, start, final, seq, cause, value FROM bars ORDER BY 1, 2, 3',
  'SELECT key, value, seq FROM trades ORDER BY key',
  'SELECT text FROM checkpoint',
] as const;

/** Bars, trades and checkpoint, without the hash that covers rows of the version. */
function shownOf(file: string): unknown[][] {
  const database = openDatabase(file, { synchronous: 'NORMAL', maxMb: 0 });
  const tables = SHOWN.map((sql) => database.prepare(sql).all());
  database.close();
  const [checkpoint] = tables.pop() ?? [];
  // trust: the column of the last statement
  const { stateHash: _, ...rest } = JSON.parse((checkpoint as { text: string }).text);
  return [...tables, [rest]];
}

for (const version of readdirSync(STATES)) {
  test(`a directory of ${version} is opened: bars and trades are the same`, async (scope) => {
    const directory = temporaryDirectory(scope);
    for (const name of ['log.sqlite', 'state.sqlite']) {
      const bytes = gunzipSync(readFileSync(join(STATES, version, `${name}.gz`)));
      writeFileSync(join(directory, name), bytes);
    }
    const recorded = shownOf(join(directory, 'state.sqlite'));
    const world = await FoldWorld.open(scope, directory, {}, 1);
    assert.ok(world.said.unreadable.every((error) => isFault(error, 'otherStateVersion')));
    assert.equal(world.said.unreadable.length, 1);
    await world.stop();
    assert.deepEqual(shownOf(world.files.state), recorded);
    assert.ok((recorded[0]?.length ?? 0) > 50, 'there were bars');
    assert.ok((recorded[1]?.length ?? 0) > 50, 'there were trades');
  });
}

test('an earlier state and snapshots behind a trimmed log are refused, and kept', async (scope) => {
  const directory = temporaryDirectory(scope);
  const options = { horizonBlocks: 30, commitEveryMs: 1, snapshotEvery: 40 };
  const world = await FoldWorld.open(scope, directory, options, 1);
  while (world.said.snapshots.length < 3) {
    const fromMs = Math.max(START_MS, world.fold.marketMs + 2 * world.options.latenessMs);
    await world.feed(manyLines(20, fromMs, STEP_MS));
  }
  await world.stop();
  const files = [world.files.state];
  for (const name of readdirSync(join(directory, 'snapshots'))) {
    const path = join(directory, 'snapshots', name);
    // Version 5 did not compress them.
    const earlier = path.replace(/\.gz$/, '');
    await decompress(path, earlier);
    rmSync(path);
    files.push(earlier);
  }
  assert.equal(files.length, 3);
  for (const file of files) ofVersion5(file);
  const before = files.map((file) => readFileSync(file));
  await assert.rejects(
    FoldWorld.open(scope, directory, options, 2),
    /no usable snapshot.* after an upgrade .*state\.sqlite\* and snapshots\/ are removed/s,
  );
  assert.deepEqual(
    files.map((file) => readFileSync(file)),
    before,
    'the old version can continue',
  );
});

/** As a program of state version 5 left it. */
function ofVersion5(file: string): void {
  const database = openDatabase(file, { synchronous: 'NORMAL', maxMb: 0 });
  database.pragma('user_version = 5');
  checkpointWithChecksums(database);
  database.close();
}
