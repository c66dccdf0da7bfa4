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
const MOST_BARS = 5_000;
const MOST_FOUND = 30;
/** The live part needs the newest bars only. */
const LIVE_BARS = 2;

export function tradingViewDatafeed(client: Client, options: TradingViewOptions = {}): Datafeed {
  const live = new Map<string, { close(): void }>();
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
        ({ bars, meta }) => onResult(bars, meta),
        (error) => onError(textOf(error)),
      );
    },
    subscribeBars({ ticker }, resolution, onTick, guid, onResetCacheNeeded) {
      live.get(guid)?.close();
      const reset = () => {
        onResetCacheNeeded();
        options.onReset?.();
      };
      live.set(guid, startLive(client, ticker, readResolution(resolution), { onTick, reset }));
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
        ? (await client.pools.list('MCapDesc')).data.slice(0, MOST_FOUND)
        : (await client.pools.search({ pattern, limit: MOST_FOUND })).data.items;
    return pools.map(({ info }) => ({ ...namesOf(info, false), symbol: info.ticker }));
  } catch (error) {
    // A search has no way to say what went wrong; it found nothing.
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
  const ask = async (since: number, until: number, limit: number) => {
    const query = { ...of, from: since, to: until, limit };
    return (isCap ? await mcapHistory(query) : await history(query)).data;
  };
  const isCounted = countBack !== undefined && countBack > 0;
  const limit = isCounted ? Math.min(MOST_BARS, countBack) : MOST_BARS;
  const [since, until] = [isCounted ? 0 : Math.max(0, Math.floor(from)), Math.ceil(to)];
  const rows = until > since ? await ask(since, until, limit) : [];
  if (rows.length > 0) return { bars: rows.map(pointOf), meta: { noData: false } };
  const [older] = since > 0 ? await ask(0, since, 1) : [];
  return { bars: [], meta: { noData: true, nextTime: older?.time ?? null } };
}

/** More than may be open at a time, so that the end of each is known to change nothing. */
const REMEMBERED_BARS = 2_000;

interface Listener {
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

function notifyOn<B extends Candle>(mirror: BarsMirror<B>, { onTick, reset }: Listener) {
  let newest: number | null = null;
  const drawn = new Map<number, string>();
  mirror.onChange(({ bars }, { reason, changed, removed }) => {
    const isFirst = newest === null;
    const isSame = changed.every((bar) => drawn.get(bar.time) === drawingOf(bar));
    for (const bar of reason === 'snapshot' ? bars : changed) drawn.set(bar.time, drawingOf(bar));
    for (const time of drawn.keys()) {
      if (drawn.size <= REMEMBERED_BARS) break;
      drawn.delete(time);
    }
    // The end of a bar is a revision where a newer one is there, and changes nothing that is drawn.
    if (reason === 'revised' && removed.length === 0 && isSame) return;
    const ticks = reason === 'snapshot' ? bars.slice(-1) : changed;
    const isPast = ticks.some(({ time }) => newest !== null && time < newest);
    newest = bars.at(-1)?.time ?? newest ?? 0;
    const isRevised = reason === 'revised' || removed.length > 0 || isPast;
    // What was loaded before the first state is at most as new as it.
    if (isRevised || (reason === 'snapshot' && !isFirst)) reset();
    else for (const bar of ticks) onTick(pointOf(bar));
  });
  return mirror;
}

/** What the library shows of a bar, as text to compare. */
function drawingOf(bar: Candle): string {
  return JSON.stringify(pointOf(bar));
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
