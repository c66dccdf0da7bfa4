/**
 * The Datafeed API of TradingView's charting library over the client: `new Widget({datafeed:
 * tradingViewDatafeed(client, {onReset}), symbol: '<asset id>'})`. Market caps are the symbol
 * `<asset id>:mcap`.
 *
 * The library takes no changes of older bars. After a rollback or a late trade its cache is
 * invalidated and `onReset` is called, where the page calls `chart.resetData()`.
 */

import {
  readTradingViewResolution,
  TRADING_VIEW_MINUTES,
  TRADING_VIEW_RESOLUTIONS,
} from '../../engine/market/resolution.ts';
import { ApiError } from '../apiError.ts';
import type { Client } from '../client.ts';
import type { Candle } from '../mirrors/barList.ts';
import type { BarsMirror } from '../mirrors/bars.ts';
import { longHistory } from '../rest/longHistory.ts';
import type { LiquidityPoolInfo, Resolution } from '../types.ts';
import { drawable } from './points.ts';
import type {
  Datafeed,
  DatafeedConfiguration,
  FoundSymbol,
  HistoryMetadata,
  PeriodParams,
  SymbolInfo,
  TradingViewBar,
} from './tradingViewTypes.ts';

export interface TradingViewOptions {
  /** Bars that were drawn have changed: call `resetData()` of the chart. */
  readonly onReset?: () => void;
}

const EXCHANGE = 'upcurve';
const CAP_SUFFIX = ':mcap';
const MAX_FOUND = 30;
/** The live part begins with this many bars: bars may end between `getBars` and `subscribeBars`. */
const LIVE_BARS = 100;
/** Charts whose newest loaded bars are remembered; the oldest one is forgotten first. */
const MAX_CHARTS = 100;

/** Bars of a chart as they were loaded: their times, oldest first, each with its drawn values. */
type Drawn = Map<number, string>;

export function tradingViewDatafeed(client: Client, options: TradingViewOptions = {}): Datafeed {
  const live = new Map<string, { close(): void }>();
  const loaded = new Map<string, Drawn>();
  const remember = (chart: string, bars: readonly TradingViewBar[], isFirst: boolean) => {
    const newest = [...(loaded.get(chart) ?? [])].at(-1)?.[0] ?? Number.NEGATIVE_INFINITY;
    // Older bars, for someone who scrolls back.
    if (!isFirst && (bars.at(-1)?.time ?? newest) < newest) return;
    loaded.delete(chart);
    loaded.set(chart, new Map(bars.slice(-LIVE_BARS).map((bar) => [bar.time, drawingOf(bar)])));
    for (const known of loaded.keys()) {
      if (loaded.size <= MAX_CHARTS) break;
      loaded.delete(known);
    }
  };
  return {
    // The library must not be called back before its own call has returned.
    onReady: (callback) => queueMicrotask(() => callback(CONFIGURATION)),
    searchSymbols(userInput, _exchange, _type, onResult) {
      void found(client, userInput).then(onResult);
    },
    resolveSymbol(name, onResolve, onError) {
      void resolved(client, name).then(onResolve, (error) => onError(textOf(error)));
    },
    getBars({ ticker }, resolution, period, onResult, onError) {
      void barsOf(client, ticker, resolution, period).then(
        ({ bars, meta }) => {
          remember(chartOf(ticker, resolution), bars, period.firstDataRequest);
          onResult(bars, meta);
        },
        (error) => onError(textOf(error)),
      );
    },
    subscribeBars({ ticker }, resolution, onTick, guid, onResetCacheNeeded) {
      live.get(guid)?.close();
      const reset = () => {
        onResetCacheNeeded();
        options.onReset?.();
      };
      const drawn = loaded.get(chartOf(ticker, resolution)) ?? null;
      const listener = { drawn, onTick, reset };
      live.set(guid, startLive(client, ticker, readResolution(resolution), listener));
    },
    unsubscribeBars(guid) {
      live.get(guid)?.close();
      live.delete(guid);
    },
    getServerTime(callback) {
      const answer = ({ data }: { data: { timestamp: number } }) =>
        callback(Math.floor(data.timestamp / 1000));
      // Without an answer the library keeps its own clock.
      void client.server.time().then(answer, () => {});
    },
  };
}

