/** Where a node keeps what: the log, the state, and snapshots a log may begin from. */
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface DataFiles {
  readonly log: string;
  readonly state: string;
  /** The state being rebuilt, until it takes the place of `state`. */
  readonly rebuild: string;
  /** Present: a pool was quarantined, the state lacks entries; the next start rebuilds it. */
  readonly damaged: string;
  base(epoch: string): string;
}

export function dataFiles(directory: string): DataFiles {
  mkdirSync(directory, { recursive: true });
  return {
    log: join(directory, 'log.sqlite'),
    state: join(directory, 'state.sqlite'),
    rebuild: join(directory, 'rebuild.sqlite'),
    damaged: join(directory, 'state.damaged'),
    base: (epoch) => join(directory, `base-${epoch}.sqlite`),
  };
}

export function removeDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
}

/** Puts one closed database in the place of another, in one step. */
export function replaceDatabase(from: string, to: string): void {
  for (const suffix of ['-wal', '-shm']) rmSync(`${to}${suffix}`, { force: true });
  renameSync(from, to);
}

export function copyDatabase(from: string, to: string): void {
  removeDatabase(to);
  copyFileSync(from, to);
}

export function markDamaged(files: DataFiles, reason: string): void {
  writeFileSync(files.damaged, `${reason}\n`);
}

export function isDamaged(files: DataFiles): boolean {
  return existsSync(files.damaged);
}

export function clearDamaged(files: DataFiles): void {
  rmSync(files.damaged, { force: true });
}
