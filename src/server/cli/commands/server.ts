/** Options of the commands that use a running server, and the names of tokens. */

import { type AssetId, COIN, parseAsset } from '../../../engine/market/asset.ts';
import { TICKER } from '../../../engine/runtime/limits.ts';
import { textOf, type Values } from '../command.ts';

const DEFAULT_URL = 'http://127.0.0.1:8080';
const DEFAULT_WALLET = './wallet.json';

export const URL_OPTION = {
  url: { value: 'URL', about: `the server (default ${DEFAULT_URL})` },
} as const;

export const WALLET_OPTION = {
  wallet: { value: 'FILE', about: `the key file (default ${DEFAULT_WALLET})` },
} as const;

export const BAD_URL = '--url takes an http(s) URL';

/** null: not a URL of a server. */
export function serverUrl(values: Values<'url'>): string | null {
  const url = textOf(values.url) ?? DEFAULT_URL;
  const protocol = URL.parse(url)?.protocol ?? '';
  return /^https?:$/.test(protocol) ? url : null;
}

export function walletFileOf(values: Values<'wallet'>): string {
  return textOf(values.wallet) ?? DEFAULT_WALLET;
}

/** A token as it was named. */
export type TokenName = { readonly id: AssetId } | { readonly ticker: string };

/** Tickers of launched tokens; more than one token may have the same. */

/** null: neither the id of a token nor a ticker. */
export function tokenName(text: string): TokenName | null {
  const id = parseAsset(text);
  if (id !== null && id !== COIN) return { id };
  return TICKER.test(text) ? { ticker: text } : null;
}

/** Without a slash at its end; null: not a URL of a server. */
export function serverOf(text: string): string | null {
  const url = URL.parse(text);
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.search + url.hash === '';
  return isPlain ? text.replace(/\/+$/, '') : null;
}
