/**
 * A histogram of seconds for what happens a hundred thousand times a second. prom-client checks and
 * hashes the labels of each observation, which costs a seventh of a small HTTP answer; here a
 * series is found once, an observation is three additions, and the text is made at a scrape.
 */
import { Histogram, type HistogramConfiguration } from 'prom-client';

/** The labels of one series, with a value each. */
type Labels = Readonly<Record<string, string>>;

export class LatencySeries {
  readonly bounds: readonly number[];
  /** By bucket, not cumulative; the last one is of values above all bounds. */
  readonly counts: Float64Array;
  sumSeconds = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  add(seconds: number): void {
    const { bounds, counts } = this;
    let at = 0;
    while (at < bounds.length && seconds > (bounds[at] ?? 0)) at += 1;
    counts[at] = (counts[at] ?? 0) + 1;
    this.sumSeconds += seconds;
  }
}

/** One line of the exposition. */
interface Line {
  readonly metricName: string;
  readonly labels: { readonly le?: string | number };
  readonly sharedLabels: Labels;
  readonly value: number;
}

export class LatencyHistogram extends Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #series: { readonly labels: Labels; readonly of: LatencySeries }[] = [];

  constructor(configuration: HistogramConfiguration<string> & { readonly buckets: number[] }) {
    super(configuration);
    this.#name = configuration.name;
    this.#help = configuration.help;
    this.#bounds = configuration.buckets;
  }

  /** A new series: the caller keeps it, and asks once for each set of labels. */
  series(labels: Labels): LatencySeries {
    const of = new LatencySeries(this.#bounds);
    this.#series.push({ labels, of });
    return of;
  }

  /** A registry and `get` call this; the typings leave it out. */
  async getForPromString() {
    const values = this.#series.flatMap(({ labels, of }) => this.#lines(labels, of));
    return { name: this.#name, help: this.#help, type: 'histogram', aggregator: 'sum', values };
  }

  #lines(sharedLabels: Labels, { counts, sumSeconds }: LatencySeries): Line[] {
    const line = (suffix: string, labels: Line['labels'], value: number): Line => {
      return { metricName: `${this.#name}_${suffix}`, labels, sharedLabels, value };
    };
    const lines: Line[] = [];
    let total = 0;
    for (const [at, count] of counts.entries()) {
      total += count;
      lines.push(line('bucket', { le: this.#bounds[at] ?? '+Inf' }, total));
    }
    lines.push(line('sum', {}, sumSeconds), line('count', {}, total));
    return lines;
  }
}
