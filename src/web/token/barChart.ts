/** One chart of one pair, one interval, one kind; another choice is another one of these. */

import {
  CandlestickSeries,
  ColorType,
  createChart,
  HistogramSeries,
  type IChartApi,
  type ISeriesApi,
  type MouseEventParams,
} from 'lightweight-charts';
import { type DrawOptions, type DrawTarget, drawBars } from '../../client/datafeed/index.ts';
import type { ApiError, BarsMirror, BarsState, CapBar, PriceBar } from '../../client/index.ts';
import type { Resolution } from '../../client/types.ts';
import type { PageContext } from '../context.ts';
import { el, setAttribute } from '../dom.ts';
import { errorBox, errorText } from '../errorView.ts';
import { cut, moment } from '../format.ts';
import { cancelFrame, nextFrame } from '../frames.ts';
import { theme } from '../shell/theme.ts';
import { onChange } from '../signal.ts';

export type BarKind = 'price' | 'mcap';

interface BarChartDeps {
  readonly canvas: HTMLElement;
  readonly legend: HTMLElement;
  readonly note: HTMLElement;
  readonly context: PageContext;
  readonly asset: string;
  readonly resolution: Resolution;
  readonly kind: BarKind;
}

type AnyBar = PriceBar | CapBar;

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

const STEP_BARS = 5;
/** A billionth of a millionth of an ADA: smaller steps cannot be seen. */
const LEAST_MOVE = 1e-15;

export class BarChart {
  readonly #deps: BarChartDeps;
  readonly #chart: IChartApi;
  readonly #candles: ISeriesApi<'Candlestick'>;
  readonly #volume: ISeriesApi<'Histogram'>;
  readonly #bars: Followed;
  readonly #endTheme: () => void;
  #endDrawing: () => void = () => {};
  /** Time of the bar under the pointer; null: the newest one is explained. */
  #pointed: number | null = null;
  readonly #redrawLegend = () => this.#showLegend();

  constructor(deps: BarChartDeps) {
    this.#deps = deps;
    const { canvas, note } = deps;
    this.#chart = createChart(canvas, {
      autoSize: true,
      // From the start: its notice comes with an inline style, which this page forbids.
      layout: {
        attributionLogo: false,
        background: { type: ColorType.Solid, color: 'transparent' },
      },
      localization: { priceFormatter: axisNumber },
    });
    const priceFormat = { type: 'custom', formatter: axisNumber, minMove: LEAST_MOVE } as const;
    this.#candles = this.#chart.addSeries(CandlestickSeries, { priceFormat });
    this.#volume = this.#chart.addSeries(HistogramSeries, {
      priceScaleId: 'volume',
      priceFormat: { type: 'volume' },
      lastValueVisible: false,
      priceLineVisible: false,
    });
    this.#volume.priceScale().applyOptions({ scaleMargins: { top: 0.82, bottom: 0 } });
    this.#chart.subscribeCrosshairMove((event) => this.#point(event));
    note.replaceChildren('Loading…');
    this.#bars = followed(deps);
    this.#bars.onChange(() => nextFrame(this.#redrawLegend));
    this.#bars.onError((error) => note.replaceChildren(errorBox(error)));
    // After the frame has its new colours: they are read from the page.
    this.#endTheme = onChange(theme, () => this.#draw());
    this.#draw();
  }

  /** True for a key that moved the chart. */
  key(name: string): boolean {
    const scale = this.#chart.timeScale();
    const step = { ArrowLeft: -STEP_BARS, ArrowRight: STEP_BARS }[name];
    if (step !== undefined) scale.scrollToPosition(scale.scrollPosition() + step, false);
    else if (name === 'End') scale.scrollToRealTime();
    else return false;
    return true;
  }

  close(): void {
    this.#endTheme();
    this.#endDrawing();
    cancelFrame(this.#redrawLegend);
    this.#bars.close();
    this.#chart.remove();
  }

  #draw(): void {
    this.#endDrawing();
    const colours = pageColours();
    this.#chart.applyOptions(chartTheme(colours));
    this.#candles.applyOptions(candleTheme(colours));
    const target = {
      candles: this.#candles,
      volume: this.#volume,
      timeScale: this.#chart.timeScale(),
    };
    this.#endDrawing = this.#bars.draw(target, {
      upColor: colours.upBar,
      downColor: colours.downBar,
      onError: (error) => this.#deps.context.notify('info', `Older bars: ${errorText(error)}`),
    });
  }

  #point({ time }: MouseEventParams): void {
    this.#pointed = typeof time === 'number' ? time : null;
    nextFrame(this.#redrawLegend);
  }

  #showLegend(): void {
    const { legend, note, canvas } = this.#deps;
    const { isLoaded, state } = this.#bars;
    if (!isLoaded) return;
    const { bars, standing, isKnown } = state;
    const newest = bars.at(-1) ?? standing;
    const pointed = this.#pointed;
    const bar = pointed === null ? newest : (bars.find(({ time }) => time === pointed) ?? newest);
    legend.replaceChildren(...(bar === null ? [] : legendOf(bar)));
    note.replaceChildren(...(isKnown && bars.length > 0 ? [] : ['No trades yet.']));
    const words = newest === null ? '' : `: ${bars.length} bars, last close ${newest.close} ADA`;
    setAttribute(canvas, 'aria-label', `Candlesticks${words}`);
  }
}

