/**
 * The way of a trade from its line to a socket, sampled: how long each step took. One trade is
 * traced at a time, and not more often than every 50 ms, so what is not traced costs a comparison.
 *
 * Stops, in order: `read` (the line, or the block of a chain, was read), `appended` (its entry was
 * handed to the log), `synced` (the log has acknowledged it), `applied` (the fold has it),
 * `rendered` (the frames of the first stream that tells of it are made), `written` (the turn that
 * handed them to the sockets is over).
 */
import type { Clock } from './clock.ts';
import type { LatencySeries } from './latencyHistogram.ts';
import type { Meters } from './meters.ts';

const PATH_STOPS = ['read', 'appended', 'synced', 'applied', 'rendered', 'written'] as const;

type PathStop = (typeof PATH_STOPS)[number];

/**
 * Reports that entries up to `seq` have come to `stop`; `seq` is of no account for `read`. Between
 * `applied` and `rendered`: whether a stream tells of them; `unheard` ends the trace. True: one of
 * them is traced.
 */
export type PathObserver = (stop: PathStop | 'heard' | 'unheard', seq: number) => boolean;

const SAMPLE_MS = 50;
/** A trace that has not ended by then never will: its stream was closed, or its log changed. */
const LOST_MS = 10_000;
const LAST = PATH_STOPS.length - 1;
const APPLIED = PATH_STOPS.indexOf('applied');
const BOUNDS_S = [
  0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 5,
];

export function pathEvents(clock: Clock, { latency }: Meters) {
  const help = 'A sampled trade on its way to sockets: time since the stop before, and in all';
  const path = latency('trade_path_seconds', help, ['stop'], BOUNDS_S);
  const stops = [...PATH_STOPS.slice(1), 'whole'];
  return {
    entryAt: entryPath(
      clock,
      stops.map((stop) => path.series({ stop })),
    ),
  };
}

/** `series` is of each stop but `read`, in order, and of the whole way. */
function entryPath(clock: Clock, series: readonly LatencySeries[]): PathObserver {
  /** Index of the last stop of the trace; -1: there is none. */
  let at = -1;
  let [seq, startMs, stopMs, nextMs] = [0, 0, 0, Number.NEGATIVE_INFINITY];
  return (stop, its) => {
    if (stop === 'read') {
      const nowMs = clock.monotonicMs();
      if (at >= 0 ? nowMs < startMs + LOST_MS : nowMs < nextMs) return false;
      [at, startMs, stopMs, nextMs] = [0, nowMs, nowMs, nowMs + SAMPLE_MS];
      return true;
    }
    if (stop === 'heard' || stop === 'unheard') {
      const isTraced = at === APPLIED && its >= seq;
      if (isTraced && stop === 'unheard') at = -1;
      return isTraced;
    }
    if (at < 0 || stop !== PATH_STOPS[at + 1]) return false;
    if (stop === 'appended') seq = its;
    else if (its < seq) return false;
    const nowMs = clock.monotonicMs();
    series[at]?.add((nowMs - stopMs) / 1000);
    stopMs = nowMs;
    at += 1;
    if (at < LAST) return true;
    series[LAST]?.add((nowMs - startMs) / 1000);
    at = -1;
    return true;
  };
}