const CONFIGURATION: DatafeedConfiguration = {
  supported_resolutions: TRADING_VIEW_RESOLUTIONS,
  exchanges: [{ value: EXCHANGE, name: EXCHANGE, desc: 'Tokens of this launchpad' }],
  symbols_types: [{ name: 'Tokens', value: 'crypto' }],
  supports_marks: false,
  supports_timescale_marks: false,
  supports_time: true,
};

async function found(client: Client, userInput: string): Promise<FoundSymbol[]> {
  const pattern = userInput.trim();
  try {
    const pools =
      pattern === ''
        ? (await client.pools.list('MCapDesc')).data.slice(0, MAX_FOUND)
        : (await client.pools.search({ pattern, limit: MAX_FOUND })).data.items;
    return pools.map(({ info }) => ({ ...namesOf(info, false), symbol: info.ticker }));
  } catch (error) {
    // A search cannot report an error; it found nothing.
    if (error instanceof ApiError) return [];
    throw error;
  }
}

function namesOf({ asset, name, ticker }: LiquidityPoolInfo['info'], isCap: boolean) {
  const id = isCap ? asset + CAP_SUFFIX : asset;
  const shown = isCap ? `${ticker} market cap` : ticker;
  return {
    full_name: id,
    ticker: id,
    name: shown,
    description: name,
    exchange: EXCHANGE,
    type: 'crypto',
  };
}

async function resolved(client: Client, symbol: string): Promise<SymbolInfo> {
  const { asset, isCap } = readSymbol(symbol);
  const { data } = await client.pools.assetInfo(asset);
  return {
    ...namesOf(data, isCap),
    session: '24x7',
    timezone: 'Etc/UTC',
    listed_exchange: EXCHANGE,
    format: 'price',
    minmov: 1,
    pricescale: isCap ? 100 : 1_000_000_000_000,
    has_intraday: true,
    intraday_multipliers: TRADING_VIEW_MINUTES,
    has_daily: true,
    has_weekly_and_monthly: true,
    supported_resolutions: TRADING_VIEW_RESOLUTIONS,
    visible_plots_set: isCap ? 'ohlc' : 'ohlcv',
    data_status: 'streaming',
  };
}

function readSymbol(symbol: string): { asset: string; isCap: boolean } {
  const isCap = symbol.endsWith(CAP_SUFFIX);
  return { asset: isCap ? symbol.slice(0, -CAP_SUFFIX.length) : symbol, isCap };
}

function readResolution(text: string): Resolution {
  const resolution = readTradingViewResolution(text);
  if (resolution === null) throw new ApiError('INVALID_PARAMS', `no resolution ${text}`);
  return resolution;
}

async function barsOf(
  client: Client,
  ticker: string,
  text: string,
  { from, to, countBack }: PeriodParams,
): Promise<{ bars: TradingViewBar[]; meta: HistoryMetadata }> {
  const { asset, isCap } = readSymbol(ticker);
  const { history, mcapHistory } = client.charts;
  const of = { base: asset, quote: '.', resolution: readResolution(text) };
  const ask = async (since: number, until: number, limit?: number) => {
    const query = { ...of, from: since, to: until };
    const asked = isCap
      ? longHistory(mcapHistory, query, limit)
      : longHistory(history, query, limit);
    return (await asked).data;
  };
  const isCounted = countBack !== undefined && countBack > 0;
  const limit = isCounted ? countBack : undefined;
  const [since, until] = [isCounted ? 0 : Math.max(0, Math.floor(from)), Math.ceil(to)];
  const rows = until > since ? await ask(since, until, limit) : [];
  if (rows.length > 0) return { bars: rows.map(pointOf), meta: { noData: false } };
  const [older] = since > 0 ? await ask(0, since, 1) : [];
  return { bars: [], meta: { noData: true, nextTime: older?.time ?? null } };
}

