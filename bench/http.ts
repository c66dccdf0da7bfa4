/**
 * Requests a second, and what one costs the server: our routes against a bare route of the same
 * library that sends the same headers and the same bytes.
 * The question, the method and the numbers are in RESULTS.md.
 */
import { get } from 'node:http';
import type { Market } from './processes/market.ts';
import type { RawRoute } from './processes/rawRoute.ts';
import { type Bench, fixed, percent, type Scale, whole } from './support/bench.ts';
import { type Load, load, loader } from './support/load.ts';
import { Process, pinned } from './support/processes.ts';
import { assetOf, QUOTE, START_MS } from './support/trades.ts';

const MINUTE_S = 60;
const BARS = 500;
/** Spans at different minutes: their answers together are far more than the cache keeps. */
const SPANS = 1_500;
const TRADES_PER_BAR = 4;
const CONNECTIONS = 16;

interface Work {
  readonly name: string;
  readonly paths: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

const PAIR = `base=${assetOf(0)}&quote=${QUOTE}&resolution=min1`;
const SPAN_PATHS = Array.from({ length: SPANS }, (_, at) => {
  const from = Math.ceil(START_MS / 1000 / MINUTE_S + 1 + at) * MINUTE_S;
  return `/v1/charts/history?${PAIR}&from=${from}&to=${from + BARS * MINUTE_S}`;
});
const ONE_SPAN = SPAN_PATHS.slice(0, 1);
const GZIP = { 'Accept-Encoding': 'gzip' };

const WORKS: readonly Work[] = [
  { name: 'initial-state', paths: [`/v1/charts/initial-state?${PAIR}`], headers: {} },
  { name: 'history, 500 bars', paths: ONE_SPAN, headers: {} },
  { name: 'history, 500 bars, gzip', paths: ONE_SPAN, headers: GZIP },
  { name: 'history, 500 bars, cold', paths: SPAN_PATHS, headers: {} },
];

interface Measured {
  readonly requestsPerSecond: number;
  readonly cpuUsPerRequest: number;
  readonly busy: number;
}

interface Window {
  readonly requests: number;
  readonly seconds: number;
  readonly cpuUs: number;
}

type Server = Process<Pick<Market, 'begin' | 'end' | 'port'>>;

export const http: Bench = {
  name: 'http',
  async measure(scale, progress) {
    const ours = await Process.start<Market>('market.ts', 'server');
    const raw = await Process.start<RawRoute>('rawRoute.ts', 'server');
    const entries = (SPANS + BARS + 1) * TRADES_PER_BAR;
    await ours.ask('fill', { pairs: 1, everyMs: (MINUTE_S * 1000) / TRADES_PER_BAR, entries });
    const rows: string[][] = [];
    for (const work of WORKS) {
      const answer = await capture(await ours.ask('port'), work);
      await raw.ask('serve', answer);
      for (const pipelined of [1, 10]) {
        const name = `${work.name}, pipelined ${pipelined}`;
        progress(name);
        const how = { ...work, connections: CONNECTIONS, pipelined };
        const sides = await alternate(ours, raw, how, scale);
        rows.push([name, whole(answer.body.length), ...cells(sides.ours, sides.raw)]);
      }
    }
    await Promise.all([ours.end(), raw.end()]);
    return { columns: COLUMNS, rows, notes: NOTES };
  },
};

const COLUMNS = [
  'request',
  'bytes',
  'requests/s',
  'raw requests/s',
  'ratio',
  'CPU µs',
  'raw CPU µs',
  'CPU ratio',
  'core busy',
  'raw busy',
];

const NOTES = [
  `Load by ${loader}, ${CONNECTIONS} connections.`,
  pinned ? 'Servers on core 0, load on core 1.' : 'Not pinned: no taskset, or one core.',
];

function cells(ours: Measured, raw: Measured): string[] {
  return [
    whole(ours.requestsPerSecond),
    whole(raw.requestsPerSecond),
    fixed(ours.requestsPerSecond / raw.requestsPerSecond),
    fixed(ours.cpuUsPerRequest, 1),
    fixed(raw.cpuUsPerRequest, 1),
    fixed(raw.cpuUsPerRequest / ours.cpuUsPerRequest),
    percent(ours.busy),
    percent(raw.busy),
  ];
}

/** Headers that the library adds by itself, to ours as to the bare one's. */
const OF_LIBRARY = ['date', 'uwebsockets', 'content-length', 'connection', 'transfer-encoding'];

/** What our server answers, for the bare one to repeat. */
async function capture(port: number, { paths, headers }: Work) {
  const [path] = paths;
  return await new Promise<{ lines: string; body: Buffer }>((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, headers, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        if (answer.statusCode !== 200) reject(new Error(String(Buffer.concat(chunks))));
        resolve({ lines: linesOf(answer.rawHeaders), body: Buffer.concat(chunks) });
      });
    }).on('error', reject);
  });
}

/** The value of the first header, and the lines of the others. */
function linesOf(rawHeaders: readonly string[]): string {
  const lines: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (!OF_LIBRARY.includes(name.toLowerCase())) lines.push(`${name}: ${value}`);
  }
  return lines.join('\r\n').replace('Access-Control-Allow-Origin: ', '');
}

async function alternate(
  ours: Process<Market>,
  raw: Process<RawRoute>,
  how: Omit<Load, 'port' | 'seconds'>,
  { seconds, rounds }: Scale,
): Promise<{ ours: Measured; raw: Measured }> {
  const oursWindows: Window[] = [];
  const rawWindows: Window[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    // The first round warms up.
    const length = round === 0 ? 1 : seconds;
    const our = await run(ours, how, length);
    const bare = await run(raw, how, length);
    if (round > 0) oursWindows.push(our);
    if (round > 0) rawWindows.push(bare);
  }
  return { ours: sumOf(oursWindows), raw: sumOf(rawWindows) };
}

async function run(server: Server, how: Omit<Load, 'port' | 'seconds'>, seconds: number) {
  const port = await server.ask('port');
  await server.ask('begin');
  const loaded = await load({ ...how, port, seconds });
  const { cpuUs } = await server.ask('end');
  return { ...loaded, cpuUs };
}

function sumOf(windows: readonly Window[]): Measured {
  const sum = (of: (window: Window) => number) => windows.reduce((all, one) => all + of(one), 0);
  const requests = sum((window) => window.requests);
  const seconds = sum((window) => window.seconds);
  const cpuUs = sum((window) => window.cpuUs);
  return {
    requestsPerSecond: requests / seconds,
    cpuUsPerRequest: cpuUs / requests,
    busy: cpuUs / 1e6 / seconds,
  };
}
