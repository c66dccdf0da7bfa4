/**
 * Bars as answers: each is rendered once and kept until its series changes, so a chart that many
 * clients load costs one rendering.
 */
import { LRUCache } from 'lru-cache';
import type { BarView } from '../../engine/market/barView.ts';
import { intervalEnd, intervalStart, isDerived } from '../../engine/market/resolution.ts';
import { assert } from '../../engine/runtime/assert.ts';
import { Failure, invalid } from '../../engine/runtime/errors.ts';
import type { Checkpoint } from '../../engine/store/state.ts';
import type { Answer } from '../gateway/port.ts';
import type { ChartKind } from './chartKind.ts';
import {
  type Chart,
  type ChartNode,
  type ChartRequest,
  findChart,
  isRelevant,
  notTraded,
  view,
} from './findChart.ts';
import { filledBars, startedUpTo, tradedBars } from './history.ts';
import { launchBar } from './launch.ts';
import { HISTORY_LIMIT, type HistoryQuery, type StateQuery } from './schema.ts';

interface Rendered {
  /** What the answer was made from; another version renders again. */
  readonly version: string;
  readonly answer: Answer;
}

const CACHE_BYTES = 64 * 1024 * 1024;

type Wrap = (bar: object, relevant: boolean) => object;

/** Answers by request, each kept with the version it was made from. */
export class ChartRendering {
  readonly #node: ChartNode;
  readonly #kept = new LRUCache<string, Rendered>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ answer }) => answer.body.length + 256,
  });

  /** The gateway reads a query once and hands over the same object for the same text. */
  readonly #last = new WeakMap<object, { checkpoint: Checkpoint | null; answer: Answer }>();

  constructor(node: ChartNode) {
    this.#node = node;
  }

  /** Between two entries nothing changes: the same question has the same answer. */
  newest(query: StateQuery, kind: ChartKind, wrap: Wrap): Answer | Failure {
    const { checkpoint } = this.#node.fold.store;
    const last = this.#last.get(query);
    if (last !== undefined && last.checkpoint === checkpoint) return last.answer;
    const answer = this.#newest(requestOf(query), kind, wrap);
    if (!(answer instanceof Failure)) this.#last.set(query, { checkpoint, answer });
    return answer;
  }

  #newest(request: ChartRequest, kind: ChartKind, wrap: Wrap): Answer | Failure {
    const { fold } = this.#node;
    const chart = this.#find(request, kind);
    if (chart instanceof Failure) return chart;
    const { newest } = chart.series;
    const standing = newest === null ? launchBar(fold, chart) : null;
    const startMs = newest?.startMs ?? (standing?.time ?? 0) * 1000;
    if (newest === null && standing === null) return notTraded(request);
    const relevant = isRelevant(request.resolution, startMs, fold.marketMs);
    const key = `${wrap.name}:${keyOf(kind, request)}`;
    return this.#keep(key, `${this.#versionOf(chart)}:${relevant}`, () => {
      const bar = newest === null ? standing : view(chart, newest);
      assert(bar !== null, 'one of the two is there');
      return json(wrap({ pair: pairOf(request), ...kind.present(bar, relevant) }, relevant));
    });
  }

  history(query: HistoryQuery, kind: ChartKind): Answer | Failure {
    const refused = refuseHistory(query, kind, 'query');
    if (refused !== null) return refused;
    const { from, to, limit = HISTORY_LIMIT, fill } = query;
    const request = requestOf(query);
    const chart = this.#find(request, kind);
    if (chart instanceof Failure) return chart;
    const { fold } = this.#node;
    const { resolution } = request;
    const fromMs = from * 1000;
    const toMs = to * 1000;
    const span = { fromMs, toMs, limit };
    const filled = fill === 'previous';
    // A bar ceases to be the current one when it becomes final: its series has changed then.
    const version = `${this.#versionOf(chart)}:${filled ? startedUpTo(fold) : ''}`;
    const key = `history:${keyOf(kind, request)}:${fromMs}:${toMs}:${span.limit}:${filled}`;
    return this.#keep(key, version, () => {
      const { bars, cut } = filled ? filledBars(fold, chart, span) : tradedBars(chart, span);
      const pair = pairOf(request);
      const relevant = ({ time }: BarView) => isRelevant(resolution, time * 1000, fold.marketMs);
      const answer = json(bars.map((bar) => ({ pair, ...kind.present(bar, relevant(bar)) })));
      const [oldest] = bars;
      if (!cut || oldest === undefined) return answer;
      return { ...answer, headers: { 'X-Next-To': String(oldest.time) } };
    });
  }

  #find(request: ChartRequest, kind: ChartKind): Chart | Failure {
    const refusal = kind.refusal(request, 'query');
    if (refusal !== null) return refusal;
    return findChart(this.#node.fold, kind.pairs(request), request) ?? notTraded(request);
  }

  #keep(key: string, version: string, render: () => Answer): Answer {
    const found = this.#kept.get(key);
    if (found !== undefined && found.version === version) return found.answer;
    const answer = render();
    this.#kept.set(key, { version, answer });
    return answer;
  }

  #versionOf({ series, resolution }: Chart): string {
    const { fold } = this.#node;
    const version = `${fold.store.checkpoint?.epoch}:${series.changedSeq}`;
    if (!isDerived(resolution)) return version;
    // Its bars end without a change of any part.
    const newestEndMs = intervalEnd(resolution, series.newest?.startMs ?? 0);
    return `${version}:${Math.min(newestEndMs, intervalStart(resolution, fold.marketMs))}`;
  }
}

/** What needs no look at the market; `place`: `query`, or an item of a bulk. */
export function refuseHistory(query: HistoryQuery, kind: ChartKind, place: string): Failure | null {
  if (query.from >= query.to) return invalid(`${place}.from`, '`from` must be before `to`.');
  return kind.refusal(requestOf(query), place);
}

export function initialState(bar: object, relevant: boolean): object {
  return { bar, isRelevant: relevant };
}

export function lastBar(bar: object): object {
  return bar;
}

function requestOf({ base, quote, resolution, price = 'trade' }: StateQuery): ChartRequest {
  return { base: base.toLowerCase(), quote: quote.toLowerCase(), resolution, price };
}

function keyOf({ topic }: ChartKind, { base, quote, resolution, price }: ChartRequest): string {
  return `${topic}:${base}_${quote}:${resolution}:${price}`;
}

function pairOf({ base, quote }: ChartRequest): { base: string; quote: string } {
  return { base, quote };
}

function json(value: object): Answer {
  return { body: Buffer.from(JSON.stringify(value)) };
}
