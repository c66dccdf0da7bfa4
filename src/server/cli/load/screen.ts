/** The load as lines of text: a histogram of latencies, rates, faults. */
import type { Histogram } from 'hdr-histogram-js';
import { grouped } from '../../../web/format.ts';
import { STREAM_FAULTS } from './streamCheck.ts';
import { bucketsOf, percentileMs, sumOf, type Totals } from './totals.ts';

const BAR_COLUMNS = 40;
const PERCENTILES = [50, 90, 99, 99.9] as const;
const KIB = 1024;

/** While it runs. `title`: what runs, and how long it still does. */
export function liveLines(title: string, totals: Totals): string[] {
  const last = totals.samples.at(-1);
  const cpu = last?.serverCpu ?? null;
  const rates =
    last === undefined
      ? 'connecting'
      : `${number(last.open)} open, ${number(last.framesPerSecond)} frames/s, ` +
        `${bytesText(last.bytesPerSecond)}/s, ${number(last.requestsPerSecond)} requests/s, ` +
        `server ${cpu === null ? 'CPU unknown' : `${cpu} % of a core`}, ` +
        `load ${last.generatorBusy} % busy`;
  return [title, rates, '', ...histogramLines(totals), ...faultLines(totals)];
}

function histogramLines(totals: Totals): string[] {
  const routes = [...totals.routes].filter(([, { latency }]) => latency.totalCount > 0);
  return [
    ...bars('frames, from the server to here', totals.frameLatency),
    ...routes.flatMap(([name, { latency }]) => bars(name, latency)),
  ];
}

function bars(name: string, histogram: Histogram): string[] {
  if (histogram.totalCount === 0) return [`${name}: nothing yet`, ''];
  const buckets = bucketsOf(histogram);
  const most = Math.max(...buckets.map(({ count }) => count));
  const first = buckets.findIndex(({ count }) => count > 0);
  const rows = buckets.slice(first).map(({ upToMs, count }) => {
    const bar = '█'.repeat(Math.ceil((count / most) * BAR_COLUMNS));
    return `${`≤ ${upToMs} ms`.padStart(12)} ${bar.padEnd(BAR_COLUMNS)} ${number(count)}`;
  });
  return [`${name}: ${percentilesText(histogram)}`, ...rows, ''];
}

/** Also for the summary: `p50 1.2 ms, …`. */
function percentilesText(histogram: Histogram): string {
  return PERCENTILES.map((each) => `p${each} ${msText(percentileMs(histogram, each))}`).join(', ');
}

function faultLines({ faults, resyncs, lost, refused }: Totals): string[] {
  const found = STREAM_FAULTS.map((name) => `${name} ${faults[name]}`).join(', ');
  const others = [
    ...Object.entries(lost).map(([why, times]) => `lost ${times} × ${why}`),
    ...Object.entries(refused).map(([why, times]) => `refused ${times} × ${why}`),
    ...(resyncs === 0 ? [] : [`told to load again ${resyncs} ×`]),
  ];
  return [`faults: ${found}`, ...others];
}

/** At the end. */
export function summaryLines(totals: Totals, limits: readonly string[]): string[] {
  const { frames, bytes, opened, openLatency } = totals;
  return [
    `${number(frames)} frames, ${bytesText(bytes)}; ` +
      `${number(opened)} connections (${percentilesText(openLatency)})`,
    ...[...totals.routes].map(([name, { statuses, bytes: sent }]) => {
      const answers = Object.entries(statuses).map(([status, times]) => `${times} × ${status}`);
      const requests = `${number(sumOf(statuses))} requests, ${bytesText(sent)}`;
      return `${name}: ${requests}: ${answers.join(', ')}`;
    }),
    '',
    ...histogramLines(totals),
    ...faultLines(totals),
    ...limits.map((why) => `THE LOAD GENERATOR WAS THE LIMIT: ${why}`),
  ];
}

function number(count: number): string {
  return grouped(`${count}`);
}

function msText(ms: number | null): string {
  return ms === null ? '–' : `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}

function bytesText(bytes: number): string {
  const [kib, mib] = [bytes / KIB, bytes / KIB / KIB];
  if (mib >= 1) return `${mib.toFixed(1)} MiB`;
  return kib >= 1 ? `${kib.toFixed(1)} KiB` : `${bytes} bytes`;
}
