/**
 * Histories as answers: short ones out of the rows, long ones out of pages that were rendered
 * before. Each is kept until its series changes.
 */
import { KEPT_POINTS, pointKey, TIP } from '../../engine/fold/chainRows.ts';
import type { Fold } from '../../engine/fold/fold.ts';
import type { BarView } from '../../engine/market/barView.ts';
import { shortestInterval } from '../../engine/market/resolution.ts';
import { Failure, invalid } from '../../engine/runtime/errors.ts';
import { VersionedCache } from '../../engine/runtime/versionedCache.ts';
import { type PointRecord, type PoolRecord, readRecord } from '../../engine/store/records.ts';
import type { StateStore } from '../../engine/store/state.ts';
import { type Answer, type Handled, SlicedAnswer } from '../gateway/port.ts';
import type { ChartKind } from './chartKind.ts';
import {
  type Chart,
  type ChartNode,
  findChart,
  keyOf,
  notTraded,
  requestOf,
  versionOf,
} from './findChart.ts';
import { filledBars, startedUpTo, tradedBars } from './history.ts';
import { NEVER_OVER, PagedHistory, type PagedOptions, PENDING } from './pagedHistory.ts';
import { barRenderer } from './renderedBar.ts';
import { HISTORY_LIMIT, type HistoryQuery } from './schema.ts';

/** A history that can be answered, of one chart. */
export interface AskedHistory {
  readonly chart: Chart;
  readonly kind: ChartKind;
  /** The pair as it was asked for. */
  readonly shown: { readonly base: string; readonly quote: string };
  /** Bars that start in [fromMs, toMs), the newest `limit`. */
  readonly span: { readonly fromMs: number; readonly toMs: number; readonly limit: number };
  /** With flat bars between. */
  readonly filled: boolean;
  /** Absent: bars are objects, as the routes of charts show them. */
  readonly form?: BarForm;
}

/** Another text of a bar. */
export interface BarForm {
  /** Name of this format in the page file. */
  readonly name: string;
  text(bar: BarView): string;
}

export interface HistoryItem {
  readonly query: HistoryQuery;
  readonly kind: ChartKind;
}

interface HistoryOptions extends PagedOptions {
  /**
   * False for a devnet, which may roll back without limit, so no answer may be cached. Default
   * true.
   */
  readonly isCacheable?: boolean;
  /** Up to this many bars, rendering is faster than making pages. */
  readonly fewBars?: number;
  readonly cacheBytes?: number;
}

const CACHE_BYTES = 16 * 1024 * 1024;
const FEW_BARS = 64;
/** Far more slices than the largest request needs if nothing changes. */
const MAX_SLICES = 1_000;
/** An answer that is sent in one piece: a connection may pipeline behind it. */
const ONE_TURN_BARS = 400;
/** The most that a feed's trade may be late. */
const MAX_LATE_MS = 86_400_000;

export class HistoryAnswers {
  readonly #node: ChartNode;
  readonly #pages: PagedHistory;
  readonly #fewBars: number;
  readonly #isCacheable: boolean;
  readonly #kept: VersionedCache<string, Answer, string>;
  #store: StateStore | null = null;

