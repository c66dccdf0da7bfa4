/**
 * What happens to the files of a node: real ones, in a directory of the run. Only while its node
 * does not run, but for `fill`.
 */
import {
  cpSync,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';
import { dataFiles } from '../../../src/engine/actors/dataFiles.ts';
import type { Rng } from '../../../src/engine/runtime/rng.ts';
import { openDatabase } from '../../../src/engine/store/database.ts';

/** Of each database file of a node, as its settings say: more than a run needs. */
export const DATA_MAX_MB = 24;

/** A crash that takes what was not synced: the end of the write-ahead log, at any byte or page. */
export function loseUnsynced(directory: string, rng: Rng, isTorn: boolean): void {
  if (!existsSync(directory)) return;
  for (const name of readdirSync(directory)
    .filter((each) => each.endsWith('-wal'))
    .sort()) {
    const path = join(directory, name);
    const { size } = statSync(path);
    const kept = Math.floor(rng.unit() * size);
    // Frames of a WAL: a header of 32 bytes, then 24 bytes and a page each.
    const frame = 24 + 4096;
    const whole = kept < 32 ? 0 : 32 + Math.floor((kept - 32) / frame) * frame;
    truncateSync(path, isTorn ? kept : whole);
  }
}

/** Puts a copy of all files beside the directory, for `older`. */
export function backUp(directory: string): void {
  rmSync(`${directory}.older`, { recursive: true, force: true });
  cpSync(directory, `${directory}.older`, { recursive: true });
}

/** What is replaced is kept for `restoreDirectory`. false: there is nothing to replace it with. */
export function replaceDirectory(directory: string, source: string | null): boolean {
  if (source !== null && !existsSync(source)) return false;
  rmSync(`${directory}.kept`, { recursive: true, force: true });
  renameSync(directory, `${directory}.kept`);
  if (source !== null) cpSync(source, directory, { recursive: true });
  return true;
}

export function restoreDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  renameSync(`${directory}.kept`, directory);
}

/** The state is as large as it may be; answers how to make room again. */
export function fillDisk(directory: string): () => void {
  const { state } = dataFiles(directory);
  const database = openDatabase(state, { synchronous: 'NORMAL', maxMb: 0 });
  database.exec('CREATE TABLE IF NOT EXISTS ballast (bytes BLOB)');
  const bytes = DATA_MAX_MB * 1024 * 1024;
  database.prepare('INSERT INTO ballast (bytes) VALUES (zeroblob(?))').run(bytes);
  return () => {
    database.exec('DROP TABLE ballast');
    database.close();
  };
}
