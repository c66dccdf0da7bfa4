import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import BetterSqlite from 'better-sqlite3';
import { seededRng } from '../../../src/engine/runtime/rng.ts';
import { SimDisk } from './simDisk.ts';
import { VirtualTime } from './virtualTime.ts';

test('a full disk loses what was not synced, as any other does', () => {
  const directory = mkdtempSync(join(tmpdir(), 'sim-disk-'));
  const disk = new SimDisk(new VirtualTime());
  const uninstall = disk.install();
  try {
    const file = join(directory, 'state.sqlite');
    const database = new BetterSqlite(file);
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = NORMAL');
    database.exec('CREATE TABLE kept (text TEXT)');
    database.prepare('INSERT INTO kept VALUES (?)').run('a');
    disk.fill(directory);
    disk.crash(directory);
    const before = statSync(`${file}-wal`).size;
    assert.ok(before > 0);
    disk.loseUnsynced(directory, seededRng(1), true);
    assert.ok(statSync(`${file}-wal`).size < before);
  } finally {
    uninstall();
    rmSync(directory, { recursive: true, force: true });
  }
});
