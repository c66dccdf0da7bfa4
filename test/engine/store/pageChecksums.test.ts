/** Checksums of pages find every damage, and none after a kill or a power cut. */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { isFault } from '../../../src/engine/runtime/assert.ts';
import { type Database, openDatabase } from '../../../src/engine/store/database.ts';
import {
  checkPages,
  checkpointWithChecksums,
  updatePageChecksums,
} from '../../../src/engine/store/pageChecksums.ts';
import { readWal } from '../../../src/engine/store/walFile.ts';
import { temporaryDirectory } from '../../support/server.ts';

const FRAME_BYTES = 4096 + 24;

type Step =
  | { readonly row: number; readonly bytes: number }
  | 'checkpoint'
  | 'killed in a checkpoint'
  | 'reopen'
  | 'kill'
  | 'power cut';

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ row: fc.nat(200), bytes: fc.nat(9_000) }) },
  fc.constant('checkpoint' as const),
  // Killed after SQLite moved pages and before their checksums were written.
  fc.constant('killed in a checkpoint' as const),
  fc.constant('reopen' as const),
  fc.constant('kill' as const),
  fc.constant('power cut' as const),
);

function opened(file: string): Database {
  const database = openDatabase(file, { synchronous: 'NORMAL', maxMb: 0 });
  database.exec('CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, bytes BLOB)');
  return database;
}

/** Copies the files as a crash would leave them. */
function imageOf(file: string, image: string): string {
  for (const suffix of ['', '-wal', '-sums']) {
    if (existsSync(`${file}${suffix}`)) copyFileSync(`${file}${suffix}`, `${image}${suffix}`);
  }
  return image;
}

/** After a power cut, only the synced part of the write-ahead log is sure to be left. */
function cutPower(file: string, movedFrames: number): void {
  const wal = readWal(file);
  if (wal === null || wal.frames <= movedFrames) return;
  truncateSync(`${file}-wal`, 32 + (movedFrames + 1) * FRAME_BYTES - 1_000);
}

test('whatever ends the process, the checksums match, and each flipped bit is found', async () => {
  const directory = temporaryDirectory();
  let files = 0;
  const nextFile = () => {
    files += 1;
    return join(directory, `${files}.sqlite`);
  };
  const run = async (steps: readonly Step[], at: number) => {
    let file = nextFile();
    let database = opened(file);
    let moved = 0;
    for (const next of steps) {
      if (typeof next === 'object') {
        const insert = database.prepare('INSERT OR REPLACE INTO rows VALUES (?, zeroblob(?))');
        insert.run(next.row, next.bytes);
      } else if (next === 'checkpoint') {
        checkpointWithChecksums(database);
        moved = readWal(file)?.frames ?? 0;
      } else if (next === 'reopen') {
        checkpointWithChecksums(database);
        database.close();
        assert.notEqual(await checkPages(file), 'unknown');
        database = opened(file);
        moved = 0;
      } else {
        if (next === 'killed in a checkpoint') {
          database.pragma('wal_checkpoint(PASSIVE)');
          moved = readWal(file)?.frames ?? 0;
        }
        const before = database;
        file = imageOf(file, nextFile());
        before.close();
        if (next === 'power cut') cutPower(file, moved);
        assert.ok(!isFault(await checkPages(file), 'damagedFile'), `${next}: ${file}`);
        database = opened(file);
      }
    }
    checkpointWithChecksums(database);
    database.close();
    assert.equal(await checkPages(file), 'whole');
    const bytes = readFileSync(file);
    const byte = at % bytes.length;
    bytes[byte] = (bytes[byte] ?? 0) ^ (1 << (at % 8));
    writeFileSync(file, bytes);
    assert.ok(isFault(await checkPages(file), 'damagedFile'), `byte ${byte} of ${file}`);
  };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), fc.nat(), run),
    { numRuns: Number(process.env.RUNS ?? 30) },
  );
});

test('pages that changed places, a cut file and lost checksums are damage', async () => {
  const make = () => {
    const file = join(temporaryDirectory(), 'a.sqlite');
    const database = opened(file);
    for (let row = 1; row < 50; row += 1) {
      database.prepare('INSERT INTO rows VALUES (?, ?)').run(row, Buffer.alloc(3_000, row));
    }
    checkpointWithChecksums(database);
    database.close();
    return { file, bytes: readFileSync(file) };
  };
  const swapped = make();
  const page = (number: number) => (number - 1) * 4096;
  const kept = Buffer.from(swapped.bytes.subarray(page(5), page(6)));
  swapped.bytes.copyWithin(page(5), page(7), page(8));
  kept.copy(swapped.bytes, page(7));
  writeFileSync(swapped.file, swapped.bytes);
  assert.match(String(await checkPages(swapped.file)), /page 5 \(byte 16384\) and 1 more does not/);

  const cut = make();
  truncateSync(cut.file, cut.bytes.length - 4096);
  assert.match(String(await checkPages(cut.file)), /cannot be read/);

  const longer = make();
  writeFileSync(longer.file, Buffer.concat([longer.bytes, Buffer.alloc(4096)]));
  assert.match(String(await checkPages(longer.file)), /should not be there/);

  const headless = make();
  writeFileSync(`${headless.file}-sums`, 'no checksums at all '.repeat(100));
  assert.match(String(await checkPages(headless.file)), /-sums is damaged/);
  updatePageChecksums(headless.file, 0);
  assert.equal(await checkPages(headless.file), 'whole');
});
