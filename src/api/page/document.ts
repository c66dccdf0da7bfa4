/** The one HTML document: everything else is made by the modules it names. */
import { hash } from 'node:crypto';
import type { PageSources } from './sources.ts';

export interface Document {
  readonly html: string;
  readonly policy: string;
}

/** `urlOf` says where a file is served; `hasChain` whether there is anything to trade on. */
export function documentOf(
  sources: PageSources,
  urlOf: (path: string) => string,
  hasChain: boolean,
): Document {
  const imports = Object.fromEntries(
    Array.from(sources.imports, ([name, path]) => [name, urlOf(path)]),
  );
  const map = JSON.stringify({ imports });
  const styles = sources.styles.map(({ path }) => `<link rel="stylesheet" href="${urlOf(path)}">`);
  // All at once instead of one wave for each level of imports.
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
