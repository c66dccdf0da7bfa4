/**
 * The executor's view of one pool: its newest output and its open orders, as ledger and mempool
 * have them now. Nothing is remembered between two views, so the next one is right again after a
 * restart, a roll-back or a rejected batch.
 */

import { parseRef, type Utxo } from '../../cardano/codec/output.ts';
import type { UtxoLookup } from '../../cardano/ledger/port.ts';
import { FULL } from '../../engine/fold/chainRows.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { type OrderRecord, readRecord } from '../../engine/store/records.ts';
import type { StateStore } from '../../engine/store/state.ts';
import type { NewestPool } from '../newestPool.ts';
import type { OpenOrder } from './matching.ts';

export interface PoolView {
  readonly pool: NewestPool;
  readonly orders: readonly OpenOrder[];
  /** Outputs of the orders, by reference. */
  readonly orderUtxos: ReadonlyMap<string, Utxo>;
  /** False: an order is spent by a pending transaction, or its output is not known yet. */
  readonly isWhole: boolean;
}

const MAX_FULL = 1_000;
/** Orders per view. */
const PAGE_ORDERS = 400;

/** Tokens after `token` that have open orders, ascending; at most so many. */
export function tokensWithOrders(store: StateStore, token: AssetId, most: number): AssetId[] {
  const tokens: AssetId[] = [];
  let after = behind(token);
  while (tokens.length < most) {
    const [row] = store.withPrefix('open_orders', '', 1, after);
    const next = row?.key.split('/')[0];
    if (next === undefined) break;
    tokens.push(next);
    after = behind(next);
  }
  return tokens;
}

/** After all keys of a token in `open_orders`. */
function behind(token: AssetId): string {
  return token === '' ? '' : `${token}/\u{fffd}`;
}

/** Whether a token has open orders, in blocks. */
export function hasOrders(store: StateStore, token: AssetId): boolean {
  return store.withPrefix('open_orders', `${token}/`, 1).length > 0;
}

/** Whether a token's curve is at its cap and has not graduated. */
export function isFullPool(store: StateStore, token: AssetId): boolean {
  return store.get('market', `${FULL}${token}`) !== null;
}

/** Tokens whose curve is at its cap and has not graduated. */
export function fullPools(store: StateStore): AssetId[] {
  return store.withPrefix('market', FULL, MAX_FULL).map(({ key }) => key.slice(FULL.length));
}

/**
 * Orders in a block that no pending transaction spends, in pages, oldest first. The executor reads
 * on until it finds an order that it can fill, however many it cannot.
 */
export async function* poolViews(
  pool: NewestPool,
  store: StateStore,
  utxos: UtxoLookup,
): AsyncGenerator<PoolView> {
  const prefix = `${pool.token}/`;
  for (let after: string | undefined; ; ) {
    const rows = store.withPrefix('open_orders', prefix, PAGE_ORDERS, after);
    yield await viewOf(pool, rows, store, utxos);
    if (rows.length < PAGE_ORDERS) return;
    after = rows.at(-1)?.key;
  }
}

async function viewOf(
  pool: NewestPool,
  rows: readonly { readonly value: string }[],
  store: StateStore,
  utxos: UtxoLookup,
): Promise<PoolView> {
  const records = rows.flatMap(({ value: ref }) => {
    const text = store.get('orders', ref);
    return text === null ? [] : [readRecord<OrderRecord>(text)];
  });
  const refs = records.flatMap(({ ref }) => parseRef(ref) ?? []);
  const states = await utxos.byRefs(refs);
  const orderUtxos = new Map<string, Utxo>();
  const orders = records.flatMap((record, index): OpenOrder[] => {
    const found = states[index];
    if (found?.state !== 'unspent') return [];
    orderUtxos.set(record.ref, found.utxo);
    return [openOrder(record, found.utxo)];
  });
  return { pool, orders, orderUtxos, isWhole: orders.length === rows.length };
}

function openOrder(record: OrderRecord, { ref, output }: Utxo): OpenOrder {
  const [slot, txIndex, outputIndex] = record.at.split('.').map(Number);
  const { numerator, denominator } = record.worstPrice;
  return {
    kind: record.side,
    amount: BigInt(record.amount),
    worstPrice: { numerator: BigInt(numerator), denominator: BigInt(denominator) },
    ref,
    placed: { slot: slot ?? 0, txIndex: txIndex ?? 0, outputIndex: outputIndex ?? 0 },
    feeLovelace: BigInt(record.feeLovelace),
    depositLovelace: BigInt(record.depositLovelace),
    refundAfterMs: BigInt(record.refundAfterMs),
    redeemerAddress: record.address,
    value: output.value,
  };
}
