/** The document that shows the page, whatever its address, and what its routes have in common. */
import { escapeMarkup } from '../../engine/runtime/markup.ts';
import type { Answer, Route } from '../gateway/port.ts';
import { type PageFiles, pageFiles } from './files.ts';

/** Settings that the routes of the page share. */
export const PAGE_ROUTE = {
  method: 'GET',
  tag: 'Page',
  // A visitor's page asks the API too: its files must not use up that rate limit.
  rate: 'free',
  needsSync: false,
  positioned: false,
  etag: true,
  gzip: true,
} as const satisfies Partial<Route>;

export const NO_SNIFFING = { 'X-Content-Type-Options': 'nosniff' };

/** The document's head, for search engines and chats. */
export interface PageHead {
  readonly title: string;
  readonly description: string;
  /** Further elements of the head, escaped already. */
  readonly more?: string;
  /** Whether a token is the first view: its script is loaded at once. */
  readonly isToken?: boolean;
}

export const HOME_HEAD: PageHead = {
  title: 'upcurve',
  description: 'Launches, live prices and orders of this market.',
};

/** Facts about the deployment. The document carries them, so that the page need not ask. */
export interface PageNetwork {
  readonly name: 'devnet' | 'preprod' | 'preview' | 'mainnet';
  readonly addresses: 'mainnet' | 'testnet';
  /** Tokens that every launch makes. */
  readonly supply: bigint;
}

/** Facts that the page needs before its first request. */
export interface PageFacts {
  /**
   * Asked for each document. `none`: without a chain there is nothing to trade on. null: not known
   * to this node, or not yet; the page asks for the deployment then.
   */
  readonly network: () => PageNetwork | 'none' | null;
  /** Whether the server knows the price of ADA in dollars. */
  readonly hasRate: boolean;
  /** Where an explorer shows a transaction, up to its id; null: there is none. */
  readonly explorerUrl: string | null;
  /** Up to when the market's past was recorded, Unix ms; null: it has no such past. */
  readonly liveSinceMs: number | null;
}

export async function pageAnswer(head: PageHead, facts: PageFacts, status = 200): Promise<Answer> {
  const body = pageDocument(await pageFiles(), facts, head);
  return { status, body, type: PAGE_TYPE, headers: HEADERS };
}

/** The shape of the page until the script has its time: a reader never looks at an empty one. */
const FIRST = `<div class="first" aria-hidden="true"><div class="top"></div>
<div class="bone"></div><div class="bone tall"></div></div>
`;

export const PAGE_TYPE = 'text/html; charset=utf-8';

/** Only content of this server, and no inline content; wallets bring icons as data. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
  "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HEADERS = {
  ...NO_SNIFFING,
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'no-referrer',
  // Browsers revalidate it each time (304), so the next page load gets a new version.
  'Cache-Control': 'no-cache',
};

function pageDocument(
  { script, views, style, icon }: PageFiles,
  { network, hasRate, explorerUrl, liveSinceMs }: PageFacts,
  { title, description, more = '', isToken = false }: PageHead,
): string {
  const early = isToken ? `<link rel="modulepreload" href="/assets/${views.name}">\n` : '';
  const rate = hasRate ? 'usd' : 'none';
  const explorer = escapeMarkup(explorerUrl ?? '');
  const since = liveSinceMs === null ? '' : ` data-live-since="${liveSinceMs}"`;
  const facts = `${chainFacts(network())} data-rate="${rate}" data-explorer="${explorer}"${since}`;
  return `<!doctype html>
<html lang="en" ${facts}><head><meta charset="utf-8"><title>${escapeMarkup(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="dark light">
<meta name="description" content="${escapeMarkup(description)}">
${more}<link rel="icon" href="data:${icon.type},${encodeURIComponent(icon.body.toString())}">
<link rel="stylesheet" href="/assets/${style.name}">
${early}<script type="module" src="/assets/${script.name}"></script></head>
<body><div id="page">${FIRST}<noscript><p class="plain">This page needs JavaScript.
The same market is served as an API: see <a href="/docs">the reference</a>.</p></noscript></div>
</body></html>
`;
}

function chainFacts(network: ReturnType<PageFacts['network']>): string {
  if (network === null) return 'data-chain="some"';
  if (network === 'none') return 'data-chain="none"';
  const { name, addresses, supply } = network;
  return `data-chain="${name}" data-addresses="${addresses}" data-supply="${supply}"`;
}
