/**
 * Lines over candlesticks, as traders know them. Floating point, because they are drawn and never
 * traded on. Each answers one value for each bar; null where there are not enough bars before it.
 */
import { type ChartTime, chartTime } from '../../client/datafeed/points.ts';

export interface Bar {
  /** Unix seconds. */
  readonly time: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  /** What was paid, in the quote; 0 without trades. */
  readonly quote: number;
  /** What was bought and sold, in the base. */
  readonly base: number;
}

type Line = readonly (number | null)[];

/** Moving average of the last `length` closes. */
export function movingAverage(bars: readonly Bar[], length: number): Line {
  let sum = 0;
  return bars.map(({ close }, index) => {
    sum += close - (bars[index - length]?.close ?? 0);
    return index < length - 1 ? null : sum / length;
  });
}

/** Exponential moving average: begins at the plain average, then moves by 2 / (length + 1). */
export function exponentialAverage(bars: readonly Bar[], length: number): Line {
  const weight = 2 / (length + 1);
  const plain = movingAverage(bars, length);
  let before: number | null = null;
  return bars.map(({ close }, index) => {
    before = before === null ? (plain[index] ?? null) : before + weight * (close - before);
    return before;
  });
}

export interface Bands {
  readonly upper: Line;
  readonly middle: Line;
  readonly lower: Line;
}

/** Bollinger bands: the average, and `width` standard deviations of its closes around it. */
export function bollingerBands(bars: readonly Bar[], length: number, width: number): Bands {
  const middle = movingAverage(bars, length);
  const deviations = middle.map((mean, index) => {
    if (mean === null) return null;
    const closes = bars.slice(index + 1 - length, index + 1);
    const squares = closes.reduce((sum, { close }) => sum + (close - mean) ** 2, 0);
    return Math.sqrt(squares / length);
  });
  const away = (side: number) =>
    middle.map((mean, index) => {
      const deviation = deviations[index] ?? null;
      return mean === null || deviation === null ? null : mean + side * width * deviation;
    });
  return { upper: away(1), middle, lower: away(-1) };
}

const DAY = 86_400;

/** Volume weighted average price since the start of the UTC day: what was paid for all tokens. */
export function volumeWeightedPrice(bars: readonly Bar[]): Line {
  let [day, quote, base] = [Number.NaN, 0, 0];
  return bars.map((bar) => {
    const today = Math.floor(bar.time / DAY);
    if (today !== day) [day, quote, base] = [today, 0, 0];
    quote += bar.quote;
    base += bar.base;
    return base === 0 ? null : quote / base;
  });
}

/** Relative strength index after Wilder: 0 where all closes fell, 100 where all rose. */
export function relativeStrength(bars: readonly Bar[], length: number): Line {
  let [gain, loss] = [0, 0];
  return bars.map(({ close }, index) => {
    const before = bars[index - 1];
    if (before === undefined) return null;
    const [up, down] = [Math.max(0, close - before.close), Math.max(0, before.close - close)];
    if (index <= length) {
      gain += up / length;
      loss += down / length;
      if (index < length) return null;
    } else {
      gain = (gain * (length - 1) + up) / length;
      loss = (loss * (length - 1) + down) / length;
    }
    if (gain + loss === 0) return 50;
    return (100 * gain) / (gain + loss);
  });
}

export const INDICATORS = ['ma', 'ema', 'bollinger', 'vwap', 'rsi'] as const;
export type IndicatorName = (typeof INDICATORS)[number];

const LENGTH = 20;
const RSI_LENGTH = 14;
const BAND_WIDTH = 2;

/** A bar of the client; those of market caps have no volume. */
export interface ExactBar {
  readonly time: number;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly volume?: string;
  readonly baseVolume?: string;
}

function linesOf(name: IndicatorName, bars: readonly Bar[]): readonly Line[] {
  if (name === 'ma') return [movingAverage(bars, LENGTH)];
  if (name === 'ema') return [exponentialAverage(bars, LENGTH)];
  if (name === 'vwap') return [volumeWeightedPrice(bars)];
  if (name === 'rsi') return [relativeStrength(bars, RSI_LENGTH)];
  const { upper, middle, lower } = bollingerBands(bars, LENGTH, BAND_WIDTH);
  return [upper, middle, lower];
}

type LinePoint = { time: ChartTime; value: number } | { time: ChartTime };

/** A line series of the chart library, as much of it as is used. */
interface LineSeries {
  setData(points: LinePoint[]): void;
  update(point: LinePoint): void;
  applyOptions(options: { color: string }): void;
}

/** The lines that were chosen, drawn over the bars; the strength index has a pane below them. */
export class IndicatorLines<S extends LineSeries> {
  readonly #add: (pane: number) => S;
  readonly #remove: (series: S) => void;
  readonly #series = new Map<IndicatorName, readonly S[]>();
  #colours: readonly string[] = [];
  /** Where only the newest bar moved, only that is drawn: bars are never changed in place. */
  #drawn: readonly ExactBar[] = [];

  constructor(add: (pane: number) => S, remove: (series: S) => void) {
    this.#add = add;
    this.#remove = remove;
  }

  choose(names: readonly IndicatorName[]): void {
    for (const [name, series] of this.#series) {
      if (names.includes(name)) continue;
      for (const each of series) this.#remove(each);
      this.#series.delete(name);
    }
    for (const name of names) {
      if (this.#series.has(name)) continue;
      const count = name === 'bollinger' ? 3 : 1;
      const series = Array.from({ length: count }, () => this.#add(name === 'rsi' ? 1 : 0));
      this.#series.set(name, series);
    }
    this.#drawn = [];
    this.theme(this.#colours);
  }

  /** In the order of `INDICATORS`. */
  theme(colours: readonly string[]): void {
    this.#colours = colours;
    for (const [name, series] of this.#series) {
      const color = colours[INDICATORS.indexOf(name)];
      if (color !== undefined) for (const each of series) each.applyOptions({ color });
    }
  }

  draw(exact: readonly ExactBar[]): void {
    if (this.#series.size === 0) return;
    const bars = exact.map(barOf);
    const last = bars.length - 1;
    const before = this.#drawn;
    const isMoved =
      before.length === exact.length &&
      before[last]?.time === exact[last]?.time &&
      before.every((bar, at) => at === last || bar === exact[at]);
    this.#drawn = exact;
    for (const [name, series] of this.#series) {
      for (const [index, line] of linesOf(name, bars).entries()) {
        const points = line.map((value, at) => pointOf(bars[at]?.time ?? 0, value));
        const newest = points[last];
        if (isMoved && newest !== undefined) series[index]?.update(newest);
        else series[index]?.setData(points);
      }
    }
  }
}

function pointOf(time: number, value: number | null): LinePoint {
  return value === null ? { time: chartTime(time) } : { time: chartTime(time), value };
}

function barOf({ time, high, low, close, volume = '0', baseVolume = '0' }: ExactBar): Bar {
  const [top, bottom, last] = [Number(high), Number(low), Number(close)];
  return {
    time,
    high: top,
    low: bottom,
    close: last,
    quote: Number(volume),
    base: Number(baseVolume),
  };
}
