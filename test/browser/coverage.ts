/**
 * What pages run, in the form and folder in which Node keeps what its own processes run; only where
 * NODE_V8_COVERAGE names that folder (`npm run coverage`).
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';

const FOLDER = process.env.NODE_V8_COVERAGE;
const ROOT = join(import.meta.dirname, '../..');
/** Addresses of our modules, as `src/api/page/routes.ts` and `src/api/docs/routes.ts` make them. */
const MODULE = /\/assets\/\w+\/(src\/.+\.ts)$/;
const REFERENCE = '/docs/page.js';
const REFERENCE_SOURCE = 'src/api/docs/browser/page.ts';

/** Before the page is opened. */
export async function countExecuted(page: Page): Promise<void> {
  if (FOLDER !== undefined) await page.coverage.startJSCoverage({ resetOnNavigation: false });
}

/** Before the browser is closed: keeps what its pages ran. */
export async function keepExecuted(browser: Browser): Promise<void> {
  if (FOLDER === undefined) return;
  for (const page of browser.contexts().flatMap((context) => context.pages())) {
    const scripts = await page.coverage.stopJSCoverage();
    const result = scripts.flatMap(({ url, functions }) => {
      const path = url.endsWith(REFERENCE) ? REFERENCE_SOURCE : MODULE.exec(url)?.[1];
      return path === undefined ? [] : [{ url: pathToFileURL(join(ROOT, path)).href, functions }];
    });
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(join(FOLDER, `coverage-page-${randomUUID()}.json`), JSON.stringify({ result }));
  }
}