function chartOf(ticker: string, resolution: string): string {
  return `${ticker} ${resolution}`;
}

/** More than may be open at a time, so that the end of each is known to change nothing. */
const REMEMBERED_BARS = 2_000;

interface Listener {
  /** The bars that `getBars` loaded; null where it was not called. */
  readonly drawn: Drawn | null;
  readonly onTick: (bar: TradingViewBar) => void;
  readonly reset: () => void;
}

function startLive(client: Client, ticker: string, interval: Resolution, listener: Listener) {
  const { asset, isCap } = readSymbol(ticker);
  const pair = { base: asset, quote: '.' };
  if (isCap) {
    return notifyOn(client.bars(pair, interval, { kind: 'mcap', limit: LIVE_BARS }), listener);
  }
  return notifyOn(client.bars(pair, interval, { limit: LIVE_BARS }), listener);
}

function notifyOn<B extends Candle>(mirror: BarsMirror<B>, listener: Listener) {
  const { onTick, reset } = listener;
  let newest: number | null = null;
  const drawn: Drawn = new Map();
  mirror.onChange(({ bars }, { reason, changed, removed }) => {
    const isFirst = newest === null;
    const points = (reason === 'snapshot' ? bars : changed).map(pointOf);
    const isSame = points.every((point) => drawn.get(point.time) === drawingOf(point));
    for (const point of points) drawn.set(point.time, drawingOf(point));
    for (const time of drawn.keys()) {
      if (drawn.size <= REMEMBERED_BARS) break;
      drawn.delete(time);
    }
    // The end of a bar is a revision if a newer bar exists, and does not change the drawing.
    if (reason === 'revised' && removed.length === 0 && isSame) return;
    const ticks = isFirst ? ticksSince(listener.drawn, points) : points;
    const isPast = !isFirst && points.some(({ time }) => time < (newest ?? 0));
    newest = bars.slice(-1).map(pointOf)[0]?.time ?? newest ?? 0;
    const isRevised = reason === 'revised' || removed.length > 0 || isPast;
    if (ticks === null || isRevised || (reason === 'snapshot' && !isFirst)) reset();
    else for (const point of ticks) onTick(point);
  });
  return mirror;
}

/**
 * The bars that are missing in `drawn`, or older there, oldest first. The library takes no bar that
 * is older than its newest one: null if such a bar has changed, has gone, or is unknown.
 */
function ticksSince(
  drawn: Drawn | null,
  bars: readonly TradingViewBar[],
): readonly TradingViewBar[] | null {
  if (drawn === null) return bars.slice(-1);
  const times = [...drawn.keys()];
  const [oldest, newest] = [times[0], times.at(-1)];
  if (oldest === undefined || newest === undefined) return bars;
  const first = bars[0]?.time ?? Number.POSITIVE_INFINITY;
  const present = new Set(bars.map(({ time }) => time));
  const isGone = times.some((time) => time >= first && !present.has(time));
  const isChanged = bars.some(
    (bar) => bar.time >= oldest && bar.time < newest && drawn.get(bar.time) !== drawingOf(bar),
  );
  if (first > newest || isGone || isChanged) return null;
  return bars.filter(({ time }) => time >= newest);
}

/** The values of a bar that the library shows, as text to compare. */
function drawingOf(bar: TradingViewBar): string {
  return JSON.stringify(bar);
}

function pointOf(bar: Candle & { readonly volume?: string }): TradingViewBar {
  const { time, open, high, low, close, volume } = bar;
  const prices = {
    open: drawable(open),
    high: drawable(high),
    low: drawable(low),
    close: drawable(close),
  };
  const point = { time: time * 1000, ...prices };
  return volume === undefined ? point : { ...point, volume: drawable(volume) };
}

function textOf(error: unknown): string {
  return error instanceof ApiError ? `${error.cause}: ${error.message}` : String(error);
}
