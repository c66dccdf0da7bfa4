import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import BetterSqlite from 'better-sqlite3';
import { NO_HASH, sealEntry } from '../../../src/engine/log/entry.ts';
import { LogFile } from '../../../src/engine/log/logFile.ts';

const real = fs.fdatasyncSync;

/** Replaces the system's call that waits for the disk. */
function syncBy(run: (descriptor: number) => void): void {
  fs.fdatasyncSync = run;
  syncBuiltinESMExports();
}

afterEach(() => syncBy(real));

function rowOf(seq: number, prevEntryHash: string) {
  const epoch = `1-${randomBytes(20).toString('hex')}`;
  const payload = { kind: 'epoch', reason: 'new' } as const;
  const entry = { version: 1, epoch, seq, term: 1, prevEntryHash, timeMs: 0, payload };
  const sealed = sealEntry(entry);
  const { hash } = sealed;
  return { seq, expectedSeq: seq - 1, prevEntryHash, kind: 'epoch', hash, text: sealed.text };
}

function opened() {
  const file = join(fs.mkdtempSync(join(tmpdir(), 'log-sync-')), 'log.sqlite');
  return { file, log: new LogFile({ file, maxMb: 0 }) };
}

test('an append is written before it waits for the disk, and answered after that', () => {
  const { file, log } = opened();
  const row = rowOf(1, NO_HASH);
  const onDisk: boolean[] = [];
  syncBy((descriptor) => {
    const written = fs.readFileSync(`${file}-wal`).includes(row.text);
    onDisk.push(written && fs.fstatSync(descriptor).ino === fs.statSync(`${file}-wal`).ino);
    real(descriptor);
  });
  assert.deepEqual(log.append([row]), [{ outcome: 'appended', seq: 1 }]);
  assert.deepEqual(onDisk, [true]);
  log.close();
});

test('an append without a sync is refused, and its retry does not rely on a second sync', () => {
  const { file, log } = opened();
  const row = rowOf(1, NO_HASH);
  syncBy(() => {
    throw Object.assign(new Error('i/o error'), { code: 'EIO' });
  });
  assert.throws(() => log.append([row]), /i\/o error/);
  syncBy(real);
  assert.deepEqual(log.append([row]), [{ outcome: 'appended', seq: 1 }]);
  // As after a crash that took the write-ahead log.
  const copy = `${file}.copy`;
  fs.copyFileSync(file, copy);
  const found = new BetterSqlite(copy).prepare('SELECT text FROM entries').all();
  assert.deepEqual(found, [{ text: row.text }]);
  log.close();
});

test('entries that a killed process left are on the disk before anyone reads them', () => {
  const { file, log } = opened();
  log.append([rowOf(1, NO_HASH)]);
  log.close();
  let syncs = 0;
  syncBy((descriptor) => {
    syncs += 1;
    real(descriptor);
  });
  const again = new LogFile({ file, maxMb: 0 });
  assert.equal(syncs, 1);
  again.close();
});
