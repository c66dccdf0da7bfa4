/**
 * Planted faults: patches beside this file, each of which breaks one thing in `src/`. The cluster
 * simulator has to find them; the time shows the worth of a green run.
 *
 * Each begins with its fault and the effect for a user. A patch that no longer applies has to be
 * written again, on the code as it is now.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative, sep } from 'node:path';

const FOLDER = import.meta.dirname;
export const ROOT = join(FOLDER, '../../..');
const ENDING = '.patch';
/** Not copied: large folders, and folders that runs write. */
const LEFT_OUT = new Set(['node_modules', '.git', 'var']);

/** Comments beside a change may be others than when it was written. */
export const APPLY = ['apply', '-C1'];

/** Names of the faults, in order. */
export function plantedFaults(): readonly string[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(ENDING));
  return files.map((file) => basename(file, ENDING)).sort();
}

export function patchOf(fault: string): string {
  return join(FOLDER, `${fault}${ENDING}`);
}

/** A copy of this working tree in a new folder, with the fault if there is one. */
export function copyOfTree(fault: string | null): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'upcurve-planted-'));
  cpSync(ROOT, path, { recursive: true, filter: isCopied });
  symlinkSync(join(ROOT, 'node_modules'), join(path, 'node_modules'));
  if (fault !== null) execFileSync('git', [...APPLY, patchOf(fault)], { cwd: path });
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function isCopied(path: string): boolean {
  const [first = ''] = relative(ROOT, path).split(sep);
  return !LEFT_OUT.has(first);
}
