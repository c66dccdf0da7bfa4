/**
 * The same bars as a UDF datafeed, for TradingView's library without a line of code. It speaks
 * UDF's way: numbers instead of decimal strings, and a status of 200 with `s: "error"` for symbols
 * and resolutions that are not there, because its client looks at nothing else.
 * Source: TradingView's UDF page, protocol.md section 8.
 */
import Type from 'typebox';
import type { Fold } from '../../engine/fold/fold.ts';
import { COIN, parseAsset } from '../../engine/market/asset.ts';
import type { PriceKind } from '../../engine/market/barView.ts';
import {
  EARLIEST_START_MS,
  MAX_TIME_MS,
  readTradingViewResolution,
  TRADING_VIEW_MINUTES,
  TRADING_VIEW_RESOLUTIONS,
} from '../../engine/market/resolution.ts';
import type { ListedPool } from '../../engine/pools/listedPool.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { Failure } from '../../engine/runtime/errors.ts';
import { MAX_SEARCH_CHARACTERS } from '../../engine/runtime/limits.ts';
import type { Answer, Handled, Route } from '../gateway/port.ts';
import { jsonAnswer, route } from '../gateway/route.ts';
import { PRICES } from './chartKind.ts';
import { type Chart, type ChartNode, findChart, pricePairs } from './findChart.ts';
import { tradedBars } from './history.ts';
import type { BarForm, HistoryAnswers } from './historyAnswers.ts';
import { HISTORY_LIMIT } from './schema.ts';

const MAX_FOUND = 100;
const DEFAULT_FOUND = 30;

const SymbolName = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'Asset id, `base_quote`, or a ticker; with or without `UPCURVE:` and `/ADA`.',
});
const MAX_SECONDS = Math.floor(MAX_TIME_MS / 1000);
/** TradingView asks for times before 1970 when it wants all there is. */
const UdfSeconds = Type.Integer({ minimum: -MAX_SECONDS, maximum: MAX_SECONDS });

const UdfHistoryQuery = Type.Object({
  symbol: SymbolName,
  resolution: Type.String({
    maxLength: 8,
    description: `One of ${TRADING_VIEW_RESOLUTIONS.join(', ')}.`,
  }),
  from: Type.Optional(UdfSeconds),
  to: UdfSeconds,
  // TradingView asks for what its screen holds, and does not read refusals.
  countback: Type.Optional(
    Type.Integer({ minimum: 1, description: `${HISTORY_LIMIT} at most are answered.` }),
  ),
});

const Refusal = Type.Object({ s: Type.Literal('error'), errmsg: Type.String() });
const NoData = Type.Object({
  s: Type.Literal('no_data'),
  nextTime: Type.Optional(
    Type.Integer({ description: 'Start of the newest bar before the span; absent: none.' }),
  ),
});
const column = (description: string) => Type.Array(Type.Number(), { description });
const Columns = Type.Object({
  s: Type.Literal('ok'),
  t: column('Starts of the bars, Unix seconds, ascending.'),
  o: column('Open.'),
  h: column('High.'),
  l: column('Low.'),
  c: column('Close.'),
  v: column('Volume in the quote asset.'),
});

const COMMON = {
  method: 'GET',
  tag: 'TradingView',
  rate: 'read',
  needsSync: true,
  positioned: true,
  etag: true,
  gzip: true,
} as const satisfies Partial<Route>;

/** Two datafeeds: over the prices of trades, and over spot prices, whose bars connect. */
const FEEDS = [
  { at: '/udf', id: 'udf', price: 'trade', of: '' },
  { at: '/udf/spot', id: 'udfSpot', price: 'spot', of: ' (spot prices: bars connect)' },
] as const;
type Feed = (typeof FEEDS)[number];

export function udfRoutes(
  node: ChartNode,
  clock: Pick<Clock, 'nowMs'>,
  histories: HistoryAnswers,
): Route[] {
  return FEEDS.flatMap((feed) => [
    ...serverRoutes(feed, clock),
    ...symbolRoutes(feed, node),
    historyRoute(feed, node, histories),
  ]);
}

