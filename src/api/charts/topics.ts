/** `LastBar` and `MCapBar`: the bars of one series, live. */
import type Type from 'typebox';
import { lastRollback } from '../../engine/fold/chainFold.ts';
import type { Fold } from '../../engine/fold/fold.ts';
import { clockTag } from '../../engine/fold/marketClock.ts';
import { poolTag } from '../../engine/fold/streamTags.ts';
import { COIN, parseAssetOrAlias } from '../../engine/market/asset.ts';
import type { BarView } from '../../engine/market/barView.ts';
import { pairName } from '../../engine/market/pair.ts';
import { intervalStart, isDerived, storedPart } from '../../engine/market/resolution.ts';
import { seriesTag } from '../../engine/pools/pairBars.ts';
import { givenId } from '../../engine/pools/pairIds.ts';
import type { BarChange } from '../../engine/pools/series.ts';
import { Failure, invalid } from '../../engine/runtime/errors.ts';
import type { ChangeCause } from '../../engine/store/rows.ts';
import { type Changes, type Source, type Topic, topic } from '../topics/port.ts';
import { type BarNews, type BarPart, type NewestBar, partsOf, type Rollback } from './barFrames.ts';
import { type ChartKind, MARKET_CAPS, PRICES, type ShownFields } from './chartKind.ts';
import {
  type Chart,
  type ChartNode,
  type ChartRequest,
  findChart,
  isRelevant,
  view,
} from './findChart.ts';
import { filledNews, newestFilled } from './flatBars.ts';
import { launchBar, launchNews } from './launch.ts';
import {
  BarsRevisedOutput,
  LastBarInput,
  LastBarOutput,
  MCapBarInput,
  MCapBarOutput,
  MCapBarsRevisedOutput,
} from './schema.ts';

const CADENCE_MS = 5;
/** A subscriber who missed more bars than this gets a snapshot. */
const MAX_RECOVERED_BARS = 500;
/** Bars of a token that disappeared: more than a chain's horizon has minutes. */
const MAX_REMOVED_BARS = 5_000;
/** More parts than these bars have. */
const ALL_BARS = 1_000_000;

export function lastBarTopic(node: ChartNode): Topic {
  return topic({
    name: PRICES.topic,
    summary: summaryOf('bars of one pair'),
    cadenceMs: CADENCE_MS,
    data: LastBarInput,
    update: LastBarOutput,
    otherEvents: { BarsRevised: BarsRevisedOutput },
    open: (data) => openBars(node, PRICES, data),
  });
}

export function mcapBarTopic(node: ChartNode): Topic {
  return topic({
    name: MARKET_CAPS.topic,
    summary: summaryOf('market-cap bars of one token'),
    cadenceMs: CADENCE_MS,
    data: MCapBarInput,
    update: MCapBarOutput,
    otherEvents: { BarsRevised: MCapBarsRevisedOutput },
    open: (data) => openBars(node, MARKET_CAPS, data),
  });
}

function summaryOf(what: string): string {
  return `Every change of the ${what} at one resolution; final bars are never skipped.`;
}

function openBars<Topic extends string, Shown extends ShownFields>(
  node: ChartNode,
  kind: ChartKind<Topic, Shown>,
  { pair, interval, fill, price }: Type.Static<typeof LastBarInput>,
): BarSource<Topic, Shown> | Failure {
  const base = parseAssetOrAlias(pair.base);
  const quote = parseAssetOrAlias(pair.quote);
  if (base === null || quote === null) return invalid('data.pair', 'Not a pair of asset ids.');
  const ofSpot = kind.topic === PRICES.topic && price === 'spot';
  const chart = { base, quote, resolution: interval, price: ofSpot ? 'spot' : 'trade' } as const;
  const refusal = kind.refusal(chart, 'data.pair');
  if (refusal !== null) return refusal;
  if (base === quote) return invalid('data.pair', 'base and quote are the same asset.');
  return new BarSource(node, kind, chart, fill === 'previous');
}

/** A bar as it is streamed. */
type Streamed<Shown> = Shown & { readonly pair: string; readonly isRelevant: boolean };

