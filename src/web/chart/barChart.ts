/**
 * One chart of one pair, one interval and one style; another choice creates a new chart. Scale,
 * notation and lines over the bars change in place.
 */

import {
  ColorType,
  createChart,
  createSeriesMarkers,
  type IChartApi,
  type ISeriesApi,
  type ISeriesMarkersPluginApi,
  type MouseEventParams,
  PriceScaleMode,
  type SeriesMarker,
  type Time,
} from 'lightweight-charts';
import type { CandlePoint, VolumePoint } from '../../client/datafeed/index.ts';
import type { ApiError, PriceBar } from '../../client/index.ts';
import type { PageContext } from '../context.ts';
import { errorText } from '../errorText.ts';
import { dollars } from '../fiat.ts';
import { frames } from '../frames.ts';
import { keep, recall, showAged } from '../kept.ts';
import { locale } from '../language.ts';
import { t } from '../messages.ts';
import { type Pace, paced } from '../pace.ts';
import { trueAtMs } from '../page.tsx';
import { theme } from '../shell/theme.tsx';
import { onChange } from '../signal.ts';
import { chartTheme, pageColours } from './chartTheme.ts';
import { type Drawn, type Followed, followed, keyOf } from './followedBars.ts';
import { IndicatorLines, type IndicatorName, type Lengths } from './indicators.ts';
import { PacedSeries } from './pacedSeries.ts';
import {
  axisFormat,
  candlesOn,
  lineSeries,
  type MainSeries,
  mainSeries,
  PANES,
  paint,
  volumeSeries,
} from './series.ts';
import type { BarStyle, Scale } from './settings.ts';
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
  readonly bar: PriceBar | null;
  readonly newest: PriceBar | null;
  readonly error: ApiError | null;
}

interface BarChartDeps {
  readonly canvas: HTMLElement;
  readonly context: PageContext;
  readonly drawn: Drawn;
  readonly style: BarStyle;
  /** Called at most once a redraw. */
  show(view: ChartView): void;
}

const STEP_BARS = 5;
/** Pixels between bars. A few bars get the second width, so that three bars do not become broad. */
const BAR_SPACING = 9;
const FEW_SPACING = { bars: 14, trades: 28 } as const;
/** Empty places after the newest bar. */
const RIGHT_OFFSET = 4;
/** Pixels before the first of a few bars: half of a marker's text ("Bought 44.3M"). */
const LEFT_ROOM = 44;
/** Own trades, at most, whose amounts are written: more would lie over each other. */
const MAX_NAMED = 8;

const MODES: Readonly<Record<Scale, PriceScaleMode>> = {
  normal: PriceScaleMode.Normal,
  log: PriceScaleMode.Logarithmic,
  percent: PriceScaleMode.Percentage,
};

export class BarChart {
  readonly #deps: BarChartDeps;
  readonly #chart: IChartApi;
  readonly #main: MainSeries;
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
  readonly #candles: PacedSeries<CandlePoint>;
  readonly #volumes: PacedSeries<VolumePoint>;
  readonly #pace: Pace;

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
      timeScale: { rightOffset: RIGHT_OFFSET, barSpacing: BAR_SPACING },
    });
    const isTrades = deps.drawn.resolution === 'trades';
    this.#main = mainSeries(this.#chart, deps.style, isTrades);
    this.#lines = new IndicatorLines(
      (name) => lineSeries(this.#chart, name === 'rsi' ? PANES.strength : PANES.bars),
      (series) => this.#chart.removeSeries(series),
    );
    this.#pace = paced(deps.context.clock, frames, () => this.#redraw());
    const ask = () => this.#pace.ask();
    this.#candles = new PacedSeries(candlesOn(this.#main), ask);
    this.#volumes = new PacedSeries<VolumePoint>(volumeSeries(this.#chart), ask);
    this.#markers = createSeriesMarkers(this.#main, []);
    this.#chart.subscribeCrosshairMove((event) => this.#point(event));
    this.#listenToMoves();
    this.#key = keyOf(deps.drawn);
    this.#live = followed(deps.context.client, deps.drawn);
    const known = recall<Followed>(this.#key);
    if (known !== null) this.#endAge = showAged(known);
    this.#bars = known?.value ?? this.#live;
    this.#live.onError((error) => {
      this.#error = error;
      this.#pace.ask();
    });
    // After the frame has its new colours: they are read from the page.
    this.#ends = [theme, dollars].map((look) => onChange<unknown>(look, () => this.#draw()));
    this.#draw();
    this.#live.onChange(() => {
      this.#catchUp();
      this.#pace.ask();
    });
  }

  #listenToMoves(): void {
    this.#chart.timeScale().subscribeSizeChange(() => {
      this.#fitted = 0;
      this.#pace.ask();
    });
    const { signal } = this.#endMoves;
    const moved = () => {
      this.#isMoved = true;
    };
    for (const event of ['wheel', 'pointerdown']) {
      this.#deps.canvas.addEventListener(event, moved, { passive: true, signal });
    }
  }

  times({ moment, mark }: ChartTimes): void {
    this.#chart.applyOptions({
      localization: { timeFormatter: (time: Time) => moment(Number(time)) },
      timeScale: { tickMarkFormatter: (time: Time, kind: number) => mark(Number(time), kind) },
    });
  }

  /** `factor`: 1 of a price, the supply of a market cap. */
  notation(factor: number, unit: string): void {
    this.#main.applyOptions({ priceFormat: axisFormat(factor, unit) });
  }

  scale(scale: Scale): void {
    this.#main.priceScale().applyOptions({ mode: MODES[scale] });
  }

  indicators(names: readonly IndicatorName[], lengths: Lengths): void {
    this.#lines.choose(names, lengths);
    this.#pace.ask();
  }

  own(trades: readonly OwnTrade[]): void {
    this.#trades = trades;
    this.#pace.ask();
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
    this.#pace.end();
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
      candles: this.#candles,
      volume: this.#volumes,
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
    this.#pace.ask();
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
    this.#pace.ask();
  }

  /** Lines and markers need the bars drawn. */
  #redraw(): void {
    this.#candles.flush();
    this.#volumes.flush();
    const { isLoaded, state } = this.#bars;
    const { bars, standing } = state;
    if (isLoaded) {
      this.#fit(bars.length > 0 || standing === null ? bars : [standing]);
      this.#lines.draw(bars);
      this.#markers.setMarkers(markersOf(this.#trades, bars));
    }
    const newest = bars.at(-1) ?? standing;
    const bar = bars.find(({ time }) => time === this.#pointed) ?? newest;
    this.#deps.show({ isLoaded, count: bars.length, bar, newest, error: this.#error });
  }

  /** Few bars begin at the left and grow to the right, until the reader moves the chart. */
  #fit({ length }: readonly PriceBar[]): void {
    const width = this.#chart.timeScale().width();
    if (this.#isMoved || length === this.#fitted || length === 0 || width === 0) return;
    this.#fitted = length;
    const room = (width - LEFT_ROOM) / (length + RIGHT_OFFSET);
    if (room < BAR_SPACING) return;
    const { resolution } = this.#deps.drawn;
    const few = FEW_SPACING[resolution === 'trades' ? 'trades' : 'bars'];
    const spacing = Math.min(few, room);
    const from = -LEFT_ROOM / spacing;
    this.#chart.timeScale().setVisibleLogicalRange({ from, to: from + width / spacing });
  }
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
        text: trades.length > MAX_NAMED ? '' : text,
      },
    ];
  });
}
