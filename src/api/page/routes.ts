/**
 * Serves the page at `/` and its files. Every URL holds a hash of all files, so a browser may cache
 * each file forever, and never mixes two versions.
 */

import { hash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert } from '../../engine/runtime/assert.ts';
import type { Route } from '../gateway/port.ts';
import { route } from '../gateway/route.ts';

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

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Not an import: this file reads the page, it does not run it. */
const ENTRY = join(ROOT, 'src/web/main.ts');
const MOST_FILES = 500;

/** A file that the page may load; `path` is from the root of the program, with slashes. */
interface PageFile {
  readonly path: string;
  readonly type: string;
  text(): string;
}

interface PageSources {
  readonly entry: string;
  readonly modules: readonly PageFile[];
  readonly styles: readonly PageFile[];
  readonly icon: PageFile;
  /** Specifier of a package in our modules → its file. */
  readonly imports: ReadonlyMap<string, string>;
  /** Names the content of all files together. */
  readonly version: string;
}

const SCRIPT = 'text/javascript; charset=utf-8';

/**
 * Files of the page: the modules that `src/web/main.ts` imports, the packages that they name, and
 * every stylesheet under `src/web`. There is no build: types become blanks when a module is first
 * requested, and lines stay where they are. No content delivery network, so the page works without
 * internet.
 */
function readSources(): PageSources {
  const entry = pathOf(ENTRY);
  const texts = new Map<string, string>();
  const imports = new Map<string, string>();
  const waiting = [entry];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (texts.has(path)) continue;
    assert(texts.size < MOST_FILES, 'the page has a bounded number of modules');
    const text = read(path);
    texts.set(path, text);
    for (const specifier of specifiersOf(text)) {
      const target = resolve(path, specifier);
      if (target === null) continue;
      if (!specifier.startsWith('.')) imports.set(specifier, target);
      waiting.push(target);
    }
  }
  const modules = Array.from(texts, ([path, text]) => moduleOf(path, text));
  const styles = globSync('src/web/**/*.css', { cwd: ROOT }).sort().map(styleOf);
  const icon = fileOf('src/web/icon.svg', 'image/svg+xml');
  const all = [...modules, ...styles, icon].map(({ path }) => path + read(path)).join('\0');
  const version = hash('sha256', all, 'hex').slice(0, 16);
  return { entry, modules: modules.sort(byPath), styles, icon, imports, version };
}

/** Statements at the start of a line, and loading on demand; types are never loaded. */
const IMPORTS = [
  /^(?:import|export)\s(?!type\s)[^;'"]*?from\s*['"]([^'"]+)['"]/gm,
  /^import\s*['"]([^'"]+)['"]/gm,
  /\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm,
];

export function specifiersOf(text: string): string[] {
  return IMPORTS.flatMap((form) => Array.from(text.matchAll(form), ([, name = '']) => name));
}

/** null for a package that a package may name and ours do not: its notes hold examples too. */
function resolve(importer: string, specifier: string): string | null {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(importer), specifier);
  const file = fileOfPackage(specifier);
  if (file === null && importer.startsWith('node_modules/')) return null;
  assert(file !== null, `${importer} imports ${specifier}, which browsers are not given`);
  return pathOf(file);
}

function moduleOf(path: string, text: string): PageFile {
  if (!path.endsWith('.ts')) return { path, type: SCRIPT, text: () => text };
  return { path, type: SCRIPT, text: () => stripTypeScriptTypes(text) };
}

function styleOf(path: string): PageFile {
  return fileOf(path.replaceAll('\\', '/'), 'text/css; charset=utf-8');
}

function fileOf(path: string, type: string): PageFile {
  return { path, type, text: () => read(path) };
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function pathOf(file: string): string {
  return relative(ROOT, file).replaceAll('\\', '/');
}

function byPath(a: PageFile, b: PageFile): number {
  return a.path < b.path ? -1 : 1;
}

/** The chart library in one file, with what it needs itself. */
const CHARTS = 'lightweight-charts';
const MESSAGES = '@msgpack/msgpack';
/** Written as modules for browsers: their own entries are served. */
const PLAIN = ['@noble/ed25519', '@noble/hashes', '@scure/base'];

const require = createRequire(import.meta.url);

/** null for a package that is not served to browsers. */
function fileOfPackage(specifier: string): string | null {
  if (specifier === CHARTS) {
    return join(homeOf(CHARTS), 'dist/lightweight-charts.standalone.production.mjs');
  }
  if (specifier === MESSAGES) return join(homeOf(MESSAGES), '../dist.esm/index.mjs');
  const isPlain = PLAIN.some((name) => specifier === name || specifier.startsWith(`${name}/`));
  return isPlain ? require.resolve(specifier) : null;
}

/** The folder of its files. Some packages do not export their package.json. */
function homeOf(name: string): string {
  return name === CHARTS
    ? dirname(require.resolve(`${name}/package.json`))
    : dirname(require.resolve(name));
}
