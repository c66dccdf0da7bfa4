/**
 * One chart of one pair, one interval, one kind and style; another choice creates a new chart.
 * Scale and lines over the bars change in place.
 */

import {
  AreaSeries,
  CandlestickSeries,
  ColorType,
  createChart,
  createSeriesMarkers,
  HistogramSeries,
  type IChartApi,
  type ISeriesApi,
  type ISeriesMarkersPluginApi,
  LineSeries,
  type MouseEventParams,
  type PriceFormat,
  PriceScaleMode,
  type SeriesMarker,
  type Time,
} from 'lightweight-charts';
import type { CandlePoint, DrawTarget } from '../../client/datafeed/index.ts';
import { chartTime } from '../../client/datafeed/points.ts';
import type { ApiError } from '../../client/index.ts';
import { type ChartResolution, shortestInterval } from '../../engine/market/resolution.ts';
import type { PageContext } from '../context.ts';
import { errorText } from '../errorText.ts';
import { axisMoney, axisValue, dollars } from '../fiat.ts';
import { cancelFrame, nextFrame } from '../frames.ts';
import { keep, recall, showAged } from '../kept.ts';
import { locale } from '../language.ts';
import { t } from '../messages.ts';
import { trueAtMs } from '../page.tsx';
import { theme } from '../shell/theme.tsx';
import { onChange } from '../signal.ts';
import { type AxisForm, axisNumber, formOf, PLAIN } from './axis.ts';
import { type Colours, chartTheme, pageColours, seriesTheme } from './chartTheme.ts';
import { type AnyBar, type Followed, followed } from './followedBars.ts';
import { IndicatorLines, type IndicatorName, type Lengths } from './indicators.ts';
import { nearest, placesAmong } from './places.ts';
import type { BarKind, BarStyle, Scale } from './settings.ts';
import type { ChartTimes } from './zone.ts';

/** An own trade; `time` in Unix seconds. */
export interface OwnTrade {
  readonly time: number;
  readonly isBuy: boolean;
  readonly text: string;
}

/** The elements beside the canvas. */
export interface ChartView {
  readonly isLoaded: boolean;
  readonly count: number;
  readonly bar: AnyBar | null;
  readonly newest: AnyBar | null;
  readonly error: ApiError | null;
}

interface BarChartDeps {
  readonly canvas: HTMLElement;
  readonly context: PageContext;
  readonly asset: string;
  readonly resolution: ChartResolution;
  readonly kind: BarKind;
  readonly style: BarStyle;
  /** Called at most once a frame. */
  show(view: ChartView): void;
}

type MainSeries = ISeriesApi<'Candlestick'> | ISeriesApi<'Line'> | ISeriesApi<'Area'>;

const STEP_BARS = 5;
/** A billionth of a millionth of an ADA: smaller steps cannot be seen. */
const LEAST_MOVE = 1e-15;
const BAR_SPACING = 9;
/** Digits that a price has more than the marks of its axis. */
const FINER = 2;
/** Own trades, at most, whose amounts are written: more would lie over each other. */
const MOST_NAMED = 8;

const MODES: Readonly<Record<Scale, PriceScaleMode>> = {
  normal: PriceScaleMode.Normal,
  log: PriceScaleMode.Logarithmic,
  percent: PriceScaleMode.Percentage,
};

export class BarChart {
  readonly #deps: BarChartDeps;
  readonly #chart: IChartApi;
  readonly #main: MainSeries;
  readonly #volume: ISeriesApi<'Histogram'>;
  /** Empty places between few bars, so that these fill the width and are not broad. */
  readonly #places: ISeriesApi<'Line'>;
  readonly #lines: IndicatorLines<ISeriesApi<'Line'>>;
  readonly #markers: ISeriesMarkersPluginApi<Time>;
  readonly #live: Followed;
  /** The drawn data: as it was when a view was left, until the live ones are there. */
  #bars: Followed;
  readonly #key: string;
  #endAge: () => void = () => {};
  readonly #ends: readonly (() => void)[];
  readonly #endMoves: AbortController = new AbortController();
  #endDrawing: () => void = () => {};
  /** Time of the bar under the pointer; null: the newest one is explained. */
  #pointed: number | null = null;
  #error: ApiError | null = null;
  #trades: readonly OwnTrade[] = [];
  #graduation: { readonly price: number; readonly title: string } | null = null;
  #priceLine: ReturnType<MainSeries['createPriceLine']> | null = null;
  /** Until the reader scrolls or zooms, few bars are spread over the whole width. */
  #isMoved = false;
  #fitted = 0;
  #form: AxisForm = PLAIN;
  readonly #refresh = () => this.#update();

