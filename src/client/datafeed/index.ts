/** `upcurve/datafeed`: bars of the client on charts of others. */
export {
  type ChartSeries,
  type Drawing,
  type DrawnBars,
  type DrawOptions,
  type DrawTarget,
  drawBars,
  type LogicalRange,
  type TimeScale,
} from './lightweightCharts.ts';
export type { CandlePoint, ChartTime, VolumePoint } from './points.ts';
export { type TradingViewOptions, tradingViewDatafeed } from './tradingView.ts';
export type * from './tradingViewTypes.ts';
