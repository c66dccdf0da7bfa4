/** What the table of the market shows: which tokens, in which order, within which bounds. */
import { signal } from '@preact/signals';
import type { LiquidityPoolInfo } from '../../client/types.ts';
import { formatPrice, formatUnits } from '../../engine/market/decimal.ts';
import type { PoolList } from '../../engine/market/poolView.ts';
import { storedSignal } from '../stored.ts';
import { progressOf } from '../token/progress.ts';

/** A token of the market; amounts are ADA as decimals, times Unix seconds. */
export interface MarketRow {
  readonly asset: string;
  readonly name: string;
  readonly ticker: string;
  readonly logoCID: string;
  readonly isGraduated: boolean;
  /** null until the supply is known. */
  readonly price: string | null;
  readonly marketCap: string;
  readonly liquidity: string;
  readonly volume: string;
  readonly trades: number;
  /** Percent of the curve. */
  readonly progress: string;
  readonly createdOn: number;
  readonly lastTradeTime: number;
}

export const COLUMNS = [
  'price',
  'marketCap',
  'liquidity',
  'volume',
  'trades',
  'progress',
  'createdOn',
  'lastTradeTime',
] as const;
export type Column = (typeof COLUMNS)[number];

const ADA_DECIMALS = 6;
const rows = new WeakMap<LiquidityPoolInfo, MarketRow>();

/** The same object for the same pool, so that rows that did not change are not drawn again. */
export function rowOf(pool: LiquidityPoolInfo, supply: bigint | null): MarketRow {
  const known = rows.get(pool);
  if (known !== undefined && (known.price !== null || supply === null)) return known;
  const { info, metrics } = pool;
  const cap = BigInt(metrics.marketCap);
  const row = {
    asset: info.asset,
    name: info.name,
    ticker: info.ticker,
    logoCID: info.logoCID,
    isGraduated: pool.pool.cpmmPoolId !== null,
    price: supply === null ? null : formatPrice(cap, supply),
    marketCap: formatUnits(cap, ADA_DECIMALS),
    // What lies in the pool: its coins, and tokens of the same worth.
    liquidity: formatUnits(2n * BigInt(pool.pool.x.amount), ADA_DECIMALS),
    volume: formatUnits(BigInt(metrics.totalVolumeAda), ADA_DECIMALS),
    trades: metrics.totalTxCount,
    progress: progressOf(pool),
    createdOn: pool.pool.createdOn,
    lastTradeTime: pool.pool.timestamp,
  };
  rows.set(pool, row);
  return row;
}

/** null: the order of the list. */
export type Sort = { readonly by: Column; readonly order: 'asc' | 'desc' } | null;

export const TABS = ['trending', 'new', 'graduating', 'graduated', 'watchlist'] as const;
export type Tab = (typeof TABS)[number];

/** The list of the server behind each tab; the watchlist has none. */
export const LISTS: Readonly<Record<Tab, PoolList | null>> = {
  trending: 'Latest',
  new: 'New',
  graduating: 'MCapDesc',
  graduated: 'CompletedMCap',
  watchlist: null,
};

/** Empty: no bound. Whole ADA, and hours. */
export interface Bounds {
  readonly minMarketCap: string;
  readonly maxMarketCap: string;
  readonly minVolume: string;
  readonly maxAgeHours: string;
}

export const NO_BOUNDS: Bounds = {
  minMarketCap: '',
  maxMarketCap: '',
  minVolume: '',
  maxAgeHours: '',
};

export const bounds = signal<Bounds>(NO_BOUNDS);
export const countOf = (all: Bounds): number =>
  Object.values(all).filter((each) => each !== '').length;

const HOUR = 3600;

/** The rows within the bounds, sorted. Floating point only compares here. */
export function shownRows(
  all: readonly MarketRow[],
  sort: Sort,
  { minMarketCap, maxMarketCap, minVolume, maxAgeHours }: Bounds,
  nowSeconds: number,
): readonly MarketRow[] {
  const isAbove = (value: string, bound: string) => bound === '' || Number(value) >= Number(bound);
  const isBelow = (value: number, bound: string, unit: number) =>
    bound === '' || value <= Number(bound) * unit;
  const within = all.filter(
    ({ marketCap, volume, createdOn }) =>
      isAbove(marketCap, minMarketCap) &&
      isBelow(Number(marketCap), maxMarketCap, 1) &&
      isAbove(volume, minVolume) &&
      isBelow(nowSeconds - createdOn, maxAgeHours, HOUR),
  );
  if (sort === null) return within;
  const side = sort.order === 'asc' ? 1 : -1;
  return within.toSorted((a, b) => side * (Number(a[sort.by] ?? 0) - Number(b[sort.by] ?? 0)));
}

const MAX_WATCHED = 500;

/** Assets that the reader keeps an eye on, newest first. */
export const watchlist = storedSignal<readonly string[]>('watchlist', [], (kept) =>
  Array.isArray(kept)
    ? kept.filter((each) => typeof each === 'string').slice(0, MAX_WATCHED)
    : null,
);

export function toggleWatched(asset: string): void {
  const others = watchlist.value.filter((each) => each !== asset);
  const isWatched = others.length < watchlist.value.length;
  watchlist.value = isWatched ? others : [asset, ...others].slice(0, MAX_WATCHED);
}

/** The items in the order from before; new ones at the end. */
export function inKeptOrder<T extends { readonly asset: string }>(
  items: readonly T[],
  order: readonly string[],
): readonly T[] {
  const places = new Map(order.map((asset, index) => [asset, index]));
  const placeOf = ({ asset }: T) => places.get(asset) ?? order.length;
  return items.toSorted((a, b) => placeOf(a) - placeOf(b));
}
