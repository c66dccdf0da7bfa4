/**
 * Balances and profits of wallets with a token, and its holders; a wallet is a payment key. The
 * fold keeps holders in order, so a page is read, not sorted.
 */
import type { Fold } from '../../engine/actors/fold.ts';
import { balanceKey, holderAddress, holdersOf } from '../../engine/actors/holdingRows.ts';
import { traderKey } from '../../engine/actors/traderRows.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { formatFixed, formatUnits } from '../../engine/market/decimal.ts';
import { spotOf } from '../../engine/market/pool.ts';
import {
  averagePrice,
  percentOf,
  unrealizedLovelace,
  worthLovelace,
} from '../../engine/market/position.ts';
import {
  type PoolRecord,
  poolState,
  positionOf,
  readRecord,
  type TraderRecord,
} from '../../engine/store/records.ts';
import type { AssetBalance, HolderPage, PnlCard, TradingMetrics } from './schema.ts';

const ADA_DECIMALS = 6;

/** null where the key has no fill. */
export function metricsOf(fold: Fold, asset: AssetId, pkh: string): TradingMetrics | null {
  const found = positionIn(fold, asset, pkh);
  if (found === null) return null;
  const { trader, position, unrealized } = found;
  const { boughtTokens, soldTokens, spentLovelace, receivedLovelace } = position;
  return {
    asset,
    pkh,
    buyCount: position.buyCount,
    sellCount: position.sellCount,
    boughtTokens: String(boughtTokens),
    soldTokens: String(soldTokens),
    spentAda: ada(spentLovelace),
    receivedAda: ada(receivedLovelace),
    balance: String(balanceOf(fold, pkh, asset)),
    averageBuyPrice: averagePrice(spentLovelace, boughtTokens),
    averageSellPrice: averagePrice(receivedLovelace, soldTokens),
    realizedPnlAda: ada(position.realizedLovelace),
    unrealizedPnlAda: ada(unrealized),
    firstTradeTime: seconds(trader.firstMs),
    lastTradeTime: seconds(trader.lastMs),
  };
}

/** Of all keys together; null where none of them bought. */
export function pnlCardOf(fold: Fold, asset: AssetId, keys: ReadonlySet<string>): PnlCard | null {
  let [invested, gain] = [0n, 0n];
  for (const pkh of keys) {
    const found = positionIn(fold, asset, pkh);
    if (found === null) continue;
    invested += found.position.spentLovelace;
    gain += found.position.realizedLovelace + found.unrealized;
  }
  if (invested === 0n) return null;
  const pnlPercent = percentOf(gain, invested);
  return { asset, pnlPercent, investedAda: ada(invested), currentAdaGain: ada(gain) };
}

/** Of all keys together; null where none of them has any. */
export function worthOf(
  fold: Fold,
  asset: AssetId,
  keys: ReadonlySet<string>,
): AssetBalance | null {
  const pool = poolOf(fold, asset);
  if (pool === null) return null;
  let tokens = 0n;
  for (const pkh of keys) tokens += balanceOf(fold, pkh, asset);
  if (tokens === 0n) return null;
  const lovelace = worthLovelace(tokens, spotOf(poolState(pool)));
  return { balance: Number(formatUnits(lovelace, ADA_DECIMALS)) };
}

function positionIn(fold: Fold, asset: AssetId, pkh: string) {
  const text = fold.store.get('traders', traderKey(pkh, asset));
  if (text === null) return null;
  const pool = poolOf(fold, asset);
  if (pool === null) return null;
  const trader = readRecord<TraderRecord>(text);
  const position = positionOf(trader);
  const unrealized = unrealizedLovelace(position, spotOf(poolState(pool)));
  return { trader, position, unrealized };
}

function ada(lovelace: bigint): string {
  return formatFixed(lovelace, ADA_DECIMALS);
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}

interface Paging {
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
