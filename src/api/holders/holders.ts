/** Who holds a token: rows that the fold keeps in order, so that a page is read and not sorted. */
import type { Fold } from '../../engine/actors/fold.ts';
import { balanceKey, holderAddress, holdersOf } from '../../engine/actors/holdingRows.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { type PoolRecord, readRecord } from '../../engine/store/records.ts';
import type { HolderPage } from './schema.ts';

export interface Paging {
  readonly offset: number;
  readonly limit: number;
}

/** null for a token that was not launched here. */
export function poolOf({ store }: Fold, token: AssetId): PoolRecord | null {
  const text = store.get('pools', token);
  return text === null ? null : readRecord<PoolRecord>(text);
}

export function balanceOf({ store }: Fold, pkh: string, token: AssetId): bigint {
  return BigInt(store.get('balances', balanceKey(pkh, token)) ?? 0);
}

export function holderPage(fold: Fold, { token, author }: PoolRecord, paging: Paging): HolderPage {
  const { store } = fold;
  const rows = store.page('holders', `${token}/`, { order: 'ascending', ...paging });
  return {
    holders: rows.map(({ key, value }) => ({ address: holderAddress(key), quantity: value })),
    dev: { address: author.address, quantity: String(balanceOf(fold, author.pkh, token)) },
    count: Number(store.get('counts', holdersOf(token)) ?? 0),
  };
}
