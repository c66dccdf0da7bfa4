/**
 * Routes of the page, behind the `#` of the address: a reload, a link and the buttons of the
 * browser work, and the server serves one document.
 */
import { ASSET_PATTERN } from '../engine/market/asset.ts';
import { TABS, type Tab } from './home/market.ts';

export type PageRoute =
  | { readonly at: 'home'; readonly list: Tab }
  | { readonly at: 'token'; readonly asset: string }
  | { readonly at: 'wallet' }
  | { readonly at: 'launch' };

export const HOME: PageRoute = { at: 'home', list: 'trending' };

const ASSET = new RegExp(ASSET_PATTERN);

/** Anything unknown is the home page. */
export function parseRoute(hash: string): PageRoute {
  const [at = '', rest = ''] = hash.replace(/^#\/?/, '').split('/');
  if (at === 'wallet' || at === 'launch') return { at };
  if (at === 'token' && rest !== '.' && ASSET.test(rest)) {
    return { at, asset: rest.toLowerCase() };
  }
  const list = TABS.find((name) => name === rest);
  return at === 'list' && list !== undefined ? { at: 'home', list } : HOME;
}

export function routeHash(place: PageRoute): string {
  if (place.at === 'token') return `#/token/${place.asset}`;
  return place.at === 'home' ? `#/list/${place.list}` : `#/${place.at}`;
}
