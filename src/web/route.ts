/**
 * Routes of the page, behind the `#` of the address: a reload, a link and the buttons of the
 * browser work, and the server serves one document.
 */
import { ASSET_PATTERN, COIN } from '../engine/market/asset.ts';
import { TABS, type Tab } from './home/market.ts';

export type PageRoute =
  | { readonly at: 'home'; readonly list: Tab }
  | { readonly at: 'token'; readonly asset: string }
  /** An address of a token whose id is none. */
  | { readonly at: 'missing'; readonly text: string }
  /** An address that the page does not have. */
  | { readonly at: 'nowhere'; readonly text: string }
  | { readonly at: 'wallet' }
  | { readonly at: 'launch' };

export const HOME: PageRoute = { at: 'home', list: 'trending' };

const ASSET = new RegExp(ASSET_PATTERN);
const LINK = /^\/t\/([^/]*)$/;

/** The route of a link that the server answers, `/t/<asset>`; null for all other paths. */
export function linkedRoute(path: string): PageRoute | null {
  const [, text] = LINK.exec(path) ?? [];
  return text === undefined ? null : tokenRoute(decoded(text));
}

/** The link to a token that chats can unfold. */
export function tokenLink(asset: string): string {
  return `/t/${asset}`;
}

/**
 * The view of a document that the server sent to a path: the server sends the page for unknown
 * paths.
 */
export function routeOfPath(path: string): PageRoute | null {
  return path === '/' ? null : (linkedRoute(path) ?? { at: 'nowhere', text: decoded(path) });
}

/** Without an address, the home page; an unknown one is said to be one. */
export function parseRoute(hash: string): PageRoute {
  const [at = '', rest = ''] = hash.replace(/^#\/?/, '').split('/');
  if (at === 'wallet' || at === 'launch') return { at };
  if (at === 'token' && rest !== '') return tokenRoute(decoded(rest));
  const list = TABS.find((name) => name === rest);
  if (at === 'list' && list !== undefined) return { at: 'home', list };
  if (at === 'nowhere') return { at: 'nowhere', text: decoded(rest) };
  return at === '' ? HOME : { at: 'nowhere', text: decoded(hash) };
}

function tokenRoute(text: string): PageRoute {
  const isToken = text !== COIN && ASSET.test(text);
  return isToken ? { at: 'token', asset: text.toLowerCase() } : { at: 'missing', text };
}

/** A percent sign that begins no escape stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // As it stands, it names no token, and the page says so.
    return text;
  }
}

export function routeHash(place: PageRoute): string {
  if (place.at === 'nowhere') return `#/nowhere/${encodeURIComponent(place.text)}`;
  if (place.at === 'missing') return `#/token/${encodeURIComponent(place.text)}`;
  if (place.at === 'token') return `#/token/${place.asset}`;
  return place.at === 'home' ? `#/list/${place.list}` : `#/${place.at}`;
}