class BarSource<Topic extends string, Shown extends ShownFields>
  implements Source<Streamed<Shown> | null, BarPart<`${Topic}Update`, Streamed<Shown>>>
{
  readonly key: string;
  readonly tags: readonly string[];
  readonly #node: ChartNode;
  readonly #kind: ChartKind<Topic, Shown>;
  readonly #chart: ChartRequest;
  readonly #filled: boolean;
  readonly #pair: string;

  constructor(
    node: ChartNode,
    kind: ChartKind<Topic, Shown>,
    chart: ChartRequest,
    filled: boolean,
  ) {
    const { base, quote, resolution, price } = chart;
    this.#node = node;
    this.#kind = kind;
    this.#chart = chart;
    this.#filled = filled;
    this.#pair = pairName(base, quote);
    const variant = `${filled ? 'previous' : 'none'}:${price}`;
    this.key = `${kind.topic}:${this.#pair}:${resolution}:${variant}`;
    this.tags = [...seriesTags(kind, chart), ...timeTags(chart, filled)];
  }

  snapshot(): Streamed<Shown> | null | Failure {
    const { fold } = this.#node;
    const chart = this.#find(fold);
    if (chart === null || chart instanceof Failure) return chart;
    return this.#newest(fold, chart)?.bar ?? null;
  }

  since(seq: number): Changes<BarPart<`${Topic}Update`, Streamed<Shown>>> | null | Failure {
    const { fold } = this.#node;
    if (seq < fold.store.horizonSeq) return null;
    const chart = this.#find(fold);
    if (chart instanceof Failure) return chart;
    if (chart === null) return this.#gone(fold, seq);
    const applied = fold.store.checkpoint?.seq ?? 0;
    const { changes, isAll } = chart.series.changedSince(seq, MAX_RECOVERED_BARS);
    const last = changes[changes.length - 1];
    // More than an answer may hold: a page of them. Filled ones come whole or as a snapshot.
    if (!isAll && (this.#filled || last === undefined)) return null;
    const completeTo = isAll || last === undefined ? applied : last.seq;
    const rollback = rollbackAfter(seq, fold, chart);
    // A page would leave bars standing that the next one takes away.
    if (!isAll && rollback !== null) return null;
    const news = this.#news(fold, chart, changes, { seq, completeTo });
    if (news === null || news.length > MAX_RECOVERED_BARS) return null;
    const parts = partsOf(this.#name, news, rollback, () => this.#newest(fold, chart));
    return { parts, completeTo };
  }

  get #name() {
    const update = `${this.#kind.topic}Update` as const;
    return { update, pair: this.#pair, interval: this.#chart.resolution };
  }

  /**
   * A rollback removed the pair, or the pair was never known. Every bar that the client may have
   * has left a tombstone, but for flat ones, which only a snapshot takes away.
   */
  #gone(fold: Fold, seq: number): Changes<BarPart<`${Topic}Update`, Streamed<Shown>>> | null {
    const completeTo = fold.store.checkpoint?.seq ?? 0;
    const news = goneBars(this.#kind, this.#chart, fold, seq);
    if (news.length === 0) return { parts: [], completeTo };
    if (this.#filled || news.length > MAX_REMOVED_BARS) return null;
    const last = lastRollback(fold.store);
    const rollback = last !== null && last.seq > seq ? last : null;
    return { parts: partsOf(this.#name, news, rollback, () => null), completeTo };
  }

  /** News of traded bars, of flat bars if the client wants them, and of the launch's bar. */
  #news(
    fold: Fold,
    chart: Chart,
    changes: readonly BarChange[],
    { seq, completeTo }: { readonly seq: number; readonly completeTo: number },
  ): BarNews<Streamed<Shown>>[] | null {
    const launched = launchNews(fold, chart, seq);
    const standing = launched === null ? null : launchBar(fold, chart);
    const changed = withSpotFollowers(chart, changes);
    if (changed === null) return null;
    const traded = changed.map(({ bar, ...change }): BarNews<Streamed<Shown>> => {
      return { ...change, bar: bar === null ? null : this.#render(fold, view(chart, bar)) };
    });
    const hasFlat = this.#filled && (traded.length > 0 || chart.series.newest !== null);
    const news = hasFlat
      ? filledNews(fold, chart, seq, traded, (bar) => this.#render(fold, bar))
      : traded;
    if (news === null || launched === null || standing === null) return news;
    if (launched.seq > completeTo) return news;
    const launch = { ...launched, bar: this.#render(fold, standing) };
    // It stands in the place of a bar that was removed.
    const others = news.filter(({ startMs }) => startMs !== launch.startMs);
    return [...others, launch].sort(inOrder);
  }

  #find(fold: Fold): Chart | Failure | null {
    return findChart(fold, this.#kind.pairs(this.#chart), this.#chart);
  }

  #newest(fold: Fold, chart: Chart): NewestBar<Streamed<Shown>> | null {
    const { newest } = chart.series;
    const traded = newest === null ? null : view(chart, newest);
    const bar = traded === null || !this.#filled ? traded : newestFilled(fold, chart);
    const said = bar ?? launchBar(fold, chart);
    return said === null ? null : { startMs: said.time * 1000, bar: this.#render(fold, said) };
  }

  #render(fold: Fold, bar: BarView): Streamed<Shown> {
    const relevant = isRelevant(this.#chart.resolution, bar.time * 1000, fold.marketMs);
    return { pair: this.#pair, ...this.#kind.present(bar, relevant), isRelevant: relevant };
  }
}

/**
 * The shown `changes`, with the bars that they affect. Without a pool, a bar opens at the close of
 * the bar before, so the bar after a changed bar has changed too, even if its own trade came first.
 * Null: there are too many.
 */
function withSpotFollowers(
  { price, series, launch }: Chart,
  changes: readonly BarChange[],
): readonly BarChange[] | null {
  const [first] = changes;
  if (price === 'trade' || launch !== null || first === undefined) return changes;
  const fromMs = changes.reduce((least, { startMs }) => Math.min(least, startMs), first.startMs);
  const bars = series.between(fromMs + 1, Number.MAX_SAFE_INTEGER, MAX_RECOVERED_BARS + 1);
  if (bars.length > MAX_RECOVERED_BARS) return null;
  const oldestFirst = bars.reverse();
  const shown = new Map(changes.map((change) => [change.startMs, change]));
  for (const { startMs: changedMs, seq, cause } of changes) {
    const bar = oldestFirst.find(({ startMs }) => startMs > changedMs);
    if (bar === undefined) continue;
    const { startMs } = bar;
    const own = shown.get(startMs);
    if (own !== undefined && own.seq >= seq) continue;
    shown.set(startMs, { startMs, bar, seq, cause: followerCause(cause, own?.cause) });
  }
  return [...shown.values()].sort(inOrder);
}

/** `own`: its own change, at an earlier position. */
function followerCause(previous: ChangeCause, own: ChangeCause | undefined): ChangeCause {
  if (previous === 'rollback' || own === 'rollback') return 'rollback';
  return own === 'final' || own === 'lateFinal' ? 'lateFinal' : 'late';
}

function inOrder(
  a: { readonly seq: number; readonly startMs: number },
  b: { readonly seq: number; readonly startMs: number },
): number {
  return a.seq - b.seq || a.startMs - b.startMs;
}

/** Bars that a pair left behind when it disappeared after `seq`. */
function goneBars(
  kind: ChartKind,
  chart: ChartRequest,
  { store }: Fold,
  seq: number,
): BarNews<never>[] {
  const { direct, reversed } = kind.pairs(chart) ?? { direct: '', reversed: null };
  const id = givenId(direct, store) ?? (reversed === null ? null : givenId(reversed, store));
  if (id === null) return [];
  const part = storedPart(chart.resolution);
  const parts = store.barsChangedSince(id, part, seq, ALL_BARS);
  const changedAt = new Map<number, number>();
  for (const { start, seq: changed } of parts) {
    const startMs = intervalStart(chart.resolution, start);
    changedAt.set(startMs, Math.max(changed, changedAt.get(startMs) ?? 0));
  }
  const news = [...changedAt].map(([startMs, changed]): BarNews<never> => {
    return { startMs, seq: changed, cause: 'rollback', bar: null };
  });
  return news.sort(inOrder);
}

/** The newest rollback after `seq` where one may have touched the bars of this chart. */
function rollbackAfter(seq: number, fold: Fold, { series }: Chart): Rollback | null {
  const last = lastRollback(fold.store);
  return last !== null && last.seq > seq && series.loadedSeq >= seq ? last : null;
}

function seriesTags(kind: ChartKind, chart: ChartRequest): string[] {
  const names = kind.pairs(chart);
  if (names === null) return [];
  const { direct, reversed } = names;
  return [direct, ...(reversed === null ? [] : [reversed])].map(seriesTag);
}

/**
 * Tags of changes without a trade. A token of a launch may be known before it is traded, and its
 * bar ends; flat bars begin every minute: the end of a flat bar may be the only sign that a coarser
 * interval has started.
 */
function timeTags({ base, quote, resolution }: ChartRequest, filled: boolean): string[] {
  const clock = clockTag(filled ? 'min1' : storedPart(resolution));
  if (base === COIN) return [poolTag(quote), clock];
  if (quote === COIN) return [poolTag(base), clock];
  return filled || isDerived(resolution) ? [clock] : [];
}
