/** Counts of one thread of the load, sent to the main thread and added up there. */
import { build, decodeFromCompressedBase64, type Histogram } from 'hdr-histogram-js';
import { STREAM_FAULTS, type StreamFault } from './streamCheck.ts';

/** Microseconds; above it a value counts as the largest one. */
const LONGEST_US = 3_600_000_000;
const DIGITS = 2;
/** Most distinct causes, close codes and statuses: a server may make up any number of them. */
const MAX_NAMES = 100;

export type Tally = Record<string, number>;

export interface RouteCounts {
  /** By status; `error`: no answer. */
  readonly statuses: Tally;
  readonly bytes: number;
  /** Microseconds, encoded. */
  readonly latency: string;
}

/** Since the call before. */
export interface CountsPart {
  readonly frames: number;
  readonly bytes: number;
  readonly opened: number;
  /** Open now. */
  readonly open: number;
  /** Connections that ended and were not meant to, by close code or error. */
  readonly lost: Tally;
  /** Subscriptions, by cause. */
  readonly refused: Tally;
  readonly resyncs: number;
  readonly faults: Readonly<Record<StreamFault, number>>;
  /** From a frame's `ts` to its arrival, and from the start of a connection to its first frame. */
  readonly frameLatency: string;
  readonly openLatency: string;
  readonly routes: Readonly<Record<string, RouteCounts>>;
  /** Share of the time that the thread's event loop was busy, 0 to 1. */
  readonly busy: number;
  /** How late timers of the thread ran, p99. */
  readonly lateMs: number;
}

export function newHistogram(): Histogram {
  return build({
    highestTrackableValue: LONGEST_US,
    numberOfSignificantValueDigits: DIGITS,
    bitBucketSize: 32,
  });
}

export function record(histogram: Histogram, ms: number): void {
  histogram.recordValue(Math.min(LONGEST_US, Math.max(0, Math.round(ms * 1000))));
}

export function addEncoded(histogram: Histogram, encoded: string): void {
  histogram.add(decodeFromCompressedBase64(encoded, 32, false));
}

export function noFaults(): Record<StreamFault, number> {
  // trust: made of the names themselves
  return Object.fromEntries(STREAM_FAULTS.map((name) => [name, 0])) as Record<StreamFault, number>;
}

export function count(tally: Tally, name: string, more = 1): void {
  const known = Object.hasOwn(tally, name) || Object.keys(tally).length < MAX_NAMES;
  const key = known ? name : 'other';
  tally[key] = (tally[key] ?? 0) + more;
}

export function addTally(to: Tally, from: Tally): void {
  for (const [name, more] of Object.entries(from)) count(to, name, more);
}
