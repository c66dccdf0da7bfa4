/**
 * Candlesticks over HTTP. Answers are rendered once and kept until the series changes: a chart that
 * many clients load costs one rendering.
 */
import { LRUCache } from 'lru-cache';
import Type from 'typebox';
import type { Answer, Route, RouteRequest } from '../../gateway/port.ts';
import { isResolution, type Resolution } from '../../market/resolution.ts';
import { assert } from '../../runtime/assert.ts';
import { Failure, invalid } from '../../runtime/errors.ts';
import type { Checkpoint } from '../../store/state.ts';
import { begunUpTo, filledBars, tradedBars } from './history.ts';
import { type Chart, type ChartNode, findChart, isRelevant, notTraded, view } from './market.ts';
import { BarSchema, HISTORY_LIMIT, HistoryQuery, InitialState, StateQuery } from './schema.ts';

interface Rendered {
  /** What the answer was made from; another version renders anew. */
  readonly version: string;
  readonly answer: Answer;
}

const CACHE_BYTES = 64 * 1024 * 1024;

type Wrap = (bar: object, relevant: boolean) => object;

export function chartRoutes(node: ChartNode): Route[] {
  const answers = new Rendering(node);
  return [
    {
      ...COMMON,
      path: '/v1/charts/history',
      operationId: 'chartHistory',
      summary: 'Bars of a span of time, oldest first',
      description: HISTORY_TEXT,
      query: HistoryQuery,
      answers: { 200: { description: 'Bars', schema: Type.Array(BarSchema), headers: NEXT_TO } },
      etag: true,
      gzip: true,
      handle: (request) => answers.history(request),
    },
    {
      ...COMMON,
      path: '/v1/charts/initial-state',
      operationId: 'chartInitialState',
      summary: 'The newest bar, and whether it is the current one',
      query: StateQuery,
      answers: { 200: { description: 'The newest bar', schema: InitialState } },
      handle: (request) => answers.newest(request, initialState),
    },
    {
      ...COMMON,
      path: '/v1/charts/last',
      operationId: 'chartLast',
      summary: 'The newest bar alone',
      query: StateQuery,
      answers: { 200: { description: 'The newest bar', schema: BarSchema } },
      handle: (request) => answers.newest(request, lastBar),
    },
  ];
}

const HISTORY_TEXT =
  'Bars whose start is in [from, to). When older ones were cut by `limit`, the header ' +
  '`X-Next-To` names the time of the oldest returned: ask again with it as `to`. ' +
  '`fill=previous` puts flat bars where nothing was traded.';
const NEXT_TO = { 'X-Next-To': 'Time of the oldest bar returned; only when older ones were cut.' };

const COMMON = {
  method: 'GET',
  tag: 'Charts',
  causes: ['ASSET_NOT_FOUND'],
  rate: 'read',
  needsSync: true,
  positioned: true,
  etag: false,
  gzip: false,
} as const;

/** Answers by request, each kept with the version it was made from. */
class Rendering {
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
  newest(request: RouteRequest, wrap: Wrap): Answer | Failure {
    const { checkpoint } = this.#node.fold.store;
    const last = this.#last.get(request.query);
    if (last !== undefined && last.checkpoint === checkpoint) return last.answer;
    const answer = this.#newest(request, wrap);
    if (!(answer instanceof Failure)) this.#last.set(request.query, { checkpoint, answer });
    return answer;
  }

  #newest(request: RouteRequest, wrap: Wrap): Answer | Failure {
    const chart = findRequested(this.#node, request);
    if (chart instanceof Failure) return chart;
    const bar = chart.series.newest;
    assert(bar !== null, 'a pair is known by its trades, so it has a newest bar');
    const relevant = isRelevant(chart.resolution, bar.startMs, this.#node.fold.marketMs);
    const key = `${wrap.name}:${keyOf(chart)}`;
    return this.#keep(key, `${this.#versionOf(chart)}:${relevant}`, () =>
      json(wrap({ pair: pairOf(chart), ...view(chart, bar) }, relevant)),
    );
  }

  history(request: RouteRequest): Answer | Failure {
    const { from, to, limit, fill } = request.query;
    if (Number(from) >= Number(to)) return invalid('query.from', '`from` must be before `to`.');
    const chart = findRequested(this.#node, request);
    if (chart instanceof Failure) return chart;
    const { fold } = this.#node;
    const fromMs = Number(from) * 1000;
    const toMs = Number(to) * 1000;
    const span = { fromMs, toMs, limit: Number(limit ?? HISTORY_LIMIT) };
    const filled = fill === 'previous';
    const version = `${this.#versionOf(chart)}:${filled ? begunUpTo(fold) : ''}`;
    const key = `history:${keyOf(chart)}:${fromMs}:${toMs}:${span.limit}:${filled}`;
    return this.#keep(key, version, () => {
      const { bars, cut } = (filled ? filledBars : tradedBars)(fold, chart, span);
      const pair = pairOf(chart);
      const answer = json(bars.map((bar) => ({ pair, ...bar })));
      const [oldest] = bars;
      if (!cut || oldest === undefined) return answer;
      return { ...answer, headers: { 'X-Next-To': String(oldest.time) } };
    });
  }

  #keep(key: string, version: string, render: () => Answer): Answer {
    const found = this.#kept.get(key);
    if (found !== undefined && found.version === version) return found.answer;
    const answer = render();
    this.#kept.set(key, { version, answer });
    return answer;
  }

  #versionOf({ series }: Chart): string {
    return `${this.#node.fold.store.checkpoint?.epoch}:${series.changedSeq}`;
  }
}

function initialState(bar: object, relevant: boolean): object {
  return { bar, isRelevant: relevant };
}

function lastBar(bar: object): object {
  return bar;
}

function findRequested(node: ChartNode, { query }: RouteRequest): Chart | Failure {
  const base = String(query.base).toLowerCase();
  const quote = String(query.quote).toLowerCase();
  const chart = findChart(node.fold, base, quote, readResolution(query.resolution));
  return chart ?? notTraded(base, quote);
}

function readResolution(value: string | number | undefined): Resolution {
  assert(typeof value === 'string' && isResolution(value), 'the schema has checked the resolution');
  return value;
}

function keyOf(chart: Chart): string {
  return `${chart.base}_${chart.quote}:${chart.resolution}`;
}

function pairOf({ base, quote }: Chart): { base: string; quote: string } {
  return { base, quote };
}

function json(value: object): Answer {
  return { body: Buffer.from(JSON.stringify(value)) };
}
