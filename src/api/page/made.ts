/**
 * Where the installation puts the files of the page, and of which sources they were made: written
 * by `pack/page.ts`, read by the server.
 */
import { hash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
export const PAGE_FOLDER = join(ROOT, 'node_modules/.cache/page');
/** Names the files; beside each file is its compressed form, `main-9C1D0B5E.js.br`. */
export const INDEX = 'index.json';
export const ENCODINGS = ['br', 'gzip'] as const;

/** Names are file names without folders. */
export interface PageIndex {
  /** SHA-256 of each, by its path below the project's folder. */
  readonly sources: Readonly<Record<string, string>>;
  readonly files: readonly string[];
  readonly script: string;
  readonly views: string;
  readonly style: string;
  readonly icon: string;
}

/** null: nothing was made. */
export function readPageIndex(): PageIndex | null {
  try {
    // trust: written by pack/pageBundle.ts
    return JSON.parse(readFileSync(join(PAGE_FOLDER, INDEX), 'utf8')) as PageIndex;
  } catch {
    // It was never made.
    return null;
  }
}

/** Whether files were made of the sources as they are now. */
export function isPageMade(): boolean {
  const index = readPageIndex();
  if (index === null) return false;
  const known = styleSources().every((path) => index.sources[path] !== undefined);
  return known && Object.entries(index.sources).every(([path, sum]) => sum === hashOfSource(path));
}

/** Stylesheets of the page, in the order in which they apply. */
export function styleSources(): readonly string[] {
  return globSync('src/web/**/*.css', { cwd: ROOT })
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
}

/** `''`: there is no such file. */
export function hashOfSource(path: string): string {
  try {
    return hash('sha256', readFileSync(join(ROOT, path)));
  } catch {
    // There is no such file.
    return '';
  }
}