  constructor(deps: BarChartDeps) {
    this.#deps = deps;
    const { canvas } = deps;
    this.#chart = createChart(canvas, {
      autoSize: true,
      // From the start: its notice comes with an inline style, which this page forbids.
      layout: {
        attributionLogo: false,
        background: { type: ColorType.Solid, color: 'transparent' },
      },
      localization: { locale },
      // Not with the colours: a change of theme keeps the visible range.
      timeScale: { rightOffset: 4, barSpacing: BAR_SPACING },
    });
    const priceFormat = this.#priceFormat();
    this.#main = mainSeries(this.#chart, deps.style, priceFormat);
    this.#volume = this.#chart.addSeries(HistogramSeries, {
      priceScaleId: 'volume',
      priceFormat: { type: 'volume' },
      lastValueVisible: false,
      priceLineVisible: false,
    });
    this.#volume.priceScale().applyOptions({ scaleMargins: { top: 0.82, bottom: 0 } });
    this.#lines = new IndicatorLines(
      (pane) => this.#chart.addSeries(LineSeries, lineOptions(pane, priceFormat), pane),
      (series) => this.#chart.removeSeries(series),
    );
    this.#places = this.#chart.addSeries(LineSeries, {});
    this.#markers = createSeriesMarkers(this.#main, []);
    this.#chart.subscribeCrosshairMove((event) => this.#point(event));
    this.#listenToMoves();
    const { asset, resolution, kind } = deps;
    this.#key = `bars ${asset} ${resolution} ${kind}`;
    this.#live = followed(deps);
    const known = recall<Followed>(this.#key);
    if (known !== null) this.#endAge = showAged(known);
    this.#bars = known?.value ?? this.#live;
    this.#live.onError((error) => {
      this.#error = error;
      nextFrame(this.#refresh);
    });
    // After the frame has its new colours: they are read from the page.
    this.#ends = [theme, dollars].map((look) => onChange<unknown>(look, () => this.#draw()));
    this.#draw();
    // After the drawing, which listens too: lines and markers need the bars drawn.
    this.#live.onChange(() => {
      this.#catchUp();
      nextFrame(this.#refresh);
    });
    nextFrame(this.#refresh);
  }

  #listenToMoves(): void {
    this.#chart.timeScale().subscribeSizeChange(() => {
      this.#fitted = 0;
      nextFrame(this.#refresh);
    });
    const { signal } = this.#endMoves;
    const moved = () => {
      this.#isMoved = true;
    };
    for (const event of ['wheel', 'pointerdown']) {
      this.#deps.canvas.addEventListener(event, moved, { passive: true, signal });
    }
  }

  /** All numbers of the axis have one form: the form of its marks. */
  #priceFormat() {
    const written = (price: number, finer: number) =>
      axisMoney(axisNumber(axisValue(price), this.#form, finer));
    return {
      type: 'custom',
      minMove: LEAST_MOVE,
      formatter: (price: number) => written(price, FINER),
      tickmarksFormatter: (prices: readonly number[]) => {
        this.#form = formOf(prices.map(axisValue));
        return prices.map((price) => written(price, 0));
      },
    } as const;
  }

  times({ moment, mark }: ChartTimes): void {
    this.#chart.applyOptions({
      localization: { timeFormatter: (time: Time) => moment(Number(time)) },
      timeScale: { tickMarkFormatter: (time: Time, kind: number) => mark(Number(time), kind) },
    });
  }

  scale(scale: Scale): void {
    this.#main.priceScale().applyOptions({ mode: MODES[scale] });
  }

  indicators(names: readonly IndicatorName[], lengths: Lengths): void {
    this.#lines.choose(names, lengths);
    this.#update();
  }

  own(trades: readonly OwnTrade[]): void {
    this.#trades = trades;
    nextFrame(this.#refresh);
  }

  /** The price at which the curve graduates; null once it has. */
  graduation(line: { readonly price: number; readonly title: string } | null): void {
    if (line?.price === this.#graduation?.price) return;
    this.#graduation = line;
    this.#drawGraduation();
  }

  /** True for a key that moved the chart. */
  key(name: string): boolean {
    const scale = this.#chart.timeScale();
    const step = { ArrowLeft: -STEP_BARS, ArrowRight: STEP_BARS }[name];
    const zoom = { '+': 1.25, '-': 0.8 }[name];
    if (step !== undefined) scale.scrollToPosition(scale.scrollPosition() + step, false);
    else if (zoom !== undefined) {
      scale.applyOptions({ barSpacing: scale.options().barSpacing * zoom });
    } else if (name === 'Home') scale.fitContent();
    else if (name === 'End') scale.scrollToRealTime();
    else return false;
    this.#isMoved = true;
    return true;
  }

  close(): void {
    for (const end of this.#ends) end();
    this.#endMoves.abort();
    this.#endDrawing();
    cancelFrame(this.#refresh);
    this.#endAge();
    const { link, clock } = this.#deps.context;
    if (this.#live.isLoaded) keep(this.#key, this.#live, trueAtMs(link.peek(), clock.nowMs()));
    this.#live.close();
    this.#chart.remove();
  }

  #catchUp(): void {
    if (this.#bars === this.#live || !this.#live.isLoaded) return;
    this.#bars = this.#live;
    this.#endAge();
    this.#draw();
  }

  #draw(): void {
    this.#endDrawing();
    const colours = pageColours();
    this.#chart.applyOptions(chartTheme(colours));
    paint(this.#main, colours);
    const target = {
      candles: candlesOn(this.#main),
      volume: this.#volume,
      timeScale: this.#chart.timeScale(),
    };
    this.#endDrawing = this.#bars.draw(target, {
      upColor: colours.upBar,
      downColor: colours.downBar,
      onError: (error) =>
        this.#deps.context.notify('info', t.chart.olderBars({ why: errorText(error) })),
    });
    this.#lines.theme(colours.lines);
    this.#drawGraduation();
    nextFrame(this.#refresh);
  }

  #drawGraduation(): void {
    if (this.#priceLine !== null) this.#main.removePriceLine(this.#priceLine);
    this.#priceLine = null;
    if (this.#graduation === null) return;
    const { price, title } = this.#graduation;
    const [color = ''] = pageColours().lines;
    this.#priceLine = this.#main.createPriceLine({ price, title, color, lineStyle: 2 });
  }

  #point({ time }: MouseEventParams): void {
    this.#pointed = typeof time === 'number' ? time : null;
    nextFrame(this.#refresh);
  }

  #update(): void {
    const { isLoaded, state } = this.#bars;
    const { bars, standing } = state;
    if (isLoaded) {
      this.#fit(bars.length > 0 || standing === null ? bars : [standing]);
      this.#lines.draw(bars);
      this.#markers.setMarkers(markersOf(this.#trades, bars));
    }
    const newest = bars.at(-1) ?? standing;
    const bar = nearest(bars, this.#pointed) ?? newest;
    this.#deps.show({ isLoaded, count: bars.length, bar, newest, error: this.#error });
  }

  /** Full width from the first trade on, until the reader moves the chart. */
  #fit(bars: readonly AnyBar[]): void {
    const width = this.#chart.timeScale().width();
    const { length } = bars;
    if (this.#isMoved || length === this.#fitted || length === 0 || width === 0) return;
    this.#fitted = length;
    const seconds = shortestInterval(this.#deps.resolution) / 1000;
    const { each, places } = placesAmong(bars, width, seconds);
    if (places.length > 0 || this.#places.data().length > 0) {
      this.#places.setData(places.map((time) => ({ time: chartTime(time) })));
    }
    if (length * BAR_SPACING > width) return;
    this.#chart.timeScale().setVisibleLogicalRange({ from: -0.5, to: length * each });
  }
}

/** Options of an indicator's line; lines below the bars show no prices. */
function lineOptions(pane: number, priceFormat: PriceFormat) {
  return {
    lineWidth: 1,
    priceLineVisible: false,
    lastValueVisible: false,
    crosshairMarkerVisible: false,
    ...(pane === 0 ? { priceFormat } : {}),
  } as const;
}

function mainSeries(chart: IChartApi, style: BarStyle, priceFormat: PriceFormat): MainSeries {
  const options = { priceFormat };
  if (style === 'candles') return chart.addSeries(CandlestickSeries, options);
  return style === 'line'
    ? chart.addSeries(LineSeries, options)
    : chart.addSeries(AreaSeries, options);
}

function paint(series: MainSeries, colours: Colours): void {
  const { Candlestick, Line, Area } = seriesTheme(colours);
  if (isCandles(series)) series.applyOptions(Candlestick);
  else if (isLine(series)) series.applyOptions(Line);
  else series.applyOptions(Area);
}

/** Lines and areas draw the close of each bar. */
function candlesOn(series: MainSeries): DrawTarget['candles'] {
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

/** At the bar in which each trade lies; trades before the first bar are not drawn. */
function markersOf(
  trades: readonly OwnTrade[],
  bars: readonly { readonly time: number }[],
): SeriesMarker<Time>[] {
  if (trades.length === 0) return [];
  const { up, down } = pageColours();
  return trades.flatMap(({ time, isBuy, text }) => {
    const bar = bars.findLast((each) => each.time <= time);
    if (bar === undefined) return [];
    return [
      {
        // trust: the library's name for Unix seconds, which they are
        time: bar.time as Time,
        position: isBuy ? ('belowBar' as const) : ('aboveBar' as const),
        shape: isBuy ? ('arrowUp' as const) : ('arrowDown' as const),
        color: isBuy ? up : down,
        text: trades.length > MOST_NAMED ? '' : text,
      },
    ];
  });
}