function serverRoutes({ at, id, of }: Feed, clock: Pick<Clock, 'nowMs'>): Route[] {
  return [
    route({
      ...COMMON,
      path: `${at}/config`,
      operationId: `${id}Config`,
      summary: `Capabilities of the datafeed${of}`,
      answers: { 200: { description: 'The configuration', schema: Config } },
      needsSync: false,
      positioned: false,
      handle: () => jsonAnswer(CONFIG),
    }),
    route({
      ...COMMON,
      path: `${at}/time`,
      operationId: `${id}Time`,
      summary: `The time of the server, Unix seconds${of}`,
      answers: { 200: { description: 'Digits', schema: Type.String(), type: 'text/plain' } },
      needsSync: false,
      positioned: false,
      etag: false,
      gzip: false,
      handle: () => ({ body: String(Math.floor(clock.nowMs() / 1000)), type: 'text/plain' }),
    }),
  ];
}

function symbolRoutes({ at, id, of }: Feed, node: ChartNode): Route[] {
  return [
    route({
      ...COMMON,
      path: `${at}/symbols`,
      operationId: `${id}Symbol`,
      summary: `Description of a symbol${of}`,
      query: Type.Object({ symbol: SymbolName }),
      answers: {
        200: { description: 'The symbol, or why not', schema: Type.Union([SymbolInfo, Refusal]) },
      },
      handle: ({ query }) => describe(node, query.symbol),
    }),
    route({
      ...COMMON,
      path: `${at}/search`,
      operationId: `${id}Search`,
      summary: `Symbols whose name, ticker or asset id holds a text${of}`,
      description:
        'Without `query`, the symbols with the highest market cap. `type` and `exchange` '.concat(
          'are ignored, because each has a single value.',
        ),
      query: Type.Object({
        query: Type.Optional(Type.String({ maxLength: MAX_SEARCH_CHARACTERS })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_FOUND })),
      }),
      answers: { 200: { description: 'Symbols, best first', schema: Found } },
      handle: ({ query }) =>
        jsonAnswer(searchSymbols(node.fold, query.query ?? '', query.limit ?? DEFAULT_FOUND)),
    }),
  ];
}

function historyRoute(
  { at, id, of, price }: Feed,
  node: ChartNode,
  histories: HistoryAnswers,
): Route {
  return route({
    ...COMMON,
    path: `${at}/history`,
    operationId: `${id}History`,
    summary: `Bars as columns of numbers${of}`,
    description:
      'Bars that start in [from, to); `countback` wins over `from`: that many bars before `to`.',
    query: UdfHistoryQuery,
    answers: {
      200: {
        description: 'Bars, no bars, or why not',
        schema: Type.Union([Columns, NoData, Refusal]),
      },
    },
    handle: ({ query }) => history(node, histories, query, price),
  });
}

function describe({ fold }: ChartNode, text: string): Answer {
  const symbol = findSymbol(fold, text);
  return symbol === null ? refuse('unknown_symbol') : jsonAnswer(symbolInfo(symbol));
}

