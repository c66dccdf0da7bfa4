/** The rows of the market's table: which tokens, in which order, within which bounds. */
import { computed, signal } from '@preact/signals';
import type { Ticker, TickersInput, TickersQuery } from '../../client/types.ts';
import { MAX_FOLLOWED_TOKENS, MAX_LISTED_TICKERS } from '../../engine/runtime/limits.ts';
import { storedSignal } from '../stored.ts';

export const COLUMNS = [
  'price',
  'change5m',
  'change1h',
  'change24h',
  'volume24h',
  'marketCap',
  'liquidity',
  'traders24h',
  'createdOn',
  'holders',
  'top10Percent',
  'authorPercent',
  'snipersPercent',
  'progress',
] as const;
export type Column = (typeof COLUMNS)[number];

/** The price stays; `spark` is the line of 24 hours. */
export const HIDEABLE = [...COLUMNS.slice(1), 'spark'] as const;
export type Hideable = (typeof HIDEABLE)[number];

/** Columns that only a wide screen has at first; elsewhere badges say what is large. */
const WIDE: readonly Hideable[] = ['holders', 'top10Percent', 'authorPercent', 'snipersPercent'];
const WIDE_PIXELS = 1_920;
/** Undefined in a test without a browser. */
const widthPixels: unknown = Reflect.get(globalThis, 'innerWidth');
const isNarrow = typeof widthPixels === 'number' && widthPixels < WIDE_PIXELS;
export const HIDDEN_AT_FIRST: readonly Hideable[] = isNarrow ? WIDE : [];

/** Columns that the reader does without. */
export const hidden = storedSignal<readonly Hideable[]>('hiddenColumns', HIDDEN_AT_FIRST, (kept) =>
  Array.isArray(kept) ? HIDEABLE.filter((name) => kept.includes(name)) : null,
);

const isShown = (name: Column | Hideable): boolean => !hidden.value.some((each) => each === name);
export const shownColumns = computed(() => COLUMNS.filter(isShown));
export const isSparkShown = computed(() => isShown('spark'));

/** How the market is shown: as a table, or as three columns of cards. */
export const VIEWS = ['table', 'board'] as const;
export type View = (typeof VIEWS)[number];
export const view = storedSignal<View>(
  'view',
  'table',
  (kept): View | null => VIEWS.find((each) => each === kept) ?? null,
);

export interface Sort {
  readonly by: Column;
  readonly order: 'asc' | 'desc';
}

export const TABS = ['trending', 'new', 'graduating', 'graduated', 'watchlist'] as const;
export type Tab = (typeof TABS)[number];

const highest = (by: Column): Sort => ({ by, order: 'desc' });

/** The order of a tab until the reader chooses another; the watchlist's is the reader's own. */
export const TAB_SORTS: Readonly<Record<Tab, Sort | null>> = {
  trending: highest('volume24h'),
  new: highest('createdOn'),
  graduating: highest('progress'),
  graduated: highest('marketCap'),
  watchlist: null,
};

/** Tokens on the curve, or on the AMM; null: both. */
const TAB_SIDES: Readonly<Record<Tab, 'true' | 'false' | null>> = {
  trending: null,
  new: null,
  graduating: 'false',
  graduated: 'true',
  watchlist: null,
};

/** Whether a tab leaves the choice between curve and AMM to the reader. */
export const choosesSide = (tab: Tab): boolean => TAB_SIDES[tab] === null;

/** Empty: no bound. Whole ADA, hours, and percent of the supply outside the pool. */
export interface Bounds {
  readonly minMarketCap: string;
  readonly maxMarketCap: string;
  readonly minVolume: string;
  readonly minAgeHours: string;
  readonly maxAgeHours: string;
  readonly minHolders: string;
  readonly maxTop10Percent: string;
  readonly maxAuthorPercent: string;
  readonly maxSnipersPercent: string;
  readonly graduated: '' | 'true' | 'false';
}

export const NO_BOUNDS: Bounds = {
  minMarketCap: '',
  maxMarketCap: '',
  minVolume: '',
  minAgeHours: '',
  maxAgeHours: '',
  minHolders: '',
  maxTop10Percent: '',
  maxAuthorPercent: '',
  maxSnipersPercent: '',
  graduated: '',
};

export const bounds = signal<Bounds>(NO_BOUNDS);

export function countOf(all: Bounds, tab: Tab): number {
  const { graduated, ...others } = all;
  const texts = choosesSide(tab) ? [graduated, ...Object.values(others)] : Object.values(others);
  return texts.filter((text) => text !== '').length;
}

const HOUR = 3600;