  constructor(node: ChartNode, options: HistoryOptions = {}) {
    const { fewBars = FEW_BARS, cacheBytes = CACHE_BYTES } = options;
    this.#node = node;
    this.#pages = new PagedHistory(options);
    this.#fewBars = fewBars;
    this.#isCacheable = options.isCacheable ?? true;
    this.#kept = new VersionedCache({
      maxSize: cacheBytes,
      sizeCalculation: ({ value }) => value.body.length + 256,
    });
  }

  one(item: HistoryItem): Handled {
    const { query, kind } = item;
    const refused = refuseHistory(query, kind, 'query');
    if (refused !== null) return refused;
    return answered((query.limit ?? HISTORY_LIMIT) <= ONE_TURN_BARS, (isOver) => {
      const answer = otherEpoch(this.#node.fold, query.epoch) ?? this.#answer(item, isOver);
      if (answer === PENDING || answer instanceof Failure || !this.#mayBeKept(item)) return answer;
      return { ...answer, unchanging: true };
    });
  }

  #mayBeKept({ query, kind }: HistoryItem): boolean {
    if (query.epoch === undefined || !this.#isCacheable) return false;
    const { fold } = this.#node;
    const request = requestOf(query);
    const chart = findChart(fold, kind.pairs(request), request);
    if (chart === null || chart instanceof Failure) return false;
    return isUnchanging(fold, chart, query.to * 1000);
  }

  /**
   * Many, all at one position; `refuseHistory` has passed them. Answers that were made are kept,
   * and made again only if their bars changed meanwhile.
   */
  many(
    items: readonly HistoryItem[],
    join: (answers: readonly (Answer | Failure)[]) => Answer,
  ): SlicedAnswer {
    let left = MAX_SLICES;
    return new SlicedAnswer((isOver) => {
      // Items that change with every slice must not keep the request from an end.
      left -= 1;
      const answers: (Answer | Failure)[] = [];
      for (const item of items) {
        const answer = this.#answer(item, left > 0 ? isOver : NEVER_OVER);
        if (answer === PENDING) return null;
        answers.push(answer);
      }
      return join(answers);
    });
  }

  /** The array of bars, in their form, as `join` answers with it; only pages are kept of it. */
  textOf(asked: AskedHistory, join: (text: string) => Answer): Handled {
    return answered(asked.span.limit <= ONE_TURN_BARS, (isOver) => {
      this.#forgetReplacedState();
      const made = this.#make(asked, isOver);
      return made === PENDING ? PENDING : join(Buffer.from(made.body).toString());
    });
  }

  #answer({ query, kind }: HistoryItem, isOver: () => boolean): Answer | Failure | typeof PENDING {
    const { fold } = this.#node;
    this.#forgetReplacedState();
    const request = requestOf(query);
    const chart = findChart(fold, kind.pairs(request), request) ?? notTraded(request);
    if (chart instanceof Failure) return chart;
    const { from, to, limit = HISTORY_LIMIT, fill } = query;
    const span = { fromMs: from * 1000, toMs: to * 1000, limit };
    const filled = fill === 'previous';
    const { base, quote } = request;
    const asked = { chart, kind, shown: { base, quote }, span, filled };
    const key = `${keyOf(kind, request)}:${from}:${to}:${limit}:${filled}`;
    // A bar ceases to be the current one when it becomes final: its series has changed then.
    const version = `${versionOf(fold, chart)}:${filled ? startedUpTo(fold) : ''}`;
    const kept = this.#kept.find(key, version);
    if (kept !== undefined) return kept;
    const answer = this.#make(asked, isOver);
    return answer === PENDING ? PENDING : this.#kept.set(key, version, answer);
  }

  /** Where another state took the place of the one before, that one may have been damaged. */
  #forgetReplacedState(): void {
    const { store } = this.#node.fold;
    if (store === this.#store) return;
    this.#kept.clear();
    this.#pages.forget();
    this.#store = store;
  }

  #make(asked: AskedHistory, isOver: () => boolean): Answer | typeof PENDING {
    const { fold } = this.#node;
    if (isOver()) return PENDING;
    const isShort = maxBars(asked) <= this.#fewBars;
    const paged = isShort ? null : this.#pages.find(fold, asked, isOver);
    if (paged === PENDING) return PENDING;
    if (paged === null) return this.#fromRows(asked);
    const { body, tag, nextTo } = paged;
    return { body, tag, ...cutAt(nextTo) };
  }

  #fromRows(asked: AskedHistory): Answer {
    const { fold } = this.#node;
    const { chart, span, filled } = asked;
    const { bars, cut } = filled ? filledBars(fold, chart, span) : tradedBars(chart, span);
    const body = Buffer.from(`[${bars.map(barRenderer(asked, fold.marketMs)).join(',')}]`);
    return { body, ...cutAt(cut ? (bars[0]?.time ?? null) : null) };
  }
}

/** At once, or in slices. */
function answered(
  isAtOnce: boolean,
  make: (isOver: () => boolean) => Answer | Failure | typeof PENDING,
): Handled {
  const step = (isOver: () => boolean) => {
    const answer = make(isOver);
    return answer === PENDING ? null : answer;
  };
  return (isAtOnce ? step(NEVER_OVER) : null) ?? new SlicedAnswer(step);
}

function cutAt(nextTo: number | null): Pick<Answer, 'headers'> {
  return nextTo === null ? {} : { headers: { 'X-Next-To': String(nextTo) } };
}

/** No answer to it has more bars. */
function maxBars({ chart: { resolution }, span: { fromMs, toMs, limit } }: AskedHistory): number {
  const bars = Math.ceil((toMs - fromMs) / shortestInterval(resolution)) + 1;
  return Math.min(limit, bars);
}

/** Checks that do not depend on the market; `place`: `query`, or an item of a bulk. */
export function refuseHistory(query: HistoryQuery, kind: ChartKind, place: string): Failure | null {
  if (query.from >= query.to) return invalid(`${place}.from`, '`from` must be before `to`.');
  return kind.refusal(requestOf(query), place);
}

/** Whether no bar that starts before `toMs` can change while the epoch lasts. */
function isUnchanging(fold: Fold, { pairBars }: Chart, toMs: number): boolean {
  const beforeMs = unchangingBeforeMs(fold);
  if (beforeMs === null || toMs > beforeMs) return false;
  const text = fold.store.get('pools', pairBars.pair.base);
  // Where following began in the middle of a pool's life, its history may still be completed.
  return text === null || readRecord<PoolRecord>(text).sinceSlot === null;
}

/**
 * For a chain: the time of the newest block that no fork undoes. For a feed: a day before the
 * oldest moment to which it can still go back, because later lines may be late by a day.
 */
function unchangingBeforeMs({ store }: Fold): number | null {
  const { oldest } = store.points;
  const tip = store.get('market', TIP);
  if (tip === null) return oldest === null ? null : oldest.marketMs - MAX_LATE_MS;
  const { height } = readRecord<PointRecord>(tip);
  const deep = store.get('points', pointKey(height - KEPT_POINTS));
  if (deep === null || oldest === null) return null;
  return Math.min(readRecord<PointRecord>(deep).timeMs, oldest.marketMs);
}

/** null: it is the epoch in force, or none was named. */
function otherEpoch({ store }: Fold, epoch: string | undefined): Failure | null {
  const now = store.checkpoint?.epoch;
  if (epoch === undefined || epoch === now) return null;
  const message = `The epoch is ${now} now: what was kept under ${epoch} may be wrong, ask again.`;
  return new Failure('EPOCH_CHANGED', message);
}
