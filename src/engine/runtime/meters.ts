/** How metrics are made: counters, gauges and histograms of one registry, all with our prefix. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { LatencyHistogram } from './latencyHistogram.ts';

export function metersIn(registry: Registry) {
  const registers = [registry];
  return {
    /**
     * With the values of its labels, each of which counts from 0 at once: an alert on an increase
     * does not see the step from nothing to 1.
     */
    counter(name: string, help: string, values: LabelValues = {}) {
      const labelNames = Object.keys(values);
      const counter = new Counter({ name: `upcurve_${name}_total`, help, labelNames, registers });
      for (const labels of combined(values)) counter.inc(labels, 0);
      return counter;
    },
    gauge: (name: string, help: string) => new Gauge({ name: `upcurve_${name}`, help, registers }),
    /** Read at each scrape. */
    reading: (name: string, help: string, read: () => number) =>
      new Gauge({
        name: `upcurve_${name}`,
        help,
        registers,
        collect() {
          this.set(read());
        },
      }),
    /** The values of a label that are 1, read at each scrape. */
    flags: (name: string, help: string, label: string, read: () => readonly string[]) =>
      new Gauge({
        name: `upcurve_${name}`,
        help,
        labelNames: [label],
        registers,
        collect() {
          this.reset();
          for (const value of read()) this.set({ [label]: value }, 1);
        },
      }),
    histogram: <L extends string>(
      name: string,
      help: string,
      buckets: number[],
      labelNames: L[] = [],
    ) => new Histogram({ name: `upcurve_${name}`, help, buckets, labelNames, registers }),
    /** A histogram of seconds, for hot paths. */
    latency: (name: string, help: string, labelNames: string[], buckets = LATENCY_S) =>
      new LatencyHistogram({
        ...{ name: `upcurve_${name}`, help, labelNames, registers },
        buckets,
      }),
  };
}

export type Meters = ReturnType<typeof metersIn>;

type LabelValues = Readonly<Record<string, readonly string[]>>;

/** Each combination of values; none where a label has no value yet. */
function combined(values: LabelValues): Record<string, string>[] {
  return Object.entries(values).reduce<Record<string, string>[]>(
    (all, [label, own]) => all.flatMap((one) => own.map((value) => ({ ...one, [label]: value }))),
    [{}],
  );
}

export const LATENCY_S = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
export const DEPTHS = [1, 2, 3, 5, 10, 30, 100, 300, 1000, 2160];

/** The registry of metrics: one per app, never the global one, so that tests do not share it. */
export function createRegistry(): Registry {
  return new Registry();
}

/** Adds metrics of the process: CPU, memory, garbage collection, delay of the event loop. */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 10 });
}
