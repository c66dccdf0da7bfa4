/**
 * The part of the datafeed interface of TradingView's charting library that this client implements.
 * Source: its documentation, "Datafeed API" (`IExternalDatafeed`, `IDatafeedChartApi`). The library
 * itself is not public, so its types cannot be imported.
 */
export interface DatafeedConfiguration {
  readonly supported_resolutions: string[];
  readonly exchanges: { readonly value: string; readonly name: string; readonly desc: string }[];
  readonly symbols_types: { readonly name: string; readonly value: string }[];
  readonly supports_marks: boolean;
  readonly supports_timescale_marks: boolean;
  readonly supports_time: boolean;
}

export interface FoundSymbol {
  readonly symbol: string;
  readonly full_name: string;
  readonly ticker: string;
  readonly description: string;
  readonly exchange: string;
  readonly type: string;
}

export interface SymbolInfo {
  readonly name: string;
  readonly full_name: string;
  readonly ticker: string;
  readonly description: string;
  readonly type: string;
  readonly session: string;
  readonly timezone: string;
  readonly exchange: string;
  readonly listed_exchange: string;
  readonly format: 'price' | 'volume';
  readonly minmov: number;
  readonly pricescale: number;
  readonly has_intraday: boolean;
  readonly intraday_multipliers: string[];
  readonly has_daily: boolean;
  readonly has_weekly_and_monthly: boolean;
  readonly supported_resolutions: string[];
  readonly visible_plots_set: 'ohlcv' | 'ohlc';
  readonly data_status: 'streaming';
}

/** `time`: Unix milliseconds. */
export interface TradingViewBar {
  readonly time: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume?: number;
}

/** Unix seconds; `countBack` bars before `to` are wanted, whatever `from` says. */
export interface PeriodParams {
  readonly from: number;
  readonly to: number;
  readonly countBack?: number;
  readonly firstDataRequest: boolean;
}

export interface HistoryMetadata {
  readonly noData?: boolean;
  /** Unix seconds of the next bar before the period, where it has none. */
  readonly nextTime?: number | null;
}

export interface Datafeed {
  onReady(callback: (configuration: DatafeedConfiguration) => void): void;
  searchSymbols(
    userInput: string,
    exchange: string,
    symbolType: string,
    onResult: (symbols: FoundSymbol[]) => void,
  ): void;
  resolveSymbol(
    symbolName: string,
    onResolve: (info: SymbolInfo) => void,
    onError: (reason: string) => void,
  ): void;
  getBars(
    symbolInfo: Pick<SymbolInfo, 'ticker'>,
    resolution: string,
    period: PeriodParams,
    onResult: (bars: TradingViewBar[], meta: HistoryMetadata) => void,
    onError: (reason: string) => void,
  ): void;
  subscribeBars(
    symbolInfo: Pick<SymbolInfo, 'ticker'>,
    resolution: string,
    onTick: (bar: TradingViewBar) => void,
    listenerGuid: string,
    onResetCacheNeeded: () => void,
  ): void;
  unsubscribeBars(listenerGuid: string): void;
  getServerTime(callback: (unixSeconds: number) => void): void;
}
