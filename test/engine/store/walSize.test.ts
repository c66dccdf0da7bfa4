/** How large the write-ahead logs of state and log become, while much is written. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sealEntry } from '../../../src/engine/log/entry.ts';
import { LocalLog } from '../../../src/engine/log/local.ts';
import { readOnlyDatabase } from '../../../src/engine/store/database.ts';
import { checkPages } from '../../../src/engine/store/pageChecksums.ts';
import { CHANGE_CAUSES } from '../../../src/engine/store/rows.ts';
import { StateStore } from '../../../src/engine/store/state.ts';
import { threadWriter } from '../../../src/engine/store/stateWriter.ts';
import { CountedTrades } from '../../../src/engine/store/tradeIds.ts';
import { EMPTY_TAIL, nextEntry, tailAfter } from '../../support/chain.ts';
import { temporaryDirectory } from '../../support/server.ts';

const LIMIT_BYTES = 16 * 1024 * 1024;
const COMMIT_BYTES = 1024 * 1024;
const COMMITS = 60;

function walBytes(file: string): number {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** Stages about a MiB, in rows that no earlier commit has. */
function stage(store: StateStore, seq: number): void {
  const rows = Array.from({ length: 64 }, (_, index) => ({
    table: 'market' as const,
    key: `${seq}-${index}`,
    before: null,
    after: 'x'.repeat(COMMIT_BYTES / 64),
    cause: CHANGE_CAUSES[0],
  }));
  store.stage({
    checkpoint: {
      epoch: '1-a',
      seq,
      term: 1,
      entryHash: 'e',
      stateHash: `${seq}`,
      hashedSeq: seq,
      marketMs: 0,
      openedMs: 0,
      seenMs: 0,
    },
    block: false,
    atMs: 0,
    changes: rows,
    trades: new CountedTrades(),
    streamChanges: [],
  });
}

function openStore(file: string): StateStore {
  return new StateStore(file, { horizonBlocks: 5, maxMb: 0, writer: threadWriter });
}

test('that of the state stays below 16 MiB', async (scope) => {
  const file = join(temporaryDirectory(scope), 'state.sqlite');
  const store = openStore(file);
  let most = 0;
  for (let seq = 1; seq <= COMMITS; seq += 1) {
    stage(store, seq);
    await store.commit();
    most = Math.max(most, walBytes(file));
  }
  assert.ok(most > COMMIT_BYTES && most < LIMIT_BYTES, `${most}`);
  await store.close();
  assert.equal(await checkPages(file), 'whole');
});

test('a reader that stays delays commits instead of making it longer', async (scope) => {
  const file = join(temporaryDirectory(scope), 'state.sqlite');
  const store = openStore(file);
  stage(store, 1);
  await store.commit();
  const reader = readOnlyDatabase(file);
  reader.exec('BEGIN');
  reader.prepare('SELECT count(1) FROM market').get();
  let seq = 1;
  let most = 0;
  let isReading = true;
  while (seq < COMMITS) {
    seq += 1;
    stage(store, seq);
    const committed = store.commit();
    // Longer than this it becomes only as long as the writer does not wait.
    if (isReading && walBytes(file) > 11 * 1024 * 1024) {
      reader.close();
      isReading = false;
    }
    await committed;
    most = Math.max(most, walBytes(file));
  }
  assert.ok(!isReading, 'the reader held it');
  assert.ok(most < LIMIT_BYTES, `${most}`);
  assert.ok(walBytes(file) < LIMIT_BYTES / 2);
  await store.close();
  assert.equal(await checkPages(file), 'whole');
});

test('that of the log stays below 16 MiB, also while it is trimmed', async (scope) => {
  const file = join(temporaryDirectory(scope), 'log.sqlite');
  const log = await LocalLog.open({ file, maxMb: 0 });
  let tail = EMPTY_TAIL;
  let most = 0;
  for (let round = 0; round < COMMITS; round += 1) {
    const { entry } = nextEntry(tail);
    const sealed = sealEntry({ ...entry, epoch: `1-${'x'.repeat(COMMIT_BYTES)}` });
    await log.append(sealed, tail.seq);
    tail = tailAfter(sealed);
    if (round % 20 === 19) await log.trim(tail.seq - 5);
    most = Math.max(most, walBytes(file));
  }
  assert.ok(most > COMMIT_BYTES && most < LIMIT_BYTES, `${most}`);
  assert.ok(statSync(file).size < 40 * COMMIT_BYTES, 'the room of trimmed entries is used again');
  await log.close();
  assert.equal(await checkPages(file), 'whole');
});
