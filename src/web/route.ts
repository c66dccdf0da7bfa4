/**
 * Places of the page. They live behind the `#` of the address: a reload, a link and the buttons of
 * the browser work, and the server serves one document.
 */
import { ASSET_PATTERN } from '../engine/market/asset.ts';
import { POOL_LISTS, type PoolList } from '../engine/market/poolView.ts';

export type Place =
  | { readonly at: 'home'; readonly list: PoolList }
  | { readonly at: 'token'; readonly asset: string }
  | { readonly at: 'wallet' }
  | { readonly at: 'launch' };

export const HOME: Place = { at: 'home', list: 'Latest' };

const ASSET = new RegExp(ASSET_PATTERN);

/** Whatever cannot be understood is the home. */
export function placeOf(hash: string): Place {
  const [at = '', rest = ''] = hash.replace(/^#\/?/, '').split('/');
  if (at === 'wallet' || at === 'launch') return { at };
  if (at === 'token' && rest !== '.' && ASSET.test(rest)) {
    return { at, asset: rest.toLowerCase() };
  }
  const list = POOL_LISTS.find((name) => name === rest);
  return at === 'list' && list !== undefined ? { at: 'home', list } : HOME;
}

export function hashOf(place: Place): string {
  if (place.at === 'token') return `#/token/${place.asset}`;
  return place.at === 'home' ? `#/list/${place.list}` : `#/${place.at}`;
}
