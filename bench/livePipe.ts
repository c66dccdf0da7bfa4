/**
 * From a line on standard input to the frame on a socket, for a feed that never rests.
 * The question, the method and the numbers are in RESULTS.md.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';
import { type Bench, fixed, type Scale, whole } from './support/bench.ts';
import { AS_STARTED, onCore } from './support/processes.ts';
import { quantile } from './support/quantile.ts';
import { assetOf, QUOTE } from './support/trades.ts';

const MAIN = join(import.meta.dirname, '../src/server/main.ts');
const RATES = [1_000, 2_000, 5_000];
const WARM_UP_MS = 2_000;
const LONGEST_WAIT_MS = 30_000;
const MINUTE_MS = 60_000;

export const livePipe: Bench = {
  name: 'livePipe',
  async measure(scale, progress) {
    const rows: string[][] = [];
    for (const rate of RATES) {
      progress(`${whole(rate)} trades a second`);
      const latencies = await measureRate(rate, scale);
      const row = [0.5, 0.9, 0.99, 1].map((share) => fixed(quantile(latencies, share), 1));
      rows.push([whole(rate), whole(latencies.length), ...row]);
    }
    const columns = ['trades a second', 'lines', 'p50 ms', 'p90 ms', 'p99 ms', 'most ms'];
    const notes = ['The server on core 0; one process writes the lines and reads the socket.'];
    return { columns, rows, notes };
  },
};

async function measureRate(rate: number, { seconds, rounds }: Scale): Promise<number[]> {
  const directory = mkdtempSync(join(tmpdir(), 'upcurve-bench-'));
  const server = startServer(directory);
  try {
    const socket = await subscribe(await portOf(server));
    const latencies = await feed(server, socket, rate, WARM_UP_MS + seconds * rounds * 1_000);
    socket.terminate();
    return latencies;
  } finally {
    const closed = new Promise((resolve) => server.once('close', resolve));
    server.kill('SIGKILL');
    await closed;
    rmSync(directory, { recursive: true, force: true });
  }
}

function startServer(directory: string): ChildProcessWithoutNullStreams {
  const options = ['--lateness', '0', '--exit'];
  const command = [process.execPath, ...AS_STARTED, MAIN, 'replay', '-', ...options];
  const [program, args] = onCore('server', command);
  const settings = { DATA_DIR: directory, NETWORK: 'none', PORT: '0', LOG_FORMAT: 'json' };
  return spawn(program, args, { env: { ...process.env, ...settings } });
}

async function portOf(server: ChildProcessWithoutNullStreams): Promise<number> {
  for await (const line of createInterface({ input: server.stdout })) {
    const found = /"event":"listening".*"port":(\d+)/.exec(line);
    if (found === null) continue;
    server.stdout.resume();
    return Number(found[1]);
  }
  throw new Error('the server ended before it listened');
}

async function subscribe(port: number): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`);
  await new Promise((resolve) => socket.once('open', resolve));
  const data = { pair: { base: assetOf(0), quote: QUOTE }, interval: 'min1' };
  const answered = new Promise((resolve) => socket.once('message', resolve));
  socket.send(JSON.stringify({ messageType: 'subscribe', requestId: 'r', topic: 'LastBar', data }));
  await answered;
  return socket;
}

/** Milliseconds from writing each line to the frame whose bar counts its trade. */
async function feed(
  server: ChildProcessWithoutNullStreams,
  socket: WebSocket,
  rate: number,
  lastsMs: number,
): Promise<number[]> {
  /** When the lines of each minute were written, in order; by the start of its bar, seconds. */
  const written = new Map<number, number[]>();
  const counted = new Map<number, number>();
  const latencies: number[] = [];
  const beginMs = performance.now();
  socket.on('message', (message) => {
    const nowMs = performance.now();
    for (const { time, trades } of barsIn(String(message))) {
      const times = written.get(time) ?? [];
      for (let at = counted.get(time) ?? 0; at < trades; at += 1) {
        const atMs = times[at] ?? nowMs;
        if (atMs - beginMs > WARM_UP_MS) latencies.push(nowMs - atMs);
      }
      counted.set(time, Math.max(trades, counted.get(time) ?? 0));
    }
  });
  let lines = 0;
  while (performance.now() - beginMs < lastsMs) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    const nowMs = performance.now();
    let text = '';
    for (const due = ((nowMs - beginMs) * rate) / 1_000; lines < due; lines += 1) {
      const timeMs = Date.now();
      const time = Math.floor(timeMs / MINUTE_MS) * 60;
      const times = written.get(time);
      if (times === undefined) written.set(time, [nowMs]);
      else times.push(nowMs);
      text += lineOf(lines, timeMs);
    }
    server.stdin.write(text);
  }
  const total = () => [...counted.values()].reduce((sum, count) => sum + count, 0);
  const deadlineMs = performance.now() + LONGEST_WAIT_MS;
  while (total() < lines && performance.now() < deadlineMs) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  if (total() < lines) throw new Error(`${lines - total()} of ${lines} trades were not seen`);
  return latencies;
}

function barsIn(text: string): readonly { time: number; trades: number }[] {
  // trust: frames of our own server
  const { event, data } = JSON.parse(text) as { event: string; data: unknown };
  if (data === null) return [];
  // trust: as the topic LastBar says
  if (event === 'LastBarUpdate') return [data as { time: number; trades: number }];
  // trust: as the topic LastBar says
  if (event === 'BarsRevised') return (data as { bars: { time: number; trades: number }[] }).bars;
  return [];
}

function lineOf(number: number, timeMs: number): string {
  const line = {
    id: String(10_000_000 + number),
    timeMs,
    base: assetOf(0),
    quote: QUOTE,
    baseDecimals: 0,
    quoteDecimals: 6,
    baseAmount: '1000',
    quoteAmount: String(2_500_000 + ((number * 7_919) % 100_000)),
  };
  return `${JSON.stringify(line)}\n`;
}