function history(
  { fold }: ChartNode,
  histories: HistoryAnswers,
  query: Type.Static<typeof UdfHistoryQuery>,
  price: PriceKind,
): Handled {
  const resolution = readTradingViewResolution(query.resolution);
  if (resolution === null) {
    return refuse(`resolution must be one of ${CONFIG.supported_resolutions.join(', ')}`);
  }
  const symbol = findSymbol(fold, query.symbol);
  if (symbol === null) return refuse('unknown_symbol');
  const names = pricePairs(symbol);
  const chart = findChart(fold, names, { resolution, price });
  if (chart instanceof Failure) return chart;
  if (chart === null) return refuse('unknown_symbol');
  const { countback, from, to } = query;
  if (countback === undefined && from === undefined) return refuse('from or countback is needed');
  const fromMs = countback === undefined && from !== undefined ? from * 1000 : EARLIEST_START_MS;
  const span = {
    fromMs: Math.max(EARLIEST_START_MS, fromMs),
    toMs: to * 1000,
    limit: Math.min(countback ?? HISTORY_LIMIT, HISTORY_LIMIT),
  };
  const { base, quote } = symbol;
  const asked = { chart, kind: PRICES, shown: { base, quote }, span, filled: false, form: ROWS };
  return histories.textOf(asked, (text) => {
    if (text !== '[]') return { body: columnsText(text) };
    return jsonAnswer({ s: 'no_data', ...newestBefore(chart) });
  });

  function newestBefore(of: Chart): { nextTime?: number } {
    const older = { fromMs: EARLIEST_START_MS, toMs: Math.min(span.fromMs, span.toMs), limit: 1 };
    const [bar] = tradedBars(of, older).bars;
    return bar === undefined ? {} : { nextTime: bar.time };
  }
}

/** The one place where a price becomes a floating-point number: UDF knows nothing else. */
const ROWS: BarForm = {
  name: 'udf',
  text({ time, open, high, low, close, volume }) {
    return JSON.stringify([time, ...[open, high, low, close, volume].map(Number)]);
  },
};

/** Copies the rows' numbers as texts: parsing and writing 30,000 holds the loop for 10 ms. */
function columnsText(text: string): string {
  const texts = text.slice(2, -2).split('],[');
  const rows = texts.map((row) => row.split(','));
  const columns = ['t', 'o', 'h', 'l', 'c', 'v'].map(
    (name, at) => `"${name}":[${rows.map((row) => row[at]).join(',')}]`,
  );
  return `{"s":"ok",${columns.join(',')}}`;
}

function refuse(errmsg: string): Answer {
  return jsonAnswer({ s: 'error', errmsg });
}

/**
 * Symbols of the UDF datafeed: a token against ADA under its asset id, any other pair as
 * `base_quote`. A typed name (a ticker, `UPCURVE:RKT/ADA`) finds the token with the highest market
 * cap among the tokens with that name.
 */
interface UdfSymbol {
  readonly base: string;
  readonly quote: string;
  /** As a chart shows it. */
  readonly name: string;
  readonly description: string;
}

const EXCHANGE = 'UPCURVE';
const SYMBOL_TYPE = 'crypto';

const Config = Type.Object({
  supported_resolutions: Type.Array(Type.String()),
  supports_search: Type.Boolean(),
  supports_group_request: Type.Boolean(),
  supports_marks: Type.Boolean(),
  supports_timescale_marks: Type.Boolean(),
  supports_time: Type.Boolean(),
  exchanges: Type.Array(
    Type.Object({ value: Type.String(), name: Type.String(), desc: Type.String() }),
  ),
  symbols_types: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
});

const CONFIG: Type.Static<typeof Config> = {
  supported_resolutions: TRADING_VIEW_RESOLUTIONS,
  supports_search: true,
  supports_group_request: false,
  supports_marks: false,
  supports_timescale_marks: false,
  supports_time: true,
  exchanges: [{ value: EXCHANGE, name: 'upcurve', desc: 'Launched tokens against ADA' }],
  symbols_types: [{ name: 'Tokens', value: SYMBOL_TYPE }],
};

const SymbolInfo = Type.Object({
  name: Type.String(),
  ticker: Type.String({ description: 'Ask with this for the symbol and its history.' }),
  description: Type.String(),
  type: Type.Literal(SYMBOL_TYPE),
  session: Type.Literal('24x7'),
  timezone: Type.Literal('Etc/UTC'),
  exchange: Type.String(),
  listed_exchange: Type.String(),
  format: Type.Literal('price'),
  minmov: Type.Integer(),
  pricescale: Type.Integer(),
  has_intraday: Type.Boolean(),
  intraday_multipliers: Type.Array(Type.String()),
  has_daily: Type.Boolean(),
  has_weekly_and_monthly: Type.Boolean(),
  supported_resolutions: Type.Array(Type.String()),
  volume_precision: Type.Integer({ description: 'Volumes are in the quote asset.' }),
  data_status: Type.Literal('streaming'),
});

