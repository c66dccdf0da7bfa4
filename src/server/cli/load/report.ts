/** The report of a load: JSON for programs, and one HTML page that needs nothing else. */
import type { Histogram } from 'hdr-histogram-js';
import { escapeMarkup } from '../../../engine/runtime/markup.ts';
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
    /** Bytes of frames, after decompression. */
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

interface ReportFacts
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

/** Charts as SVG: lines over time, and bars. They need no script. */
const WIDTH = 720;
const HEIGHT = 180;
const LEFT = 64;
const BOTTOM = 24;
const COLOURS = ['#2563eb', '#dc2626', '#16a34a', '#9333ea'];
const SLANT = 4;

interface Line {
  readonly name: string;
  /** One for each of `times`; null: a gap. */
  readonly values: readonly (number | null)[];
}

/** `times`: seconds, ascending. */
function lineChart(
  title: string,
  unit: string,
  times: readonly number[],
  lines: readonly Line[],
): string {
  const all = lines.flatMap(({ values }) => values.filter((value) => value !== null));
  const most = Math.max(1e-9, ...all);
  const span = Math.max(1e-9, times.at(-1) ?? 0);
  const x = (at: number) => LEFT + ((times[at] ?? 0) / span) * (WIDTH - LEFT);
  const y = (value: number) => (1 - value / most) * (HEIGHT - BOTTOM) + SLANT;
  const paths = lines.map(({ values }, index) => {
    let isDrawing = false;
    const steps = values.map((value, at) => {
      const step = value === null ? '' : `${isDrawing ? 'L' : 'M'}${point(x(at), y(value))}`;
      isDrawing = value !== null;
      return step;
    });
    const stroke = `stroke="${COLOURS[index]}" stroke-width="1.5"`;
    return `<path d="${steps.join('')}" fill="none" ${stroke}/>`;
  });
  const legend = lines.map(({ name }, index) => {
    return `<span style="color:${COLOURS[index]}">${escapeMarkup(name)}</span>`;
  });
  const labels = [
    text(LEFT - 6, 12, `${short(most)} ${unit}`, 'end'),
    text(LEFT - 6, HEIGHT - BOTTOM + SLANT, '0', 'end'),
    text(WIDTH, HEIGHT - 6, `${short(span)} s`, 'end'),
  ];
  return figure(`${escapeMarkup(title)} ${legend.join(', ')}`, [...labels, ...paths]);
}

function barChart(
  title: string,
  bars: readonly { readonly name: string; readonly value: number }[],
): string {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  const step = (WIDTH - LEFT) / Math.max(1, bars.length);
  const parts = bars.flatMap(({ name, value }, at) => {
    const height = (value / most) * (HEIGHT - BOTTOM - 16);
    const [left, top] = [LEFT + at * step, HEIGHT - BOTTOM - height];
    const middle = left + step / 2;
    return [
      `<rect x="${left.toFixed(1)}" y="${top.toFixed(1)}" width="${(step * 0.9).toFixed(1)}" ` +
        `height="${height.toFixed(1)}" fill="${COLOURS[0]}"/>`,
      text(middle, top - 4, value === 0 ? '' : short(value), 'middle'),
      text(middle, HEIGHT - 6, name, 'middle'),
    ];
  });
  return figure(escapeMarkup(title), parts);
}

function figure(caption: string, parts: readonly string[]): string {
  const open = `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" font-size="11">`;
  return `<figure><figcaption>${caption}</figcaption>${open}${parts.join('')}</svg></figure>`;
}

function text(x: number, y: number, said: string, anchor: 'end' | 'middle'): string {
  const place = `x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}"`;
  return `<text ${place} fill="currentColor">${escapeMarkup(said)}</text>`;
}

function point(x: number, y: number): string {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}

function short(value: number): string {
  return value >= 100
    ? Math.round(value).toLocaleString('en-US')
    : `${Number(value.toPrecision(3))}`;
}
