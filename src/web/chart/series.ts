/** The series of a chart: bars in each style, volume, and the lines of indicators. */
import {
  AreaSeries,
  CandlestickSeries,
  HistogramSeries,
  type IChartApi,
  type ISeriesApi,
  LineSeries,
} from 'lightweight-charts';
import type { CandlePoint, DrawTarget } from '../../client/datafeed/index.ts';
import { axisMoney, axisValue } from '../fiat.ts';
import { type AxisForm, axisNumber, formOf, PLAIN } from './axis.ts';
import { type Colours, seriesTheme } from './chartTheme.ts';
import type { BarStyle } from './settings.ts';

export type MainSeries = ISeriesApi<'Candlestick'> | ISeriesApi<'Line'> | ISeriesApi<'Area'>;

/** A billionth of a millionth of an ADA: smaller steps cannot be seen. */
const MIN_MOVE = 1e-15;
/** A digit that a price has more than the marks of its axis. */
const FINER = 1;
/** Panes from the top, and the height of the volume beside the bars. */
export const PANES = { bars: 0, volume: 1, strength: 2 } as const;
const VOLUME_HEIGHT = 0.22;

/** All numbers of an axis have the form of its marks. `factor`: what ADA is worth on it. */
export function axisFormat(factor: number, unit: string) {
  let form: AxisForm = PLAIN;
  const onAxis = (number: number) => axisValue(number) * factor;
  const written = (number: number, finer: number) =>
    axisMoney(axisNumber(onAxis(number), form, finer), unit);
  return {
    type: 'custom',
    minMove: MIN_MOVE,
    formatter: (number: number) => written(number, FINER),
    tickmarksFormatter: (numbers: readonly number[]) => {
      form = formOf(numbers.map(onAxis));
      return numbers.map((number) => written(number, 0));
    },
  } as const;
}

/** A zero between the panes says nothing. */
function volumeFormat() {
  const { tickmarksFormatter, ...format } = axisFormat(1, '₳');
  return {
    ...format,
    tickmarksFormatter: (numbers: readonly number[]) =>
      tickmarksFormatter(numbers).map((text, index) => (numbers[index] === 0 ? '' : text)),
  };
}

export function mainSeries(chart: IChartApi, style: BarStyle, isTrades: boolean): MainSeries {
  if (style === 'candles' && !isTrades) return chart.addSeries(CandlestickSeries);
  // Each trade is a point that can be seen.
  const points = { pointMarkersVisible: isTrades, pointMarkersRadius: 2.5 };
  return style === 'area'
    ? chart.addSeries(AreaSeries, points)
    : chart.addSeries(LineSeries, points);
}

export function volumeSeries(chart: IChartApi): ISeriesApi<'Histogram'> {
  const options = {
    priceFormat: volumeFormat(),
    lastValueVisible: false,
    priceLineVisible: false,
  };
  const series = chart.addSeries(HistogramSeries, options, PANES.volume);
  series.priceScale().applyOptions({ scaleMargins: { top: 0.2, bottom: 0 } });
  series.getPane().setStretchFactor(VOLUME_HEIGHT);
  return series;
}

/** A line of an indicator; only those over the bars are prices. */
export function lineSeries(chart: IChartApi, pane: number): ISeriesApi<'Line'> {
  const options = {
    lineWidth: 1,
    priceLineVisible: false,
    lastValueVisible: false,
    crosshairMarkerVisible: false,
  } as const;
  const series = chart.addSeries(LineSeries, options, pane);
  if (pane !== PANES.bars) series.getPane().setStretchFactor(VOLUME_HEIGHT * 1.5);
  return series;
}

export function paint(series: MainSeries, colours: Colours): void {
  const { Candlestick, Line, Area } = seriesTheme(colours);
  if (isCandles(series)) series.applyOptions(Candlestick);
  else if (isLine(series)) series.applyOptions(Line);
  else series.applyOptions(Area);
}

/** Lines and areas draw the close of each bar. */
export function candlesOn(series: MainSeries): DrawTarget['candles'] {
  if (isCandles(series)) return series;
  const closeOf = ({ time, close }: CandlePoint) => ({ time, value: close });
  return {
    setData: (points) => series.setData(points.map(closeOf)),
    update: (point, isHistorical) => series.update(closeOf(point), isHistorical),
  };
}

function isCandles(series: MainSeries): series is ISeriesApi<'Candlestick'> {
  return series.seriesType() === 'Candlestick';
}

function isLine(series: MainSeries): series is ISeriesApi<'Line'> {
  return series.seriesType() === 'Line';
}
