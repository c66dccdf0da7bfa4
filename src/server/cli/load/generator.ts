/**
 * Whether the load generator was itself the limit: then its numbers say nothing about the server.
 * Each reason names what to change.
 */
import type { Scenario } from './scenario.ts';
import { sumOf, type Totals } from './totals.ts';

/** A thread this busy waits for itself; timers this late move what is measured with them. */
const BUSY_SHARE = 0.85;
const LATE_MS = 50;
/** Of the intervals: one alone may be a garbage collection. */
const BUSY_INTERVALS = 0.2;
/** A rate that was not reached although the threads had time: the connections are too few. */
const REACHED_SHARE = 0.9;
const OWN_ERRORS = /EMFILE|ENFILE|EADDRNOTAVAIL|ENOBUFS/;

/** Empty: it was not. `measuredSeconds`: of the requests. */
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
