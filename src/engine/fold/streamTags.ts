/**
 * Tags of the streams that a chain's changes belong to. Tags of orders and trades are also the
 * scopes under which their changes are remembered (store/changeIndex).
 */
import type { AssetId } from '../market/asset.ts';
import type { LaunchedToken, PlacedOrder } from '../market/events.ts';
import type { RowDraft } from './rowDraft.ts';

/** The client view of some pool changed. */
export const POOLS_TAG = 'pools';

/** A ticker may have changed: something was traded, or a minute has passed. */
export const TICKERS_TAG = 'tickers';

/**
 * A token was launched, has graduated or is about to be launched, or a rollback undid such an
 * event.
 */
export const LAUNCHES_TAG = 'launches';

const POOL = 'pool:';
const ORDERS = 'orders:';

export function poolTag(token: AssetId): string {
  return `${POOL}${token}`;
}

/** The holders of a token changed, but its pool did not. */
export function insightsTag(token: AssetId): string {
  return `insights:${token}`;
}

/** Orders of a token. */
export function ordersTag(token: AssetId): string {
  return `${ORDERS}${token}`;
}

/** Tokens whose pool or orders these tags name. */
export function tokensOfTags(tags: Iterable<string>): Set<AssetId> {
  const tokens = new Set<AssetId>();
  for (const tag of tags) {
    if (tag.startsWith(POOL)) tokens.add(tag.slice(POOL.length));
    else if (tag.startsWith(ORDERS)) tokens.add(tag.slice(ORDERS.length));
  }
  return tokens;
}

/** Orders of a payment key. */
export function ordersOfTag(pkh: string): string {
  return `orders-of:${pkh}`;
}

export function tradesTag(token: AssetId): string {
  return `trades:${token}`;
}

export function notePoolChange(rows: RowDraft, token: AssetId): void {
  rows.tags.add(POOLS_TAG);
  rows.tags.add(poolTag(token));
}

type Ordered = Pick<PlacedOrder, 'ref' | 'token' | 'pkh'>;

/** The launch of a token entered the mempool or a block, or left it. */
export function noteLaunch(rows: RowDraft, { token, author }: LaunchedToken): void {
  rows.noteChange(LAUNCHES_TAG, token, author.pkh);
}

/** A part of an order's status changed. */
export function noteOrderChange(rows: RowDraft, { ref, token, pkh }: Ordered): void {
  const about = `${token}/${pkh}`;
  rows.noteChange(ordersTag(token), ref, about);
  rows.noteChange(ordersOfTag(pkh), ref, about);
}

/** Token and key that `noteOrderChange` recorded. */
export function readAbout(about: string): { readonly token: AssetId; readonly pkh: string } {
  const [token = '', pkh = ''] = about.split('/');
  return { token, pkh };
}
