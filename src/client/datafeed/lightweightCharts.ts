/**
 * Draws a mirror of bars on series of lightweight-charts: history as one scrolls, every change
 * live, and after a rollback exactly the bars that it changed.
 *
 * The library wants points in ascending order, each time once, and takes an older point only where
 * there is one. A change is drawn point by point where that is possible. Where bars were inserted
 * or removed, the whole series is set again, which keeps the view where it is.
 *
 * Source: typings of lightweight-charts 5, `ISeriesApi` and `ITimeScaleApi`, of which this needs no
 *         more than is written here.
 */

import { ApiError } from '../apiError.ts';
import type { Candle } from '../mirrors/barList.ts';
import type { BarsChange, BarsState } from '../mirrors/bars.ts';
import { type CandlePoint, candlePoint, chartTime, drawable, type VolumePoint } from './points.ts';

export interface ChartSeries<Point> {
  setData(points: Point[]): void;
  /** `isHistorical`: not the newest one; there is one at its time. */
  update(point: Point, isHistorical?: boolean): void;
}

export interface LogicalRange {
  /** Index of the first bar in view; negative where the view starts before it. */
  readonly from: number;
  readonly to: number;
}

export interface TimeScale {
  subscribeVisibleLogicalRangeChange(handler: (range: LogicalRange | null) => void): void;
  unsubscribeVisibleLogicalRangeChange(handler: (range: LogicalRange | null) => void): void;
}

/** A mirror of bars, as much of it as is drawn. */
export interface DrawnBars<B extends Candle> {
  readonly state: BarsState<B>;
  readonly isLoaded: boolean;
  onChange(listener: (state: BarsState<B>, change: BarsChange<B>) => void): () => void;
  loadOlder(count?: number): Promise<boolean>;
}

export interface DrawTarget {
  /** A candlestick or bar series. */
  readonly candles: ChartSeries<CandlePoint>;
  /** A histogram; bars of market caps have no volume and leave it empty. */
  readonly volume?: ChartSeries<VolumePoint>;
  /** The chart's time scale: older bars are loaded as one scrolls; without it they are not. */
  readonly timeScale?: TimeScale;
}

export interface DrawOptions {
  readonly upColor?: string;
  readonly downColor?: string;
  /** Older bars could not be loaded; the next scroll tries again. */
  readonly onError?: (error: ApiError) => void;
}

export interface Drawing {
  /** Leaves the series as they are, and the mirror alive. */
  close(): void;
}

/** Older bars are loaded when fewer than this many remain to the left of the view. */
const MARGIN_BARS = 50;

export function drawBars<B extends Candle>(
  mirror: DrawnBars<B>,
  target: DrawTarget,
  options: DrawOptions = {},
): Drawing {
  const painter = new Painter<B>(target, options);
  if (mirror.isLoaded) painter.all(mirror.state);
  const endChanges = mirror.onChange((state, change) => painter.paint(state, change));
  const endScroll =
    target.timeScale === undefined ? () => {} : loadOnScroll(mirror, target.timeScale, options);
  return {
    close() {
      endChanges();
      endScroll();
    },
  };
}

class Painter<B extends Candle> {
  readonly #target: DrawTarget;
  readonly #options: DrawOptions;
  /** The bars on the chart, oldest first. */
  #drawn: readonly B[] = [];

  constructor(target: DrawTarget, options: DrawOptions) {
    this.#target = target;
    this.#options = options;
  }

  all(state: BarsState<B>): void {
    this.#drawn = shownOf(state);
    this.#target.candles.setData(this.#drawn.map(candlePoint));
    this.#target.volume?.setData(this.#drawn.flatMap((bar) => this.#volumeOf(bar) ?? []));
  }

  paint(state: BarsState<B>, { reason, changed, removed }: BarsChange<B>): void {
    const isPiecemeal = reason === 'update' || reason === 'revised';
    const before = this.#drawn;
    const after = shownOf(state);
    const fits = () => removed.length === 0 && after === state.bars && isSameGrown(before, after);
    if (!isPiecemeal || !fits()) {
      this.all(state);
      return;
    }
    this.#drawn = after;
    const newest = before.at(-1)?.time ?? Number.NEGATIVE_INFINITY;
    for (const bar of changed) this.#one(bar, bar.time < newest);
  }

  #one(bar: B, isHistorical: boolean): void {
    const { candles, volume } = this.#target;
    candles.update(candlePoint(bar), isHistorical);
    const point = this.#volumeOf(bar);
    if (point !== null) volume?.update(point, isHistorical);
  }

  #volumeOf(bar: B): VolumePoint | null {
    if (!('volume' in bar) || typeof bar.volume !== 'string') return null;
    const { upColor, downColor } = this.#options;
    const isUp = drawable(bar.close) >= drawable(bar.open);
    const color = isUp ? upColor : downColor;
    const point = { time: chartTime(bar.time), value: drawable(bar.volume) };
    return color === undefined ? point : { ...point, color };
  }
}

/** A token without trades shows the flat bar of its launch. */
function shownOf<B extends Candle>({ bars, standing }: BarsState<B>): readonly B[] {
  return bars.length > 0 || standing === null ? bars : [standing];
}

/** Whether bars changed in their places or came after the last: none in between, none gone. */
function isSameGrown(before: readonly Candle[], after: readonly Candle[]): boolean {
  const last = before.length - 1;
  if (after.length < before.length || before.length === 0) return false;
  return before[0]?.time === after[0]?.time && before[last]?.time === after[last]?.time;
}

function loadOnScroll<B extends Candle>(
  mirror: DrawnBars<B>,
  timeScale: TimeScale,
  { onError }: DrawOptions,
): () => void {
  let [isLoading, isClosed] = [false, false];
  const load = async () => {
    isLoading = true;
    try {
      await mirror.loadOlder();
    } catch (error) {
      if (!isClosed && error instanceof ApiError) onError?.(error);
    } finally {
      isLoading = false;
    }
  };
  const handler = (range: LogicalRange | null) => {
    if (range === null || isLoading || range.from > MARGIN_BARS || !mirror.state.hasOlder) return;
    void load();
  };
  timeScale.subscribeVisibleLogicalRangeChange(handler);
  return () => {
    isClosed = true;
    timeScale.unsubscribeVisibleLogicalRangeChange(handler);
  };
}