function followed({ context, asset, resolution, kind }: BarChartDeps): Followed {
  const pair = { base: asset, quote: '.' };
  const { client } = context;
  return kind === 'price'
    ? followedOf(client.bars(pair, resolution))
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

/** The numbers of one bar, exactly as the API says them. */
function legendOf(bar: PriceBar | CapBar): readonly HTMLElement[] {
  const pair = (name: string, value: string, look = '') =>
    el('span', { class: look }, el('b', {}, name), value);
  const look = directionOf(bar);
  const volume = 'volume' in bar ? [pair('Vol', `${bar.volume} ₳`)] : [];
  return [
    pair('', moment(bar.time), 'dim'),
    pair('O', bar.open),
    pair('H', bar.high, 'high'),
    pair('L', bar.low, 'low'),
    pair('C', bar.close, look),
    ...volume,
    pair('Trades', String(bar.trades)),
    ...(bar.final ? [] : [pair('', 'open', 'dim')]),
  ];
}

/** Decimal strings compare by value: the longer whole part is the larger number. */
function directionOf({ open, close }: PriceBar | CapBar): '' | 'up' | 'down' {
  if (open === close) return '';
  const [openWhole = '', openRest = ''] = open.split('.');
  const [closeWhole = '', closeRest = ''] = close.split('.');
  if (openWhole.length !== closeWhole.length) {
    return closeWhole.length > openWhole.length ? 'up' : 'down';
  }
  return closeWhole + closeRest > openWhole + openRest ? 'up' : 'down';
}

/** How the chart looks: the colours of the page, which change with its theme. */
interface Colours {
  readonly text: string;
  readonly line: string;
  readonly up: string;
  readonly down: string;
  /** Of the volume. */
  readonly upBar: string;
  readonly downBar: string;
}

/** Computed, because a canvas knows no custom properties. */
function pageColours(): Colours {
  const probe = document.createElement('span');
  probe.hidden = true;
  document.body.append(probe);
  const colour = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const [text, line] = [colour('dim'), colour('line')];
  const [up, down, upBar, downBar] = [
    colour('up'),
    colour('down'),
    colour('up-bar'),
    colour('down-bar'),
  ];
  probe.remove();
  return { text, line, up, down, upBar, downBar };
}

/** Options of the chart, as far as they follow the theme. */
function chartTheme({ text, line }: Colours) {
  return {
    layout: { textColor: text, fontSize: 11 },
    grid: { vertLines: { color: line }, horzLines: { color: line } },
    rightPriceScale: { borderColor: line, scaleMargins: { top: 0.08, bottom: 0.24 } },
    timeScale: {
      borderColor: line,
      timeVisible: true,
      secondsVisible: false,
      rightOffset: 4,
      barSpacing: 9,
    },
  };
}

function candleTheme({ up, down }: Colours) {
  return {
    upColor: up,
    downColor: down,
    wickUpColor: up,
    wickDownColor: down,
    borderVisible: false,
  };
}

const SIGNIFICANT = 5;

/** For the axis, which has numbers only: no exponent, a few significant digits. */
function axisNumber(value: number): string {
  // The scale leaves room below the lowest price, which may reach under nothing.
  if (value < 0) return '';
  if (value === 0) return '0';
  const size = Math.floor(Math.log10(Math.abs(value)));
  const digits = Math.max(0, Math.min(18, SIGNIFICANT - 1 - size));
  return size >= 3 ? value.toFixed(0) : cut(value.toFixed(digits), digits);
}
