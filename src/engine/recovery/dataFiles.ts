/** Paths of a node's files: the log, the state, and snapshots that a log may start from. */
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { CHECKSUMS_SUFFIX, COMPANION_SUFFIXES } from '../store/pageChecksums.ts';

export interface DataFiles {
  readonly log: string;
  readonly state: string;
  /** The state being rebuilt, until it takes the place of `state`. */
  readonly rebuild: string;
  /** Present: a pair was quarantined, the state lacks entries; the next start rebuilds it. */
  readonly damaged: string;
  base(epoch: string): string;
  readonly directory: string;
}

export function dataFiles(directory: string): DataFiles {
  mkdirSync(directory, { recursive: true });
  return {
    log: join(directory, 'log.sqlite'),
    state: join(directory, 'state.sqlite'),
    rebuild: join(directory, 'rebuild.sqlite'),
    damaged: join(directory, 'state.damaged'),
    base: (epoch) => join(directory, `base-${epoch}.sqlite`),
    directory,
  };
}

export function removeDatabase(file: string): void {
  for (const suffix of ['', ...COMPANION_SUFFIXES]) rmSync(`${file}${suffix}`, { force: true });
}

/**
 * Puts one closed database in the place of another, which is kept beside it as `*.replaced` until
 * the next replacement. In one step.
 */
function replaceDatabase(from: string, to: string): void {
  const kept = `${to}.replaced`;
  if (existsSync(to)) {
    removeDatabase(kept);
    linkSync(to, kept);
    for (const suffix of ['-wal', CHECKSUMS_SUFFIX]) {
      if (existsSync(`${to}${suffix}`)) renameSync(`${to}${suffix}`, `${kept}${suffix}`);
    }
  }
  for (const suffix of COMPANION_SUFFIXES) rmSync(`${to}${suffix}`, { force: true });
  renameSync(from, to);
  const sums = `${from}${CHECKSUMS_SUFFIX}`;
  if (existsSync(sums)) renameSync(sums, `${to}${CHECKSUMS_SUFFIX}`);
}

/** Puts the state in the closed file `rebuild` in place; it lacks entries of the `broken` pools. */
export function useRebuilt(files: DataFiles, broken: ReadonlyMap<string, unknown>): void {
  replaceDatabase(files.rebuild, files.state);
  clearDamaged(files);
  for (const [pair, error] of broken) markDamaged(files, pair, error);
}

export function copyDatabase(from: string, to: string): void {
  removeDatabase(to);
  copyFileSync(from, to);
  const sums = `${from}${CHECKSUMS_SUFFIX}`;
  if (existsSync(sums)) copyFileSync(sums, `${to}${CHECKSUMS_SUFFIX}`);
}

/** One line a pair: its name, a space, the reason. */
export function markDamaged(files: DataFiles, pair: string, error: unknown): void {
  appendFileSync(files.damaged, `${pair} ${String(error).replaceAll(/\s+/g, ' ')}\n`);
}

export function damagedPairs(files: DataFiles): string[] {
  if (!isDamaged(files)) return [];
  const lines = readFileSync(files.damaged, 'utf8').split('\n');
  return lines.flatMap((line) => line.split(' ', 1)).filter((name) => name !== '');
}

export function isDamaged(files: DataFiles): boolean {
  return existsSync(files.damaged);
}

function clearDamaged(files: DataFiles): void {
  rmSync(files.damaged, { force: true });
}

/** Snapshots of other epochs are of no use once their log is gone. */
export function removeBasesExcept(files: DataFiles, epoch: string): void {
  for (const name of readdirSync(files.directory)) {
    const path = join(files.directory, name);
    if (name.startsWith('base-') && !path.startsWith(files.base(epoch)))
      rmSync(path, { force: true });
  }
}
