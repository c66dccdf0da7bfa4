/**
 * The page as the files that a browser loads. The installation makes them (`pack/page.ts`); if the
 * sources have changed, as after a developer's edit, a separate process makes them again, so that
 * esbuild is never part of the server.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { assert } from '../../engine/runtime/assert.ts';
import { isPageMade, PAGE_FOLDER, ROOT, readPageIndex } from './made.ts';

export interface PageFile {
  /** `views-9C1D0B5E.js`. */
  readonly name: string;
  readonly type: string;
  readonly body: Buffer;
  /** The body compressed. */
  readonly encoded: { readonly br: Uint8Array; readonly gzip: Uint8Array };
}

export interface PageFiles {
  readonly script: PageFile;
  /** The script that a token's page loads after it. */
  readonly views: PageFile;
  readonly style: PageFile;
  readonly icon: PageFile;
  /** By name: those above, languages, and source maps, which only tools of developers load. */
  readonly all: ReadonlyMap<string, PageFile>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.map': 'application/json',
};
const MAKE_MS = 60_000;

/** Read once for the process: files of a running program do not change. */
let read: Promise<PageFiles> | null = null;

/** Rejects only where the page was not made and its sources are broken. */
export function pageFiles(): Promise<PageFiles> {
  read ??= make();
  return read;
}

async function make(): Promise<PageFiles> {
  if (!isPageMade()) {
    const script = ['--disable-warning=ExperimentalWarning', 'pack/page.ts', '--strict'];
    await promisify(execFile)(process.execPath, script, { cwd: ROOT, timeout: MAKE_MS });
  }
  const index = readPageIndex();
  assert(index !== null, 'the page is made');
  const all = new Map(index.files.map((name) => [name, fileOf(name)]));
  const one = (name: string) => {
    const file = all.get(name);
    assert(file !== undefined, `the page has ${name}`);
    return file;
  };
  return {
    script: one(index.script),
    views: one(index.views),
    style: one(index.style),
    icon: one(index.icon),
    all,
  };
}

function fileOf(name: string): PageFile {
  const type = TYPES[extname(name)];
  assert(type !== undefined, `${name} has a media type`);
  const [body, br, gzip] = ['', '.br', '.gzip'].map((end) => {
    return readFileSync(join(PAGE_FOLDER, `${name}${end}`));
  });
  assert(body !== undefined && br !== undefined && gzip !== undefined, 'three were read');
  return { name, type, body, encoded: { br, gzip } };
}
