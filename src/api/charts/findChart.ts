/** Which series of bars a request means: a pair, a pair read backwards, or a token's market cap. */
import type { Fold } from '../../engine/fold/fold.ts';
import { COIN } from '../../engine/market/asset.ts';
import type { Bar } from '../../engine/market/bar.ts';
import { type BarView, type PriceKind, viewBar, viewSpotBar } from '../../engine/market/barView.ts';
import { MARKET_CAP, pairName } from '../../engine/market/pair.ts';
import {
  type ChartResolution,
  EARLIEST_START_MS,
  intervalEnd,
  intervalStart,
  isDerived,
  storedPart,
} from '../../engine/market/resolution.ts';
import type { PairBars } from '../../engine/pools/pairBars.ts';
import type { BarSeries } from '../../engine/pools/series.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import type { ChartKind } from './chartKind.ts';
import { DerivedSeries } from './derivedSeries.ts';
import { type Launch, launchOf } from './launch.ts';

export interface Chart {
  readonly pairBars: PairBars;
  readonly series: BarSeries;
  readonly resolution: ChartResolution;
  readonly price: PriceKind;
  readonly inverted: boolean;
  /** The launch of a launched token; it has a bar before anybody trades. */
  readonly launch: Launch | null;
}

/** The part of the node that charts read. Ask for `fold` each time: a new epoch replaces it. */
export interface ChartNode {
  readonly fold: Fold;
}

/** The chart that a client asks for, with ids in lower case. */
export interface ChartRequest {
  readonly base: string;
  readonly quote: string;
  readonly resolution: ChartResolution;
  readonly price: PriceKind;
}

export function requestOf({
  base,
  quote,
  resolution,
  price = 'trade',
}: Omit<ChartRequest, 'price'> & Partial<ChartRequest>): ChartRequest {
  return { base: base.toLowerCase(), quote: quote.toLowerCase(), resolution, price };
}

/** The same text for the same request of one kind of chart. */
export function keyOf(
  { topic }: Pick<ChartKind, 'topic'>,
  { base, quote, resolution, price }: ChartRequest,
): string {
  return `${topic}:${base}_${quote}:${resolution}:${price}`;
}

/** A name for the present bars of the chart, which stay the same while the name does. */
export function versionOf(
  { store, marketMs }: Pick<Fold, 'store' | 'marketMs'>,
  { series, resolution }: Chart,
): string {
  const version = `${store.checkpoint?.epoch}:${series.changedSeq}`;
  if (!isDerived(resolution)) return version;
  // Its bars end without a change of any part.
  const newestEndMs = intervalEnd(resolution, series.newest?.startMs ?? 0);
  return `${version}:${Math.min(newestEndMs, intervalStart(resolution, marketMs))}`;
}

/** Names of the pairs a chart may be of: as it is asked for, and read backwards. */
export interface PairNames {
  readonly direct: string;
  readonly reversed: string | null;
}

export function pricePairs({ base, quote }: Pick<ChartRequest, 'base' | 'quote'>): PairNames {
  return { direct: pairName(base, quote), reversed: pairName(quote, base) };
}

/** Market caps are in the coin only. */
export function capPairs({ base, quote }: ChartRequest): PairNames | null {
  return quote === COIN ? { direct: pairName(base, MARKET_CAP), reversed: null } : null;
}

/** null: neither pair is known. */
export function findChart(
  fold: Fold,
  names: PairNames | null,
  { resolution, price }: Pick<ChartRequest, 'resolution' | 'price'>,
): Chart | Failure | null {
  if (names === null) return null;
  const direct = fold.pairBars(names.direct);
  const pairBars = direct ?? (names.reversed === null ? null : fold.pairBars(names.reversed));
  if (pairBars === null) return null;
  if (pairBars === 'quarantined') {
    const message = 'This pool is being repaired: its state was found damaged. Try again later.';
    return new Failure('NOT_READY', message, { retryAfterSeconds: 30 });
  }
  const stored = pairBars.series(storedPart(resolution));
  const series = isDerived(resolution) ? new DerivedSeries(stored, resolution, fold) : stored;
  const launch = launchOf(fold, pairBars);
  return { pairBars, series, resolution, price, inverted: direct === null, launch };
}

export function notTraded({ base, quote }: ChartRequest): Failure {
  const message = `No trade of ${base} against ${quote} is known, in either direction.`;
  return new Failure('ASSET_NOT_FOUND', message);
}

/** `previous`: the traded bar before it, where it is known already. */
export function view(chart: Chart, bar: Bar, previous?: Bar): BarView {
  const { pairBars, series, price, inverted } = chart;
  if (price === 'trade') return viewBar(pairBars.pair, bar, inverted);
  const before = () => previous ?? series.between(EARLIEST_START_MS, bar.startMs, 1)[0] ?? null;
  return viewSpotBar(pairBars.pair, bar, before, inverted);
}

/** The interval of the bar contains market time. */
export function isRelevant(
  resolution: ChartResolution,
  startMs: number,
  marketMs: number,
): boolean {
  return startMs <= marketMs && marketMs < intervalEnd(resolution, startMs);
}
