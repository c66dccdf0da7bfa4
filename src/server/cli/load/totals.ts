/** Counts of all threads, added up, in total and second by second. */
import type { Histogram } from 'hdr-histogram-js';
import {
  addEncoded,
  addTally,
  type CountsPart,
  newHistogram,
  noFaults,
  type Tally,
} from './counts.ts';
import type { Scenario } from './scenario.ts';
import { STREAM_FAULTS, type StreamFault } from './streamCheck.ts';

/** One interval of about a second. */
export interface Sample {
  /** Since the start, in seconds. */
  readonly at: number;
  readonly open: number;
  readonly framesPerSecond: number;
  readonly bytesPerSecond: number;
  readonly requestsPerSecond: number;
  /** Milliseconds; null: nothing arrived. */
  readonly frameP50: number | null;
  readonly frameP99: number | null;
  readonly requestP50: number | null;
  readonly requestP99: number | null;
  /** CPU time of the server in percent of one core; null: unknown. */
  readonly serverCpu: number | null;
  /** The busiest thread of the load, in percent. */
  readonly generatorBusy: number;
}

interface RouteTotal {
  readonly statuses: Tally;
  bytes: number;
  readonly latency: Histogram;
}

const US_PER_MS = 1000;
const MS_PER_S = 1000;

interface Interval {
  readonly atMs: number;
  readonly lengthMs: number;
  readonly serverCpu: number | null;
  /** Behind the ramp. */
  readonly isMeasured: boolean;
}

export class Totals {
  frames = 0;
  bytes = 0;
  opened = 0;
  open = 0;
  resyncs = 0;
  /** Use of the busiest thread, in each interval after the ramp. */
  readonly busy: number[] = [];
  lateMs = 0;
  readonly lost: Tally = {};
  readonly refused: Tally = {};
  readonly faults: Record<StreamFault, number> = noFaults();
  readonly frameLatency = newHistogram();
  readonly openLatency = newHistogram();
  readonly routes = new Map<string, RouteTotal>();
  readonly samples: Sample[] = [];

  get faultCount(): number {
    return STREAM_FAULTS.reduce((sum, name) => sum + this.faults[name], 0);
  }

  get requests(): number {
    return [...this.routes.values()].reduce((sum, { statuses }) => sum + sumOf(statuses), 0);
  }

  /** `parts`: counts of each thread in one interval, which ended `atMs` after the start. */
  add(parts: readonly CountsPart[], { atMs, lengthMs, serverCpu, isMeasured }: Interval): void {
    const frames = newHistogram();
    const requests = newHistogram();
    const before = { frames: this.frames, bytes: this.bytes, requests: this.requests };
    this.open = 0;
    for (const part of parts) this.#addPart(part, frames, requests);
    this.frameLatency.add(frames);
    const busy = Math.max(0, ...parts.map((part) => part.busy));
    // Opening connections is work of the generator that ends with the ramp.
    if (isMeasured) {
      this.busy.push(busy);
      this.lateMs = Math.max(this.lateMs, ...parts.map((part) => part.lateMs));
    }
    const perSecond = (count: number) => Math.round((count * MS_PER_S) / lengthMs);
    this.samples.push({
      at: Math.round(atMs / 100) / 10,
      open: this.open,
      framesPerSecond: perSecond(this.frames - before.frames),
      bytesPerSecond: perSecond(this.bytes - before.bytes),
      requestsPerSecond: perSecond(this.requests - before.requests),
      frameP50: percentileMs(frames, 50),
      frameP99: percentileMs(frames, 99),
      requestP50: percentileMs(requests, 50),
      requestP99: percentileMs(requests, 99),
      serverCpu,
      generatorBusy: Math.round(busy * 100),
    });
  }

  #addPart(part: CountsPart, frames: Histogram, requests: Histogram): void {
    this.frames += part.frames;
    this.bytes += part.bytes;
    this.opened += part.opened;
    this.open += part.open;
    this.resyncs += part.resyncs;
    addTally(this.lost, part.lost);
    addTally(this.refused, part.refused);
    for (const name of STREAM_FAULTS) this.faults[name] += part.faults[name];
    addEncoded(frames, part.frameLatency);
    addEncoded(this.openLatency, part.openLatency);
    for (const [name, { statuses, bytes, latency }] of Object.entries(part.routes)) {
      const route = this.routes.get(name) ?? { statuses: {}, bytes: 0, latency: newHistogram() };
      this.routes.set(name, route);
      addTally(route.statuses, statuses);
      route.bytes += bytes;
      addEncoded(route.latency, latency);
      addEncoded(requests, latency);
    }
  }
}

