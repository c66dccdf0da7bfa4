/** Which series of bars a request means: a traded pair, or a traded pair read backwards. */
import type { Fold } from '../../actors/fold.ts';
import type { PoolActor } from '../../actors/pool.ts';
import type { Series } from '../../actors/series.ts';
import type { Bar } from '../../market/bar.ts';
import { type BarView, viewBar } from '../../market/barView.ts';
import { pairName } from '../../market/pair.ts';
import { intervalEnd, type Resolution } from '../../market/resolution.ts';
import { Failure } from '../../runtime/errors.ts';

export interface Chart {
  readonly pool: PoolActor;
  readonly series: Series;
  readonly resolution: Resolution;
  readonly inverted: boolean;
  /** As asked for, lower case. */
  readonly base: string;
  readonly quote: string;
}

/** What of the node the charts read; `fold` is asked anew each time, a new epoch replaces it. */
export interface ChartNode {
  readonly fold: Fold;
}

/** null: neither the pair nor its reverse has traded. */
export function findChart(
  fold: Fold,
  base: string,
  quote: string,
  resolution: Resolution,
): Chart | Failure | null {
  const direct = fold.pool(pairName(base, quote));
  const pool = direct ?? fold.pool(pairName(quote, base));
  if (pool === null) return null;
  if (pool === 'quarantined') {
    const message = 'This pool is being repaired: its state was found damaged. Try again later.';
    return new Failure('NOT_READY', message, { retryAfterSeconds: 30 });
  }
  const series = pool.series(resolution);
  return { pool, series, resolution, inverted: direct === null, base, quote };
}

export function notTraded(base: string, quote: string): Failure {
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