/** The query to the server; the server filters and sorts the whole market. */
export function tickersQuery(tab: Tab, sort: Sort, within: Bounds, limit: number): TickersQuery {
  const { minMarketCap, maxMarketCap, minVolume, minAgeHours, maxAgeHours } = within;
  const { minHolders, maxTop10Percent, maxAuthorPercent, maxSnipersPercent } = within;
  const graduated = TAB_SIDES[tab] ?? within.graduated;
  return {
    sort: sort.by,
    order: sort.order,
    limit,
    ...(graduated === '' ? {} : { graduated }),
    ...(minMarketCap === '' ? {} : { minMarketCap }),
    ...(maxMarketCap === '' ? {} : { maxMarketCap }),
    ...(minVolume === '' ? {} : { minVolume24h: minVolume }),
    ...(minAgeHours === '' ? {} : { minAge: Number(minAgeHours) * HOUR }),
    ...(maxAgeHours === '' ? {} : { maxAge: Number(maxAgeHours) * HOUR }),
    ...(minHolders === '' ? {} : { minHolders: Number(minHolders) }),
    ...(maxTop10Percent === '' ? {} : { maxTop10Percent: Number(maxTop10Percent) }),
    ...(maxAuthorPercent === '' ? {} : { maxAuthorPercent: Number(maxAuthorPercent) }),
    ...(maxSnipersPercent === '' ? {} : { maxSnipersPercent: Number(maxSnipersPercent) }),
  };
}

/** A list of the whole market, or some tokens in an order of one's own. */
export type Question = TickersQuery | readonly string[];

/** The topic's parameters; null: the topic has no such list. */
export function followedBy(question: Question): TickersInput | null {
  if (isAssets(question)) return { assets: question };
  const { graduated, assets: _, offset: __, limit = MAX_LISTED_TICKERS, ...others } = question;
  if (limit > MAX_LISTED_TICKERS) return null;
  return { ...others, limit, ...(graduated && { graduated: graduated === 'true' }) };
}

export function isAssets(question: Question): question is readonly string[] {
  return Array.isArray(question);
}

/** As the server does it, for tokens that are here: floating point only compares. */
export function shownTickers(
  all: readonly Ticker[],
  sort: Sort | null,
  within: Bounds,
  nowSeconds: number,
): readonly Ticker[] {
  const { minMarketCap, maxMarketCap, minVolume, minAgeHours, maxAgeHours, graduated } = within;
  const { minHolders, maxTop10Percent, maxAuthorPercent, maxSnipersPercent } = within;
  const isWithin = (value: number | string | null, least: string, most: string, unit = 1) => {
    if (least === '' && most === '') return true;
    if (value === null || (least !== '' && Number(value) < Number(least) * unit)) return false;
    return most === '' || Number(value) <= Number(most) * unit;
  };
  const matching = all.filter((ticker) => {
    const age = ticker.createdOn === null ? null : nowSeconds - ticker.createdOn;
    return (
      isWithin(ticker.marketCap, minMarketCap, maxMarketCap) &&
      isWithin(ticker.volume24h, minVolume, '') &&
      isWithin(age, minAgeHours, maxAgeHours, HOUR) &&
      isWithin(ticker.holders, minHolders, '') &&
      isWithin(ticker.top10Percent, '', maxTop10Percent) &&
      isWithin(ticker.authorPercent, '', maxAuthorPercent) &&
      isWithin(ticker.snipersPercent, '', maxSnipersPercent) &&
      (graduated === '' || String(ticker.graduated) === graduated)
    );
  });
  return sort === null ? matching : matching.toSorted((a, b) => compare(a, b, sort));
}

/** null comes last both ways; ties by asset id. */
function compare(a: Ticker, b: Ticker, { by, order }: Sort): number {
  const [left, right] = [a[by], b[by]];
  if (left === null || right === null) {
    if (left !== right) return left === null ? 1 : -1;
  } else if (Number(left) !== Number(right)) {
    return (order === 'asc' ? 1 : -1) * (Number(left) - Number(right));
  }
  return a.asset < b.asset ? -1 : 1;
}

/** Assets that the reader keeps an eye on, newest first. */
export const watchlist = storedSignal<readonly string[]>('watchlist', [], (kept) =>
  Array.isArray(kept)
    ? kept.filter((each) => typeof each === 'string').slice(0, MAX_FOLLOWED_TOKENS)
    : null,
);

export function toggleWatched(asset: string): void {
  const others = watchlist.value.filter((each) => each !== asset);
  const isWatched = others.length < watchlist.value.length;
  watchlist.value = isWatched ? others : [asset, ...others].slice(0, MAX_FOLLOWED_TOKENS);
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
