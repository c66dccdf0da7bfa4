/**
 * Serves the page at `/` and its files below `/assets/`. The name of each file holds a hash of its
 * content, so a browser may cache it for good, and never mixes two versions.
 */
import Type from 'typebox';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Route } from '../gateway/port.ts';
import { route } from '../gateway/route.ts';
import { type PageFiles, pageFiles } from './bundle.ts';

const COMMON = {
  method: 'GET',
  tag: 'Page',
  // Who looks at the page asks the API too: its files must not use up that rate limit.
  rate: 'free',
  needsSync: false,
  positioned: false,
  etag: true,
  gzip: true,
} as const satisfies Partial<Route>;

const NO_SNIFFING = { 'X-Content-Type-Options': 'nosniff' };

/** Without a chain there is no deployment, so the page does not request it. */
export function pageRoutes(hasChain: boolean): readonly Route[] {
  return [pageRoute(hasChain), fileRoute()];
}

/** What a page says about itself to those who only read its head: search engines, chats. */
export interface PageHead {
  readonly title: string;
  readonly description: string;
  /** Further elements of the head, escaped already. */
  readonly more?: string;
}

const HOME: PageHead = {
  title: 'upcurve',
  description: 'Launches, live prices and orders of this market.',
};

function pageRoute(hasChain: boolean): Route {
  const type = 'text/html; charset=utf-8';
  return route({
    ...COMMON,
    path: '/',
    operationId: 'page',
    summary: 'The market as a page',
    answers: { 200: { description: 'The page', type } },
    async handle() {
      return { body: pageDocument(await pageFiles(), hasChain, HOME), type, headers: PAGE_HEADERS };
    },
  });
}

function fileRoute(): Route {
  const headers = {
    ...NO_SNIFFING,
    'Cache-Control': 'public, max-age=31536000, immutable',
  };
  return route({
    ...COMMON,
    path: '/assets/:name',
    operationId: 'pageFile',
    summary: 'A file of the page',
    params: Type.Object({ name: Type.String({ maxLength: 128 }) }),
    answers: { 200: { description: 'The file', type: '*/*' } },
    causes: ['NOT_FOUND'],
    async handle({ params: { name } }) {
      const file = (await pageFiles()).all.get(name);
      if (file === undefined) {
        return new Failure('NOT_FOUND', `The page has no file ${name}; load the page again.`);
      }
      const { body, type, encoded } = file;
      return { body, type, encoded, tag: name, headers };
    },
  });
}

/** Nothing but this server, and nothing inline; wallets bring icons as data. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
  "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Of every document that shows the page. */
export const PAGE_HEADERS = {
  ...NO_SNIFFING,
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'no-referrer',
  // Browsers revalidate it each time (304), so the next page load gets a new version.
  'Cache-Control': 'no-cache',
};

/** `hasChain`: whether there is anything to trade on. */
export function pageDocument(
  { script, style, icon }: PageFiles,
  hasChain: boolean,
  { title, description, more = '' }: PageHead,
): string {
  const chain = hasChain ? 'some' : 'none';
  return `<!doctype html>
<html lang="en" data-chain="${chain}"><head><meta charset="utf-8"><title>${escaped(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escaped(description)}">
${more}<link rel="icon" href="/assets/${icon.name}">
<link rel="stylesheet" href="/assets/${style.name}">
<script type="module" src="/assets/${script.name}"></script></head>
<body><div id="page"><noscript><p class="plain">This page needs JavaScript. The same market is
served as an API: see <a href="/docs">the reference</a>.</p></noscript></div></body></html>
`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for HTML, in attributes too. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
