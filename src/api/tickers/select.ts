/** Which tickers a client asked for: filtered, sorted, and how many they are. */
import type { Fold } from '../../engine/fold/fold.ts';
import type { AssetId } from '../../engine/market/asset.ts';
import { unitsOf } from '../../engine/market/decimal.ts';
import { curveProgress } from '../../engine/market/poolView.ts';
import { intervalStart } from '../../engine/market/resolution.ts';
import type { InputOf } from '../gateway/route.ts';
import { filterKey } from '../schemas/filterKey.ts';
import { TokenDay } from './day.ts';
import type { TickersQuery } from './schema.ts';
import { SORT_VALUES, type SortValue, scaledVolume } from './view.ts';

export type TickerFilter = Omit<
  InputOf<typeof TickersQuery>,
  'sort' | 'order' | 'offset' | 'limit' | 'assets'
>;
export type TickerSort = Pick<InputOf<typeof TickersQuery>, 'sort' | 'order'>;

/** A token's place in a list. */
export interface Ranked {
  readonly asset: AssetId;
  readonly value: SortValue;
}

/** Every token, or some; unknown tokens are left out. */
export function daysOf(fold: Fold, assets: Iterable<AssetId> = eachAsset(fold)): TokenDay[] {
  const days: TokenDay[] = [];
  for (const asset of assets) {
    const day = TokenDay.of(fold, asset);
    if (day !== null) days.push(day);
  }
  return days;
}

/** Launched here, or traded against the coin without a launch. */
export function* eachAsset({ directory, tickers }: Fold): Generator<AssetId> {
  yield* directory.tokens();
  for (const asset of tickers.assets()) if (directory.find(asset) === null) yield asset;
}

export function sorted(days: readonly TokenDay[], { sort, order }: TickerSort): TokenDay[] {
  const exact = SORT_VALUES[sort === 'lastTrade' ? 'lastTradeTime' : sort];
  const side = sideOf(order);
  return days
    .map((day) => ({ day, asset: day.asset, value: exact(day) }))
    .sort((a, b) => compareRanked(a, b, side))
    .map(({ day }) => day);
}

export function sideOf(order: TickerSort['order']): 1 | -1 {
  return order === 'asc' ? 1 : -1;
}

/** null comes last both ways; ties by asset id. */
export function compareRanked(a: Ranked, b: Ranked, side: 1 | -1): number {
  if (a.value === null || b.value === null) {
    if (a.value !== b.value) return a.value === null ? 1 : -1;
  } else if (a.value !== b.value) return a.value < b.value ? -side : side;
  if (a.asset === b.asset) return 0;
  return a.asset < b.asset ? -1 : 1;
}

/** null: every ticker matches. */
export function filterOf(fold: Fold, filter: TickerFilter): ((day: TokenDay) => boolean) | null {
  const { minAge, maxAge, minMarketCap, maxMarketCap, minVolume24h } = filter;
  const { graduated, minProgress } = filter;
  const nowSeconds = intervalStart('min1', fold.marketMs) / 1000;
  const age = ({ createdMs }: TokenDay) =>
    createdMs === null ? null : Math.max(0, nowSeconds - Math.floor(createdMs / 1000));
  const tests: (((day: TokenDay) => boolean) | null)[] = [
    atLeast(minAge, age),
    atMost(maxAge, age),
    atLeast(unitsOrNone(minMarketCap, 6), ({ marketCapLovelace }) => marketCapLovelace),
    atMost(unitsOrNone(maxMarketCap, 6), ({ marketCapLovelace }) => marketCapLovelace),
    atLeast(unitsOrNone(minVolume24h, 18), (day) => scaledVolume(day, '24h')),
    atLeast(minProgress, ({ pool }) => (pool === null ? null : Number(curveProgress(pool)))),
    atMost(filter.maxTop10Percent, SORT_VALUES.top10Percent),
    atMost(filter.maxAuthorPercent, SORT_VALUES.authorPercent),
    atMost(filter.maxSnipersPercent, SORT_VALUES.snipersPercent),
    atLeast(filter.minHolders, SORT_VALUES.holders),
    graduated === undefined
      ? null
      : ({ pool }) => pool !== null && String(pool.graduatedMs !== null) === graduated,
  ];
  const asked = tests.filter((test) => test !== null);
  return asked.length === 0 ? null : (day) => asked.every((test) => test(day));
}

const BOUNDS = [
  ...(['minAge', 'maxAge', 'minMarketCap', 'maxMarketCap', 'minVolume24h'] as const),
  'minProgress',
  ...(['maxTop10Percent', 'maxAuthorPercent', 'maxSnipersPercent', 'minHolders'] as const),
] as const;

/** Whether clients choose freely among such lists; sides of graduation are only two. */
export function isBounded(filter: TickerFilter): boolean {
  return BOUNDS.some((name) => filter[name] !== undefined);
}

/** Two filters with one name accept the same tokens while a list is kept. */
export function filterName(fold: Fold, filter: TickerFilter): string {
  // Ages grow even if a token does not change, so a list with a bound on age is made again each
  // minute.
  const hasAge = filter.minAge !== undefined || filter.maxAge !== undefined;
  const atMs = hasAge ? intervalStart('min1', fold.marketMs) : null;
  const asked = BOUNDS.map((name) => [name, filter[name]]);
  return filterKey({ ...Object.fromEntries(asked), graduated: filter.graduated, atMs });
}

/** A ticker without the value does not match. */
function atLeast(bound: SortValue | undefined, exact: (day: TokenDay) => SortValue) {
  if (bound === undefined || bound === null) return null;
  return (day: TokenDay) => {
    const value = exact(day);
    return value !== null && value >= bound;
  };
}

function atMost(bound: SortValue | undefined, exact: (day: TokenDay) => SortValue) {
  if (bound === undefined || bound === null) return null;
  return (day: TokenDay) => {
    const value = exact(day);
    return value !== null && value <= bound;
  };
}

function unitsOrNone(decimal: string | undefined, decimals: number): bigint | undefined {
  return decimal === undefined ? undefined : unitsOf(decimal, decimals);
}
