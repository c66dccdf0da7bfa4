/**
 * Whether DATA_DIR is a copy of the directory that served: a restored backup. Clients may have seen
 * later positions than such a copy has, so its log continues in a new epoch.
 *
 * `created-at` says when it was created itself, by the file system's clock. No copy of a file keeps
 * that time, and each start writes the file again, so files that are put over it do not fit either.
 *
 * A node that acknowledges from memory (`ACK=memory`) has a mark in that file while it runs, so
 * that its crash counts as such a copy.
 *
 * Not noticed: a whole file system that was set back, and a file system that keeps no such times.
 */
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = 'created-at';

/** False for a directory without the file: it is new, or an older version wrote it. */
export function isCopiedDirectory(directory: string): boolean {
  const path = join(directory, FILE);
  return existsSync(path) && readFileSync(path, 'utf8').trim() !== createdAt(path);
}

export function markDirectory(directory: string): void {
  const path = join(directory, FILE);
  const part = `${path}.part`;
  rmSync(part, { force: true });
  writeFileSync(part, '');
  const created = createdAt(part);
  writeFileSync(part, `${created}\n`, { flush: true });
  renameSync(part, path);
  // This file system answers with another time after each change of a file.
  if (createdAt(path) !== created) rmSync(path);
}

/** Until `markDirectory`, the directory counts as a copy. */
export function markOpenDirectory(directory: string): void {
  writeFileSync(join(directory, FILE), 'open, ACK=memory\n', { flush: true });
}

/** Nanoseconds since 1970. */
function createdAt(path: string): string {
  return `${statSync(path, { bigint: true }).birthtimeNs}`;
}
