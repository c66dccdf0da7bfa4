/**
 * Writes the coverage of pages in the form and folder of Node's own coverage; does nothing unless
 * NODE_V8_COVERAGE names that folder (`npm run coverage`). A page made for a test, with the chart
 * library that records, is not counted.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { pageFiles } from '../../src/api/page/files.ts';
import { ranCharacters, type ScriptCoverage } from '../coverage/executed.ts';
import { ofSources } from '../coverage/mapped.ts';

const FOLDER = process.env.NODE_V8_COVERAGE;
const ROOT = join(import.meta.dirname, '../..');
/** Addresses of files of the page, as `src/api/page/routes.ts` makes them. */
const FILE = /\/assets\/([\w-]+\.js)$/;
const REFERENCE = '/docs/page.js';
const REFERENCE_SOURCE = 'src/api/docs/browser/page.ts';

/** Before the page is opened. */
export async function countExecuted(page: Page): Promise<void> {
  if (FOLDER !== undefined) await page.coverage.startJSCoverage({ resetOnNavigation: false });
}

/** Before they are closed: keeps what they ran. */
export async function keepExecuted(pages: readonly Page[]): Promise<void> {
  if (FOLDER === undefined) return;
  for (const page of pages) {
    const scripts = await page.coverage.stopJSCoverage();
    const results = await Promise.all(scripts.map(executedOf));
    mkdirSync(FOLDER, { recursive: true });
    const text = JSON.stringify({ result: results.flat() });
    writeFileSync(join(FOLDER, `coverage-page-${randomUUID()}.json`), text);
  }
}

type Script = Awaited<ReturnType<Page['coverage']['stopJSCoverage']>>[number];

async function executedOf({ url, functions, source }: Script): Promise<ScriptCoverage[]> {
  if (url.endsWith(REFERENCE)) return [{ url: urlOf(REFERENCE_SOURCE), functions }];
  const name = FILE.exec(url)?.[1];
  if (name === undefined || source === undefined) return [];
  const map = await mapOf(name, source);
  if (map === null) return [];
  const bundle = { text: source, map, folder: 'assets' };
  // V8 counts code after an `await` at the top level of a module as never run. It did run, because
  // the page was there.
  const end = source.trimEnd().length;
  const ran = functions.map(({ ranges }) => ({
    ranges: ranges.filter(({ count, endOffset }) => count > 0 || endOffset < end),
  }));
  return ofSources(ranCharacters(ran), bundle, textOf, urlOf);
}

/** null: it is not the file that is served under that name. */
async function mapOf(name: string, source: string): Promise<string | null> {
  const { all } = await pageFiles();
  const served = Buffer.from(all.get(name)?.body ?? '').toString();
  if (served !== source) return null;
  return Buffer.from(all.get(`${name}.map`)?.body ?? '').toString();
}

/** Text of one of our own files. */
function textOf(path: string): string | null {
  const file = join(ROOT, path);
  return path.startsWith('src/') && existsSync(file) ? readFileSync(file, 'utf8') : null;
}

function urlOf(path: string): string {
  return pathToFileURL(join(ROOT, path)).href;
}
