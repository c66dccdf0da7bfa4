/**
 * The bar that stands for a token without trades: flat, at the spot price of the launch, in
 * the interval of the launch. It is made for answers and streams and never stored; a history does
 * not hold it. A trade in its interval takes its place; until then it ends as any bar does.
 *
 * Assumes: before the first trade, the spot is the spot of the untouched curve; if a pool was
 *          launched before its history begins here, it is the spot of the output with which the
 *          history begins.
 */
import type { Fold } from '../../engine/fold/fold.ts';
import type { BarView } from '../../engine/market/barView.ts';
import { flatBar } from '../../engine/market/flatBars.ts';
import { formatPrice, MARKET_CAP } from '../../engine/market/pair.ts';
import { marketCapOf, spotOf } from '../../engine/market/pool.ts';
import { intervalEnd, intervalStart } from '../../engine/market/resolution.ts';
import type { Trade } from '../../engine/market/trade.ts';
import type { PairBars } from '../../engine/pools/pairBars.ts';
import { firstPoolState, type PoolRecord, readRecord } from '../../engine/store/records.ts';
import type { ChangeCause } from '../../engine/store/rows.ts';
import { endCrossing } from './derivedSeries.ts';
import type { Chart } from './findChart.ts';

export interface Launch {
  readonly atMs: number;
  /** Entry of its block; 0 where that lies beyond the horizon. */
  readonly seq: number;
  /** The spot as a trade of the pair would say it. */
  readonly spot: Trade;
}

/** Bars in memory live no longer than their pair, and a launch does not change in that time. */
const launches = new WeakMap<PairBars, Launch | null>();

/** null: the pair is not of a launched token. */
export function launchOf(fold: Fold, actor: PairBars): Launch | null {
  const known = launches.get(actor);
  if (known !== undefined) return known;
  const launch = readLaunch(fold, actor);
  launches.set(actor, launch);
  return launch;
}

function readLaunch({ store }: Fold, { pair }: PairBars): Launch | null {
  const text = store.get('pools', pair.base);
  if (text === null) return null;
  const pool = readRecord<PoolRecord>(text);
  const { firstMs: atMs } = pool;
  const state = firstPoolState(pool);
  const { numerator, denominator } =
    pair.quote === MARKET_CAP ? marketCapOf(state).exact : spotOf(state);
  return {
    atMs,
    seq: store.pointAtOrBefore(atMs)?.seq ?? 0,
    spot: { id: '', timeMs: atMs, baseAmount: denominator, quoteAmount: numerator },
  };
}

/** null: no launched token, or a price of nothing, which cannot be read backwards. */
export function launchBar({ marketMs }: Fold, chart: Chart): BarView | null {
  const { launch, resolution, inverted, pairBars: pool } = chart;
  if (launch === null || (inverted && launch.spot.quoteAmount === 0n)) return null;
  const startMs = intervalStart(resolution, launch.atMs);
  return flatBar(resolution, startMs, formatPrice(pool.pair, launch.spot, inverted), marketMs);
}

interface LaunchNews {
  readonly startMs: number;
  readonly seq: number;
  readonly cause: ChangeCause;
}

/** The last change of the launch bar when that came after `seq` and the bar still stands. */
export function launchNews(fold: Fold, chart: Chart, seq: number): LaunchNews | null {
  const { launch, resolution } = chart;
  if (launch === null) return null;
  const startMs = intervalStart(resolution, launch.atMs);
  const end = endCrossing(fold, intervalEnd(resolution, startMs), Math.max(seq, launch.seq));
  const change = end ?? (launch.seq > seq ? { seq: launch.seq, cause: 'trade' as const } : null);
  return change === null || isTraded(chart, startMs) ? null : { startMs, ...change };
}

function isTraded({ series }: Chart, startMs: number): boolean {
  return series.newest !== null && series.between(startMs, startMs + 1, 1).length > 0;
}
