/**
 * Our routes against a bare route of the same library that sends the same headers and the same
 * bytes, in turns.
 */
import { request } from 'node:http';
import type { RawRoute } from '../processes/rawRoute.ts';
import { fixed, percent, type Scale, whole } from './bench.ts';
import { type Load, load, loader } from './load.ts';
import type { Usage } from './offers.ts';
import { type Process, pinned } from './processes.ts';

const CONNECTIONS = 16;

export interface Work {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly paths: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** Made in slices: a connection that pipelines behind such an answer is closed. */
  readonly isInSlices?: boolean;
}

/** A server under test, beside others. */
type Served = { begin(): void; end(): Usage; port(): number };
type Server = Process<Served>;

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

export const COLUMNS = [
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

export const NOTES = [
  `Load by ${loader}, ${CONNECTIONS} connections.`,
  pinned ? 'Servers on core 0, load on core 1.' : 'Not pinned: no taskset, or one core.',
];

/** Rows of a table: each work unpipelined, and ten requests ahead where that is possible. */
export async function compare(
  ours: Server,
  raw: Process<RawRoute>,
  work: Work,
  scale: Scale,
  progress: (what: string) => void,
): Promise<string[][]> {
  const answer = await capture(await ours.ask('port'), work);
  await raw.ask('serve', answer);
  const rows: string[][] = [];
  for (const pipelined of work.isInSlices === true ? [1] : [1, 10]) {
    const name = `${work.name}, pipelined ${pipelined}`;
    progress(name);
    const how = { ...work, connections: CONNECTIONS, pipelined };
    const sides = await alternate(ours, raw, how, scale);
    rows.push([name, whole(answer.body.length), ...cells(sides.ours, sides.raw)]);
  }
  return rows;
}

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

/** Our server's answer, for the bare server to repeat. */
async function capture(port: number, { method, paths, headers }: Work) {
  const [path] = paths;
  return await new Promise<{ lines: string; body: Buffer }>((resolve, reject) => {
    request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        if (answer.statusCode !== 200) reject(new Error(String(Buffer.concat(chunks))));
        resolve({ lines: linesOf(answer.rawHeaders), body: Buffer.concat(chunks) });
      });
    })
      .on('error', reject)
      .end();
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
  ours: Server,
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

async function run(
  server: Pick<Server, 'ask'>,
  how: Omit<Load, 'port' | 'seconds'>,
  seconds: number,
) {
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
