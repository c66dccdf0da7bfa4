/** A ticker as clients see it, and the values that lists of tickers sort by. */
import { formatFixed, formatRatio, formatUnits, powerOfTen } from '../../engine/market/decimal.ts';
import { curveProgress } from '../../engine/market/poolView.ts';
import type { Ratio } from '../../engine/market/ratio.ts';
import { shareOutside, topTokens } from '../../engine/market/trust.ts';
import { WINDOWS, type Window } from '../../engine/market/windows.ts';
import { scaledPrice, type TokenDay } from './day.ts';
import type { SortField, Ticker } from './schema.ts';

const ADA_DECIMALS = 6;

/** `spark`: the token's, where only its last price may be another since. */
export function viewTicker(day: TokenDay, spark?: Ticker['spark']): Ticker {
  const { pool, marketCapLovelace } = day;
  const { high, low } = day.range();
  const liquidity = liquidityOf(day);
  const price = formatPrice(day.spot, day);
  return {
    asset: day.asset,
    name: pool?.name ?? '',
    ticker: pool?.ticker ?? '',
    logoCID: pool?.logoCID ?? '',
    price,
    marketCap: marketCapLovelace === null ? null : formatUnits(marketCapLovelace, ADA_DECIMALS),
    ...changesOf(day),
    changeBasis: basisOf(day),
    high24h: formatPrice(high, day),
    low24h: formatPrice(low, day),
    ...volumesOf(day),
    ...sidesOf(day),
    traders24h: day.traders,
    liquidity: liquidity === null ? null : formatUnits(liquidity, ADA_DECIMALS),
    progress: pool === null ? null : curveProgress(pool),
    createdOn: seconds(day.createdMs),
    lastTradeTime: seconds(day.lastTradeMs),
    graduated: pool === null ? null : pool.graduatedMs !== null,
    ...sharesOf(day),
    spark: spark === undefined ? sparkOf(day) : { ...spark, closes: spark.closes.with(-1, price) },
  };
}

function formatPrice({ numerator, denominator }: Ratio, { decimals }: TokenDay): string {
  return formatRatio(
    numerator * powerOfTen(decimals.baseDecimals),
    denominator * powerOfTen(decimals.quoteDecimals),
  );
}

function changesOf(day: TokenDay) {
  const text = (window: Window) => {
    const hundredths = day.change(window);
    return hundredths === null ? null : formatFixed(hundredths, 2);
  };
  return {
    change5m: text('5m'),
    change1h: text('1h'),
    change6h: text('6h'),
    change24h: text('24h'),
  };
}

function basisOf(day: TokenDay): Ticker['changeBasis'] {
  const young = WINDOWS.filter((window) => day.countsFromLaunch(window));
  return Object.fromEntries(young.map((window) => [window, { since: 'launch' }]));
}

function volumesOf(day: TokenDay) {
  const text = (window: Window) => formatUnits(day.sums(window).volume, day.decimals.quoteDecimals);
  return {
    volume5m: text('5m'),
    volume1h: text('1h'),
    volume6h: text('6h'),
    volume24h: text('24h'),
  };
}

function sidesOf(day: TokenDay) {
  const { buys: buys5m, sells: sells5m } = sidesIn(day, '5m');
  const { buys: buys1h, sells: sells1h } = sidesIn(day, '1h');
  const { buys: buys6h, sells: sells6h } = sidesIn(day, '6h');
  const { buys: buys24h, sells: sells24h } = sidesIn(day, '24h');
  return { buys5m, sells5m, buys1h, sells1h, buys6h, sells6h, buys24h, sells24h };
}

function sidesIn(day: TokenDay, window: Window) {
  if (!day.sidesAreKnown) return { buys: null, sells: null };
  const { buys, trades } = day.sums(window);
  return { buys, sells: trades - buys };
}

function sparkOf(day: TokenDay): Ticker['spark'] {
  const { fromMs, stepMs } = day.sparkSpan;
  return {
    from: fromMs / 1000,
    step: stepMs / 1000,
    closes: day.sparkCloses().map((close) => (close === null ? null : formatPrice(close, day))),
  };
}

function liquidityOf({ pool }: TokenDay): bigint | null {
  return pool === null ? null : 2n * BigInt(pool.reserves.x);
}

/** As the insights of the token have them. */
function sharesOf({ pool }: TokenDay) {
  if (pool === null) {
    return { top10Percent: null, authorPercent: null, snipersPercent: null, holders: null };
  }
  const { trust, launchHeight } = pool;
  const { snipers } = trust;
  return {
    top10Percent: shareOutside(pool, topTokens(trust)),
    authorPercent: shareOutside(pool, BigInt(trust.author)),
    snipersPercent: launchHeight === null ? null : shareOutside(pool, BigInt(snipers.tokens)),
    holders: trust.holders,
  };
}

/** The number of the shown text with two decimals, so that clients can sort and filter alike. */
function numberOf(percent: string | null): number | null {
  return percent === null ? null : Number(percent);
}

function seconds(timeMs: number | null): number | null {
  return timeMs === null ? null : Math.floor(timeMs / 1000);
}

/** Exact, and comparable with other values of the same field. */
export type SortValue = number | bigint | null;
type Exact = (day: TokenDay) => SortValue;

/** ADA of every pair in one unit: feeds choose their own decimals. */
const VOLUME_DECIMALS = 18;

export function scaledVolume(day: TokenDay, window: Window): bigint {
  const { volume } = day.sums(window);
  return (volume * powerOfTen(VOLUME_DECIMALS)) / powerOfTen(day.decimals.quoteDecimals);
}

function perWindow<const Name extends string>(
  name: Name,
  exact: (day: TokenDay, window: Window) => SortValue,
) {
  const fields = WINDOWS.map((window) => [
    `${name}${window}`,
    (day: TokenDay) => exact(day, window),
  ]);
  // trust: built from every window of WINDOWS
  return Object.fromEntries(fields) as Record<`${Name}${Window}`, Exact>;
}

export const SORT_VALUES: Readonly<Record<SortField, Exact>> = {
  price: (day) => scaledPrice(day.spot, day),
  marketCap: (day) => day.marketCapLovelace,
  ...perWindow('change', (day, window) => day.change(window)),
  high24h: (day) => scaledPrice(day.range().high, day),
  low24h: (day) => scaledPrice(day.range().low, day),
  ...perWindow('volume', scaledVolume),
  ...perWindow('buys', (day, window) => sidesIn(day, window).buys),
  ...perWindow('sells', (day, window) => sidesIn(day, window).sells),
  traders24h: (day) => day.traders,
  liquidity: liquidityOf,
  progress: ({ pool }) => (pool === null ? null : Number(curveProgress(pool))),
  createdOn: (day) => seconds(day.createdMs),
  lastTradeTime: (day) => seconds(day.lastTradeMs),
  top10Percent: (day) => numberOf(sharesOf(day).top10Percent),
  authorPercent: (day) => numberOf(sharesOf(day).authorPercent),
  snipersPercent: (day) => numberOf(sharesOf(day).snipersPercent),
  holders: ({ pool }) => pool?.trust.holders ?? null,
};
