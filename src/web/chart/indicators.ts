/**
 * Lines over candlesticks, as traders know them. Floating point, because they are drawn and never
 * traded on. The library takes bars one after the other, and the newest one again when it moves.
 */
import { BollingerBands, EMA, RSI, SMA } from 'trading-signals';
import { type ChartTime, chartTime } from '../../client/datafeed/points.ts';

export const INDICATORS = ['ma', 'ma2', 'ema', 'ema2', 'bollinger', 'vwap', 'rsi'] as const;
export type IndicatorName = (typeof INDICATORS)[number];

/** Indicators that look back over a number of bars, which the reader chooses. */
export const MEASURED = ['ma', 'ma2', 'ema', 'ema2', 'bollinger', 'rsi'] as const;
export type Lengths = Readonly<Record<(typeof MEASURED)[number], number>>;
export const FIRST_LENGTHS: Lengths = {
  ...{ ma: 20, ma2: 50, ema: 20, ema2: 50 },
  ...{ bollinger: 20, rsi: 14 },
};
export const MIN_LENGTH = 2;
export const MAX_LENGTH = 500;
const BAND_WIDTH = 2;

export function isLength(length: unknown): length is number {
  return Number.isInteger(length) && Number(length) >= MIN_LENGTH && Number(length) <= MAX_LENGTH;
}

/** A bar of the client; bars of market caps have no volume. */
export interface ExactBar {
  /** Unix seconds. */
  readonly time: number;
  readonly close: string;
  readonly volume?: string;
  readonly baseVolume?: string;
}

/** A value for each of its lines; null while there are not enough bars. `isAgain`: it has moved. */
type Study = (bar: ExactBar, isAgain: boolean) => readonly (number | null)[];

export function studyOf(name: IndicatorName, lengths: Lengths): Study {
  if (name === 'vwap') return dayPrice();
  const length = lengths[name];
  if (name === 'bollinger') {
    const bands = new BollingerBands(length, BAND_WIDTH);
    return ({ close }, isAgain) => {
      const {
        upper = null,
        middle = null,
        lower = null,
      } = bands.update(Number(close), isAgain) ?? {};
      return [upper, middle, lower];
    };
  }
  const line = new { ma: SMA, ma2: SMA, ema: EMA, ema2: EMA, rsi: RSI }[name](length);
  return ({ close }, isAgain) => {
    line.update(Number(close), isAgain);
    return [line.getResult()];
  };
}

const DAY = 86_400;

/**
 * Volume weighted average price since the start of the UTC day. Not the library's, which weighs the
 * middle of each bar: bars state exactly the coins paid and the tokens received.
 */
function dayPrice(): Study {
  let before = { day: Number.NaN, quote: 0, base: 0 };
  let now = before;
  return ({ time, volume = '0', baseVolume = '0' }, isAgain) => {
    if (!isAgain) before = now;
    const day = Math.floor(time / DAY);
    const [quote, base] = before.day === day ? [before.quote, before.base] : [0, 0];
    now = { day, quote: quote + Number(volume), base: base + Number(baseVolume) };
    return [now.base === 0 ? null : now.quote / now.base];
  };
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
  readonly #add: (name: IndicatorName) => S;
  readonly #remove: (series: S) => void;
  readonly #series = new Map<IndicatorName, readonly S[]>();
  #studies: ReadonlyMap<IndicatorName, Study> = new Map();
  #lengths: Lengths = FIRST_LENGTHS;
  #colours: readonly string[] = [];
  /** Where bars were added or the newest one moved, only that is drawn: none changes in place. */
  #drawn: readonly ExactBar[] = [];

  constructor(add: (name: IndicatorName) => S, remove: (series: S) => void) {
    this.#add = add;
    this.#remove = remove;
  }

  choose(names: readonly IndicatorName[], lengths: Lengths): void {
    this.#lengths = lengths;
    for (const [name, series] of this.#series) {
      if (names.includes(name)) continue;
      for (const each of series) this.#remove(each);
      this.#series.delete(name);
    }
    for (const name of names) {
      if (this.#series.has(name)) continue;
      const count = name === 'bollinger' ? 3 : 1;
      const series = Array.from({ length: count }, () => this.#add(name));
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

  draw(bars: readonly ExactBar[]): void {
    if (this.#series.size === 0) return;
    const before = this.#drawn;
    this.#drawn = bars;
    const last = before.length - 1;
    const isContinued =
      last >= 0 &&
      bars[last]?.time === before[last]?.time &&
      before.every((bar, at) => at === last || bar === bars[at]);
    if (isContinued) this.#continue(bars.slice(last));
    else this.#begin(bars);
  }

  #begin(bars: readonly ExactBar[]): void {
    const names = [...this.#series.keys()];
    this.#studies = new Map(names.map((name) => [name, studyOf(name, this.#lengths)]));
    for (const [name, study] of this.#studies) {
      const values = bars.map((bar) => study(bar, false));
      for (const [index, series] of this.#series.get(name)?.entries() ?? []) {
        series.setData(bars.map(({ time }, at) => pointOf(time, values[at]?.[index])));
      }
    }
  }

  /** The first of these bars is the newest bar that was drawn. */
  #continue(bars: readonly ExactBar[]): void {
    for (const [at, bar] of bars.entries()) {
      for (const [name, study] of this.#studies) {
        const values = study(bar, at === 0);
        for (const [index, series] of this.#series.get(name)?.entries() ?? []) {
          series.update(pointOf(bar.time, values[index]));
        }
      }
    }
  }
}

function pointOf(time: number, value: number | null | undefined): LinePoint {
  return typeof value === 'number' ? { time: chartTime(time), value } : { time: chartTime(time) };
}
