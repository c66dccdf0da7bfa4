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
import { filledBars, tradedBars } from './history.ts';
import { type Chart, type ChartNode, findChart, isRelevant, notTraded, view } from './market.ts';
import { BarSchema, HISTORY_LIMIT, HistoryQuery, InitialState, StateQuery } from './schema.ts';

interface Rendered {
  /** What the answer was made from; another version renders anew. */
  readonly version: string;
  readonly answer: Answer;
}

const CACHE_BYTES = 64 * 1024 * 1024;

export function chartRoutes(node: ChartNode): Route[] {
  const cache = new LRUCache<string, Rendered>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ answer }) => answer.body.length + 256,
  });
  const cached = (key: string, version: string, render: () => Answer): Answer => {
    const found = cache.get(key);
    if (found !== undefined && found.version === version) return found.answer;
    const answer = render();
    cache.set(key, { version, answer });
    return answer;
  };
  const newest = (request: RouteRequest, wrap: (bar: object, relevant: boolean) => object) => {
    const chart = findRequested(node, request);
    if (chart instanceof Failure) return chart;
    const bar = chart.series.newest;
    assert(bar !== null, 'a pair is known by its trades, so it has a newest bar');
    const relevant = isRelevant(chart.resolution, bar.startMs, node.fold.marketMs);
    const version = `${versionOf(node, chart)}:${relevant}`;
    return cached(`${wrap.name}:${keyOf(chart)}`, version, () =>
      json(wrap({ pair: pairOf(chart), ...view(chart, bar) }, relevant)),
    );
  };
  return [
    {
      ...COMMON,
      path: '/v1/charts/history',
      operationId: 'chartHistory',
      summary: 'Bars of a span of time, oldest first',
      description:
        'Bars whose start is in [from, to). When older ones were cut by `limit`, the header ' +
        '`X-Next-To` names the time of the oldest returned: ask again with it as `to`. ' +
        '`fill=previous` puts flat bars where nothing was traded.',
      query: HistoryQuery,
      answers: { 200: { description: 'Bars', schema: Type.Array(BarSchema) } },
      etag: true,
      gzip: true,
      handle(request) {
        const { from, to, limit, fill } = request.query;
        const chart = findRequested(node, request);
        if (typeof from === 'number' && typeof to === 'number' && from >= to) {
          return invalid('query.from', '`from` must be before `to`.');
        }
        if (chart instanceof Failure) return chart;
        const span = {
          fromMs: Number(from) * 1000,
          toMs: Number(to) * 1000,
          limit: Number(limit ?? HISTORY_LIMIT),
        };
        const filled = fill === 'previous';
        const version = `${versionOf(node, chart)}:${filled ? node.fold.marketMs : ''}`;
        const key = `history:${keyOf(chart)}:${span.fromMs}:${span.toMs}:${span.limit}:${fill}`;
        return cached(key, version, () => {
          const { bars, cut } = (filled ? filledBars : tradedBars)(node.fold, chart, span);
          const [oldest] = bars;
          const pair = pairOf(chart);
          const answer = json(bars.map((bar) => ({ pair, ...bar })));
          if (!cut || oldest === undefined) return answer;
          return { ...answer, headers: { 'X-Next-To': String(oldest.time) } };
        });
      },
    },
    {
      ...COMMON,
      path: '/v1/charts/initial-state',
      operationId: 'chartInitialState',
      summary: 'The newest bar, and whether it is the current one',
      query: StateQuery,
      answers: { 200: { description: 'The newest bar', schema: InitialState } },
      handle: (request) => newest(request, initialState),
    },
    {
      ...COMMON,
      path: '/v1/charts/last',
      operationId: 'chartLast',
      summary: 'The newest bar alone',
      query: StateQuery,
      answers: { 200: { description: 'The newest bar', schema: BarSchema } },
      handle: (request) => newest(request, lastBar),
    },
  ];
}

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

function versionOf(node: ChartNode, { series }: Chart): string {
  return `${node.fold.store.checkpoint?.epoch}:${series.changedSeq}`;
}

function pairOf({ base, quote }: Chart): { base: string; quote: string } {
  return { base, quote };
}

function json(value: object): Answer {
  return { body: Buffer.from(JSON.stringify(value)) };
}
