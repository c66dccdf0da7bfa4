/**
 * Faults of a node's files: real ones, in a directory of the run. Only while its node does not run.
 */
import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';

/** Puts a copy of all files beside the directory, for `older`. */
export function backUp(directory: string): void {
  rmSync(`${directory}.older`, { recursive: true, force: true });
  cpSync(directory, `${directory}.older`, { recursive: true });
}

/**
 * The replaced directory is kept for `restoreDirectory`. false: there is nothing to replace it
 * with.
 */
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