export function sumOf(tally: Tally): number {
  return Object.values(tally).reduce((sum, each) => sum + each, 0);
}

/** Milliseconds; null without a value. */
export function percentileMs(histogram: Histogram, percentile: number): number | null {
  if (histogram.totalCount === 0) return null;
  return histogram.getValueAtPercentile(percentile) / US_PER_MS;
}

export interface Bucket {
  /** Values up to this many milliseconds, beyond the bucket before. */
  readonly upToMs: number;
  readonly count: number;
}

const FIRST_MS = 0.25;

/** Counts in buckets that double, from a quarter of a millisecond to the longest value. */
export function bucketsOf(histogram: Histogram): Bucket[] {
  const buckets: Bucket[] = [];
  if (histogram.totalCount === 0) return buckets;
  const longestMs = histogram.maxValue / US_PER_MS;
  let below = 0;
  for (let upToMs = FIRST_MS; ; upToMs *= 2) {
    const total = countUpTo(histogram, upToMs * US_PER_MS);
    buckets.push({ upToMs, count: total - below });
    below = total;
    if (upToMs >= longestMs) return buckets;
  }
}

/** The histogram tells the value of a share; the share of a value is found by halving. */
function countUpTo(histogram: Histogram, us: number): number {
  const all = histogram.totalCount;
  let [least, most] = [0, all];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (histogram.getValueAtPercentile((middle / all) * 100) <= us) least = middle;
    else most = middle - 1;
  }
  return least;
}

/** A thread this busy waits for itself; if timers are this late, the measured times are wrong. */
const BUSY_SHARE = 0.85;
const LATE_MS = 50;
/** Share of busy intervals, because one alone may be a garbage collection. */
const BUSY_INTERVALS = 0.2;
/** A rate that was not reached although the threads had time: the connections are too few. */
const REACHED_SHARE = 0.9;
const OWN_ERRORS = /EMFILE|ENFILE|EADDRNOTAVAIL|ENOBUFS/;

/**
 * Whether the load generator was itself the limit: then its numbers say nothing about the server.
 * Each reason names what to change; empty: it was not. `measuredSeconds`: of the requests.
 */
export function generatorLimits(
  totals: Totals,
  { threads, requests }: Scenario,
  measuredSeconds: number,
): string[] {
  const found: string[] = [];
  const busy = totals.busy.filter((share) => share >= BUSY_SHARE).length;
  if (busy > totals.busy.length * BUSY_INTERVALS) {
    found.push(
      `a thread was more than ${BUSY_SHARE * 100} % busy in ${busy} of ${totals.busy.length} ` +
        `intervals: use more than ${threads} threads, fewer sockets, or another machine`,
    );
  }
  if (totals.lateMs > LATE_MS) {
    const late = Math.round(totals.lateMs);
    found.push(
      `timers of a thread ran up to ${late} ms late (p99 of an interval): latencies include it`,
    );
  }
  const own = Object.keys(totals.lost).filter((why) => OWN_ERRORS.test(why));
  if (own.length > 0) found.push(`this machine refused connections (${own.join('; ')}): ulimit -n`);
  const wanted = requests.reduce((sum, { perSecond }) => sum + perSecond, 0);
  const reached = totals.requests / Math.max(1, measuredSeconds);
  if (wanted > 0 && reached < wanted * REACHED_SHARE && found.length === 0) {
    const failed = [...totals.routes.values()].reduce(
      (sum, { statuses }) => sum + sumOf(statuses) - (statuses['200'] ?? 0),
      0,
    );
    found.push(
      `${Math.round(reached)} of ${wanted} requests a second were sent, of which ${failed} ` +
        'failed: each connection waits for its answer; give the routes more connections',
    );
  }
  return found;
}
