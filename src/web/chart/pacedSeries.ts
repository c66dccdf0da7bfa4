/**
 * A series that holds points back until the next redraw: each point is then drawn once, with its
 * last value.
 */
import type { ChartSeries } from '../../client/datafeed/index.ts';

export class PacedSeries<Point extends { readonly time: number }> implements ChartSeries<Point> {
  readonly #series: ChartSeries<Point>;
  readonly #ask: () => void;
  /** All points again; null: only those below. */
  #all: readonly Point[] | null = null;
  readonly #changed = new Map<number, Point>();
  /** Time of the newest point that was drawn. */
  #newest = Number.NEGATIVE_INFINITY;

  /** `ask` is called when there is something to flush. */
  constructor(series: ChartSeries<Point>, ask: () => void) {
    this.#series = series;
    this.#ask = ask;
  }

  setData(points: readonly Point[]): void {
    this.#all = points;
    this.#changed.clear();
    this.#ask();
  }

  update(point: Point): void {
    this.#changed.set(point.time, point);
    this.#ask();
  }

  flush(): void {
    if (this.#all !== null) {
      this.#series.setData([...this.#all]);
      this.#newest = this.#all.at(-1)?.time ?? Number.NEGATIVE_INFINITY;
    }
    const changed = [...this.#changed.values()].sort((a, b) => a.time - b.time);
    for (const point of changed) {
      this.#series.update(point, point.time < this.#newest);
      this.#newest = Math.max(this.#newest, point.time);
    }
    this.#all = null;
    this.#changed.clear();
  }
}
