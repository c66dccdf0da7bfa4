/**
 * One chart of one pair, one interval, one kind and style; another choice is another one of these.
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
  PriceScaleMode,
  type SeriesMarker,
  type Time,
} from 'lightweight-charts';
import {
  type CandlePoint,
  type DrawOptions,
  type DrawTarget,
  drawBars,
} from '../../client/datafeed/index.ts';
import type { ApiError, BarsMirror, BarsState, CapBar, PriceBar } from '../../client/index.ts';
import type { Resolution } from '../../client/types.ts';
import type { PageContext } from '../context.ts';
import { errorText } from '../errorText.ts';
import { cancelFrame, nextFrame } from '../frames.ts';
import { theme } from '../shell/theme.tsx';
import { onChange } from '../signal.ts';
import { axisNumber, type Colours, chartTheme, pageColours, seriesTheme } from './chartTheme.ts';
import { IndicatorLines, type IndicatorName } from './indicators.ts';

export type BarKind = 'price' | 'mcap';
export type BarStyle = 'candles' | 'line' | 'area';
export type Scale = 'normal' | 'log' | 'percent';
export type AnyBar = PriceBar | CapBar;

/** An own trade; `time` in Unix seconds. */
export interface OwnTrade {
  readonly time: number;
  readonly isBuy: boolean;
  readonly text: string;
}

/** What is shown beside the canvas. */
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
  readonly resolution: Resolution;
  readonly kind: BarKind;
  readonly style: BarStyle;
  /** Called at most once a frame. */
  show(view: ChartView): void;
}

/** As much of a mirror as is used here, of either kind. */
interface Followed {
  readonly state: BarsState<AnyBar>;
  readonly isLoaded: boolean;
  onError(listener: (error: ApiError) => void): void;
  /** Draws it, in these colours, until the returned function is called. */
  draw(target: DrawTarget, options: DrawOptions): () => void;
  onChange(listener: () => void): void;
  close(): void;
}

type MainSeries = ISeriesApi<'Candlestick'> | ISeriesApi<'Line'> | ISeriesApi<'Area'>;

const STEP_BARS = 5;
/** A billionth of a millionth of an ADA: smaller steps cannot be seen. */
const LEAST_MOVE = 1e-15;
const BAR_SPACING = 9;
/** One bar alone fills half of the width. */
const LEAST_ACROSS = 2;
const PRICE_FORMAT = { type: 'custom', formatter: axisNumber, minMove: LEAST_MOVE } as const;

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
  readonly #lines: IndicatorLines<ISeriesApi<'Line'>>;
  readonly #markers: ISeriesMarkersPluginApi<Time>;
  readonly #bars: Followed;
  readonly #endTheme: () => void;
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
      localization: { priceFormatter: axisNumber },
    });
    this.#main = mainSeries(this.#chart, deps.style);
    this.#volume = this.#chart.addSeries(HistogramSeries, {
      priceScaleId: 'volume',
      priceFormat: { type: 'volume' },
      lastValueVisible: false,
      priceLineVisible: false,
    });
    this.#volume.priceScale().applyOptions({ scaleMargins: { top: 0.82, bottom: 0 } });
    this.#lines = new IndicatorLines(
      (pane) =>
        this.#chart.addSeries(
          LineSeries,
          {
            lineWidth: 1,
            priceLineVisible: false,
            lastValueVisible: false,
            crosshairMarkerVisible: false,
            ...(pane === 0 ? { priceFormat: PRICE_FORMAT } : {}),
          },
          pane,
        ),
      (series) => this.#chart.removeSeries(series),
    );
    this.#markers = createSeriesMarkers(this.#main, []);
    this.#chart.subscribeCrosshairMove((event) => this.#point(event));
    const { signal } = this.#endMoves;
    for (const event of ['wheel', 'pointerdown']) {
      const moved = () => {
        this.#isMoved = true;
      };
      canvas.addEventListener(event, moved, { passive: true, signal });
    }
    this.#bars = followed(deps);
    this.#bars.onError((error) => {
      this.#error = error;
      nextFrame(this.#refresh);
    });
    // After the frame has its new colours: they are read from the page.
    this.#endTheme = onChange(theme, () => this.#draw());
    this.#draw();
    // After the drawing, which listens too: lines and markers need the bars drawn.
    this.#bars.onChange(() => nextFrame(this.#refresh));
    nextFrame(this.#refresh);
  }

  scale(scale: Scale): void {
    this.#main.priceScale().applyOptions({ mode: MODES[scale] });
  }

  indicators(names: readonly IndicatorName[]): void {
    this.#lines.choose(names);
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
    this.#endTheme();
    this.#endMoves.abort();
    this.#endDrawing();
    cancelFrame(this.#refresh);
    this.#bars.close();
    this.#chart.remove();
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
      onError: (error) => this.#deps.context.notify('info', `Older bars: ${errorText(error)}`),
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
    const [color] = pageColours().lines;
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
      this.#fit(bars.length);
      this.#lines.draw(bars);
      this.#markers.setMarkers(markersOf(this.#trades, bars));
    }
    const newest = bars.at(-1) ?? standing;
    const bar = bars.find(({ time }) => time === this.#pointed) ?? newest;
    this.#deps.show({ isLoaded, count: bars.length, bar, newest, error: this.#error });
  }

  /** Full width from the first trade on, until the reader moves the chart. */
  #fit(count: number): void {
    const width = this.#chart.timeScale().width();
    if (this.#isMoved || count === this.#fitted || width === 0) return;
    this.#fitted = count;
    if (count * BAR_SPACING > width) return;
    const across = Math.max(count, LEAST_ACROSS);
    this.#chart.timeScale().setVisibleLogicalRange({ from: count - across - 0.5, to: count });
  }
}

function mainSeries(chart: IChartApi, style: BarStyle): MainSeries {
  const options = { priceFormat: PRICE_FORMAT };
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
        text,
      },
    ];
  });
}

function followed({ context, asset, resolution, kind }: BarChartDeps): Followed {
  const pair = { base: asset, quote: '.' };
  const { client } = context;
  return kind === 'price'
    ? followedOf(client.bars(pair, resolution, { price: 'spot' }))
    : followedOf(client.bars(pair, resolution, { kind }));
}

function followedOf<B extends AnyBar>(mirror: BarsMirror<B>): Followed {
  return {
    get state() {
      return mirror.state;
    },
    get isLoaded() {
      return mirror.isLoaded;
    },
    onError: (listener) => mirror.onError(listener),
    onChange: (listener) => mirror.onChange(listener),
    draw: (target, options) => drawBars(mirror, target, options).close,
    close: () => mirror.close(),
  };
}
