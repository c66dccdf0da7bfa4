/** The report of a load: JSON for programs, and one HTML page that needs nothing else. */
import type { Histogram } from 'hdr-histogram-js';
import { escapeMarkup } from '../../../engine/runtime/markup.ts';
import { barChart, lineChart } from './chart.ts';
import type { Scenario } from './scenario.ts';
import { summaryLines } from './screen.ts';
import { type Bucket, bucketsOf, percentileMs, type Sample, sumOf, type Totals } from './totals.ts';

interface Latency {
  readonly count: number;
  /** Milliseconds; null without a value. */
  readonly p50: number | null;
  readonly p90: number | null;
  readonly p99: number | null;
  readonly 'p99.9': number | null;
  readonly max: number | null;
  readonly buckets: readonly Bucket[];
}

export interface Report {
  readonly url: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly seconds: number;
  readonly scenario: Scenario;
  readonly tokens: { readonly hot: number; readonly tail: number };
  readonly sockets: {
    readonly opened: number;
    readonly frames: number;
    /** Of frames, after decompression. */
    readonly bytes: number;
    readonly resyncs: number;
    readonly lost: Readonly<Record<string, number>>;
    readonly refused: Readonly<Record<string, number>>;
    readonly openLatency: Latency;
    readonly frameLatency: Latency;
  };
  readonly faults: Totals['faults'];
  readonly requests: readonly {
    readonly name: string;
    readonly count: number;
    readonly bytes: number;
    readonly statuses: Readonly<Record<string, number>>;
    readonly latency: Latency;
  }[];
  readonly generator: { readonly isLimit: boolean; readonly reasons: readonly string[] };
  readonly samples: readonly Sample[];
}

export interface ReportFacts
  extends Pick<Report, 'url' | 'startedAt' | 'seconds' | 'scenario' | 'tokens'> {
  readonly limits: readonly string[];
}

export function reportOf(totals: Totals, { limits, ...facts }: ReportFacts): Report {
  const { opened, frames, bytes, resyncs, lost, refused, faults, samples } = totals;
  const [openLatency, frameLatency] = [totals.openLatency, totals.frameLatency].map(latencyOf);
  return {
    ...facts,
    sockets: {
      ...{ opened, frames, bytes, resyncs, lost, refused },
      openLatency: openLatency ?? latencyOf(totals.openLatency),
      frameLatency: frameLatency ?? latencyOf(totals.frameLatency),
    },
    faults,
    requests: [...totals.routes].map(([name, route]) => ({
      ...{ name, count: sumOf(route.statuses), bytes: route.bytes, statuses: route.statuses },
      latency: latencyOf(route.latency),
    })),
    generator: { isLimit: limits.length > 0, reasons: limits },
    samples,
  };
}

function latencyOf(histogram: Histogram): Latency {
  return {
    count: histogram.totalCount,
    p50: percentileMs(histogram, 50),
    p90: percentileMs(histogram, 90),
    p99: percentileMs(histogram, 99),
    'p99.9': percentileMs(histogram, 99.9),
    max: percentileMs(histogram, 100),
    buckets: bucketsOf(histogram),
  };
}

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:760px;margin:2rem auto;
padding:0 1rem;
color:#111;background:#fff}pre{white-space:pre-wrap;font-size:12px}figure{margin:1.5rem 0}
figcaption{font-weight:600}.limit{background:#fef3c7;padding:.5rem 1rem}
@media(prefers-color-scheme:dark){body{color:#eee;background:#111}.limit{color:#111}}`;

export function reportPage(report: Report, totals: Totals): string {
  const { url, startedAt, seconds, scenario, generator, sockets, requests } = report;
  const title = `${scenario.name}: ${url}`;
  const warning = generator.reasons.map(
    (why) => `<p class="limit">The load generator was the limit: ${escapeMarkup(why)}</p>`,
  );
  const summary = summaryLines(totals, []).join('\n');
  const bars = [
    histogram('Frames, from the server to here', sockets.frameLatency),
    ...requests.map(({ name, latency }) => histogram(name, latency)),
  ];
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeMarkup(title)}</title><style>${STYLE}</style>
<h1>${escapeMarkup(title)}</h1>
<p>${escapeMarkup(startedAt)}, ${Math.round(seconds)} seconds</p>
${warning.join('\n')}
${[...bars, ...timelines(report.samples)].join('\n')}
<h2>Numbers</h2><pre>${escapeMarkup(summary)}</pre>
<h2>Scenario</h2><pre>${escapeMarkup(JSON.stringify(scenario, null, 1))}</pre>
</html>
`;
}

function histogram(title: string, { buckets, count }: Latency): string {
  const bars = buckets.map(({ upToMs, count: value }) => ({ name: `≤ ${upToMs} ms`, value }));
  return count === 0 ? '' : barChart(`${title} (${count})`, bars);
}

function timelines(samples: readonly Sample[]): string[] {
  const times = samples.map(({ at }) => at);
  const line = (name: string, field: keyof Sample) => {
    return { name, values: samples.map((sample) => sample[field]) };
  };
  return [
    lineChart('Open connections', '', times, [line('open', 'open')]),
    lineChart('Received', '/s', times, [
      line('frames', 'framesPerSecond'),
      line('answers', 'requestsPerSecond'),
    ]),
    lineChart('Bytes', 'B/s', times, [line('of frames and answers', 'bytesPerSecond')]),
    lineChart('Latency of frames', 'ms', times, [line('p50', 'frameP50'), line('p99', 'frameP99')]),
    lineChart('Latency of answers', 'ms', times, [
      line('p50', 'requestP50'),
      line('p99', 'requestP99'),
    ]),
    lineChart('CPU', '%', times, [
      line('server, of a core', 'serverCpu'),
      line('busiest thread of the load', 'generatorBusy'),
    ]),
  ];
}
