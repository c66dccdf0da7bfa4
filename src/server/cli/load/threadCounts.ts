/** Counts of one thread since they were taken last. */
import { type IntervalHistogram, monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { encodeIntoCompressedBase64, type Histogram } from 'hdr-histogram-js';
import {
  type CountsPart,
  count,
  newHistogram,
  noFaults,
  type RouteCounts,
  record,
  type Tally,
} from './counts.ts';
import type { StreamFault } from './streamCheck.ts';

interface Route {
  statuses: Tally;
  bytes: number;
  readonly latency: Histogram;
}

const NS_PER_MS = 1e6;
const RESOLUTION_MS = 10;
const P99 = 99;

export class ThreadCounts {
  open = 0;
  #sums = nothing();
  #faults = noFaults();
  #lost: Tally = {};
  #refused: Tally = {};
  readonly #frameLatency = newHistogram();
  readonly #openLatency = newHistogram();
  readonly #routes = new Map<string, Route>();
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  #used = performance.eventLoopUtilization();

  constructor() {
    this.#delay.enable();
  }

  bytes(more: number): void {
    this.#sums.bytes += more;
  }

  frame(): void {
    this.#sums.frames += 1;
  }

  frameAge(ms: number): void {
    record(this.#frameLatency, ms);
  }

  opened(afterMs: number): void {
    this.open += 1;
    this.#sums.opened += 1;
    record(this.#openLatency, afterMs);
  }

  lost(why: string): void {
    count(this.#lost, why);
  }

  refused(cause: string): void {
    count(this.#refused, cause);
  }

  resync(): void {
    this.#sums.resyncs += 1;
  }

  fault(fault: StreamFault): void {
    this.#faults[fault] += 1;
  }

  answer(route: string, status: string, bytes: number, ms: number | null): void {
    let known = this.#routes.get(route);
    if (known === undefined) {
      known = { statuses: {}, bytes: 0, latency: newHistogram() };
      this.#routes.set(route, known);
    }
    count(known.statuses, status);
    known.bytes += bytes;
    if (ms !== null) record(known.latency, ms);
  }

  take(): CountsPart {
    const used = performance.eventLoopUtilization(this.#used);
    this.#used = performance.eventLoopUtilization();
    const part = {
      ...this.#sums,
      ...{ open: this.open, lost: this.#lost, refused: this.#refused, faults: this.#faults },
      frameLatency: taken(this.#frameLatency),
      openLatency: taken(this.#openLatency),
      routes: Object.fromEntries([...this.#routes].map(([name, route]) => [name, takenOf(route)])),
      busy: used.utilization,
      // The monitor counts the time between its own timers.
      lateMs: Math.max(0, this.#delay.percentile(P99) / NS_PER_MS - RESOLUTION_MS),
    };
    this.#sums = nothing();
    this.#faults = noFaults();
    this.#lost = {};
    this.#refused = {};
    this.#delay.reset();
    return part;
  }
}

function nothing() {
  return { frames: 0, bytes: 0, opened: 0, resyncs: 0 };
}

function taken(histogram: Histogram): string {
  const encoded = encodeIntoCompressedBase64(histogram);
  histogram.reset();
  return encoded;
}

function takenOf(route: Route): RouteCounts {
  const { statuses, bytes } = route;
  route.statuses = {};
  route.bytes = 0;
  return { statuses, bytes, latency: taken(route.latency) };
}
