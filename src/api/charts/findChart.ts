/** Which series of bars a request means: a pair, a pair read backwards, or a token's market cap. */
import type { Fold } from '../../engine/actors/fold.ts';
import type { PairActor } from '../../engine/actors/pairActor.ts';
import type { Series } from '../../engine/actors/series.ts';
import { COIN } from '../../engine/market/asset.ts';
import type { Bar } from '../../engine/market/bar.ts';
import { type BarView, viewBar } from '../../engine/market/barView.ts';
import { MARKET_CAP, pairName } from '../../engine/market/pair.ts';
import { intervalEnd, type Resolution } from '../../engine/market/resolution.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { type Launch, launchOf } from './launch.ts';

export interface Chart {
  readonly pool: PairActor;
  readonly series: Series;
  readonly resolution: Resolution;
  readonly inverted: boolean;
  /** Of a launched token; it has a bar before anybody trades. */
  readonly launch: Launch | null;
}

/** The part of the node that charts read. Ask for `fold` each time: a new epoch replaces it. */
export interface ChartNode {
  readonly fold: Fold;
}

/** What is asked for, ids in lower case. */
export interface ChartRequest {
  readonly base: string;
  readonly quote: string;
  readonly resolution: Resolution;
}

/** Names of the pairs a chart may be of: as it is asked for, and read backwards. */
export interface PairNames {
  readonly direct: string;
  readonly reversed: string | null;
}

export function pricePairs({ base, quote }: ChartRequest): PairNames {
  return { direct: pairName(base, quote), reversed: pairName(quote, base) };
}

/** Market caps are in the coin only. */
export function capPairs({ base, quote }: ChartRequest): PairNames | null {
  return quote === COIN ? { direct: pairName(base, MARKET_CAP), reversed: null } : null;
}

/** null: none of the pairs is known. */
export function findChart(
  fold: Fold,
  names: PairNames | null,
  resolution: Resolution,
): Chart | Failure | null {
  if (names === null) return null;
  const direct = fold.pool(names.direct);
  const pool = direct ?? (names.reversed === null ? null : fold.pool(names.reversed));
  if (pool === null) return null;
  if (pool === 'quarantined') {
    const message = 'This pool is being repaired: its state was found damaged. Try again later.';
    return new Failure('NOT_READY', message, { retryAfterSeconds: 30 });
  }
  const series = pool.series(resolution);
  const launch = launchOf(fold, pool);
  return { pool, series, resolution, inverted: direct === null, launch };
}

export function notTraded({ base, quote }: ChartRequest): Failure {
  const message = `No trade of ${base} against ${quote} is known, in either direction.`;
  return new Failure('ASSET_NOT_FOUND', message);
}

export function view(chart: Chart, bar: Bar): BarView {
  return viewBar(chart.pool.pair, bar, chart.inverted);
}

/** The interval of the bar contains market time. */
export function isRelevant(resolution: Resolution, startMs: number, marketMs: number): boolean {
  return startMs <= marketMs && marketMs < intervalEnd(resolution, startMs);
}