const Found = Type.Array(
  Type.Object({
    symbol: Type.String(),
    full_name: Type.String(),
    description: Type.String(),
    exchange: Type.String(),
    ticker: Type.String(),
    type: Type.Literal(SYMBOL_TYPE),
  }),
);

/** Fractional digits that a chart shows of a price. */
const PRICE_SCALE = 1_000_000_000_000;

/** null: no traded pair has that name. */
function findSymbol(fold: Fold, text: string): UdfSymbol | null {
  const asked = text.trim().replace(new RegExp(`^${EXCHANGE}:`, 'i'), '');
  const [baseText = '', quoteText = COIN, ...more] = asked.split('_');
  const [base, quote] = [parseAsset(baseText), parseAsset(quoteText)];
  if (more.length > 0) return null;
  if (base !== null && quote !== null) return symbolOf(fold, base, quote);
  const ticker = asked.replace(/\/ADA$/i, '').toLowerCase();
  if (ticker === '') return null;
  const { items } = fold.directory.search(ticker, 0, 1);
  const pool = items[0]?.pool;
  const has = (name: string) => name.toLowerCase() === ticker;
  if (pool === undefined || !(has(pool.ticker) || has(pool.name))) return null;
  return symbolOf(fold, pool.token, COIN);
}

function symbolOf(fold: Fold, base: string, quote: string): UdfSymbol | null {
  const names = pricePairs({ base, quote });
  if (findChart(fold, names, { resolution: 'min1', price: 'trade' }) === null) return null;
  const pool = quote === COIN ? fold.directory.find(base)?.pool : undefined;
  if (pool !== undefined) return launched(pool);
  const ticker = tickerOf({ base, quote });
  return { base, quote, name: ticker, description: ticker };
}

/**
 * The symbol of a token that was launched here: it has bars, and nothing needs to be loaded to know
 * it.
 */
function launched({ token, ticker, name }: ListedPool['pool']): UdfSymbol {
  const short = ticker === '' ? name : ticker;
  return { base: token, quote: COIN, name: `${short}/ADA`, description: `${name} / ADA` };
}

function tickerOf({ base, quote }: Pick<UdfSymbol, 'base' | 'quote'>): string {
  return quote === COIN ? base : `${base}_${quote}`;
}

function symbolInfo(symbol: UdfSymbol): Type.Static<typeof SymbolInfo> {
  return {
    name: symbol.name,
    ticker: tickerOf(symbol),
    description: symbol.description,
    type: SYMBOL_TYPE,
    session: '24x7',
    timezone: 'Etc/UTC',
    exchange: EXCHANGE,
    listed_exchange: EXCHANGE,
    format: 'price',
    minmov: 1,
    pricescale: PRICE_SCALE,
    has_intraday: true,
    intraday_multipliers: TRADING_VIEW_MINUTES,
    has_daily: true,
    has_weekly_and_monthly: true,
    supported_resolutions: TRADING_VIEW_RESOLUTIONS,
    volume_precision: 6,
    data_status: 'streaming',
  };
}

/** Best first; without a pattern the highest market caps. */
function searchSymbols(fold: Fold, pattern: string, limit: number): Type.Static<typeof Found> {
  const text = pattern.trim();
  const pools =
    text === ''
      ? fold.directory.page('MCapDesc', limit)
      : fold.directory.search(text, 0, limit).items;
  return pools.map(({ pool }) => {
    const { base: ticker, name, description } = launched(pool);
    const full = `${EXCHANGE}:${name}`;
    const about = { description, exchange: EXCHANGE, ticker, type: SYMBOL_TYPE } as const;
    return { symbol: name, full_name: full, ...about };
  });
}
