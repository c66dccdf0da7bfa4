/**
 * Serves the page at `/` and its files. Every URL holds a hash of all files, so a browser may cache
 * each file forever, and never mixes two versions.
 */

import { hash } from 'node:crypto';
import type { Route } from '../gateway/port.ts';
import { route } from '../gateway/route.ts';
import { type PageFile, type PageSources, readSources } from './sources.ts';

const IMMUTABLE = 'public, max-age=31536000, immutable';

const COMMON = {
  method: 'GET',
  tag: 'Page',
  // One page load asks for a hundred files: they must not use up the rate limit of the API.
  rate: 'free',
  needsSync: false,
  positioned: false,
  etag: true,
  gzip: true,
} as const satisfies Partial<Route>;

const NO_SNIFFING = { 'X-Content-Type-Options': 'nosniff' };

/** Read once for the process: files of a running program do not change. */
let sourcesCache: PageSources | null = null;

/** Without a chain there is no deployment, so the page does not request it. */
export function pageRoutes(hasChain: boolean): readonly Route[] {
  sourcesCache ??= readSources();
  const sources = sourcesCache;
  const urlOf = (path: string) => `/assets/${sources.version}/${path}`;
  const files = [...sources.modules, ...sources.styles, sources.icon];
  return [
    pageRoute(documentOf(sources, urlOf, hasChain)),
    ...files.map((file) => fileRoute(urlOf(file.path), file)),
  ];
}

function pageRoute({ html, policy }: Document): Route {
  const headers = {
    ...NO_SNIFFING,
    'Content-Security-Policy': policy,
    'Referrer-Policy': 'no-referrer',
    // Browsers revalidate it each time (304), so the next page load gets a new version.
    'Cache-Control': 'no-cache',
  };
  const type = 'text/html; charset=utf-8';
  return route({
    ...COMMON,
    path: '/',
    operationId: 'page',
    summary: 'The market as a page',
    answers: { 200: { description: 'The page', type } },
    handle: () => ({ body: html, type, headers }),
  });
}

function fileRoute(path: string, { type, text }: PageFile): Route {
  const headers = { ...NO_SNIFFING, 'Cache-Control': IMMUTABLE };
  let body: string | null = null;
  return route({
    ...COMMON,
    path,
    operationId: 'pageFile',
    summary: 'A file of the page',
    answers: { 200: { description: 'The file', type } },
    handle() {
      body ??= text();
      return { body, type, headers };
    },
  });
}

interface Document {
  readonly html: string;
  readonly policy: string;
}

/** `urlOf` says where a file is served; `hasChain` whether there is anything to trade on. */
function documentOf(
  sources: PageSources,
  urlOf: (path: string) => string,
  hasChain: boolean,
): Document {
  const imports = Object.fromEntries(
    Array.from(sources.imports, ([name, path]) => [name, urlOf(path)]),
  );
  const map = JSON.stringify({ imports });
  const styles = sources.styles.map(({ path }) => `<link rel="stylesheet" href="${urlOf(path)}">`);
  // Loads all at once, instead of level by level of imports.
  const preloads = sources.modules.map(
    ({ path }) => `<link rel="modulepreload" href="${urlOf(path)}">`,
  );
  const chain = hasChain ? 'some' : 'none';
  const html = `<!doctype html>
<html lang="en" data-chain="${chain}"><head><meta charset="utf-8"><title>upcurve</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="Launches, live prices and orders of this market.">
<link rel="icon" href="${urlOf(sources.icon.path)}">
${styles.join('\n')}
<script type="importmap">${map}</script>
${preloads.join('\n')}
<script type="module" src="${urlOf(sources.entry)}"></script></head>
<body><div id="page"><noscript><p class="plain">This page needs JavaScript. The same market is
served as an API: see <a href="/docs">the reference</a>.</p></noscript></div></body></html>
`;
  return { html, policy: policyOf(map) };
}

/** Nothing but this server, nothing inline but the map above; wallets bring icons as data. */
function policyOf(map: string): string {
  const digest = hash('sha256', map, 'base64');
  return (
    `default-src 'none'; script-src 'self' 'sha256-${digest}'; style-src 'self'; ` +
    "connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; " +
    "frame-ancestors 'none'"
  );
}
