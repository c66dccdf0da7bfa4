/**
 * The cost of a devnet with lively traders over time: `npm run bench -- soak --minutes 60`. Memory
 * and disk should be flat in the second half, and no socket may miss a frame.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { type Bench, fixed, whole } from './support/bench.ts';
import { AS_STARTED } from './support/processes.ts';

const PORT = 18_151;
const SOCKETS = 200;
const LISTS = ['New', 'Latest', 'CompletedCreateOn', 'CompletedMCap', 'MCapDesc'] as const;
const MAIN = join(import.meta.dirname, '../src/server/main.ts');
const SAMPLE_MS = 5_000;
const READY_MS = 60_000;
const MIB = 1024 * 1024;
/** The request id of a socket's only subscription. */
const LIST = 'list';

interface Sample {
  readonly minute: number;
  readonly rssBytes: number;
  readonly diskBytes: number;
  readonly walBytes: number;
  readonly seq: number;
  readonly frames: number;
  readonly gaps: number;
}

export const soak: Bench = {
  name: 'soak',
  async measure({ soakMinutes }, progress) {
    const directory = mkdtempSync(join(tmpdir(), 'upcurve-soak-'));
    const child = startServer(directory);
    const sockets: ListSocket[] = [];
    try {
      await untilReady(child);
      for (let index = 0; index < SOCKETS; index += 1) {
        sockets.push(new ListSocket(LISTS[index % LISTS.length] ?? 'New'));
      }
      const samples = await sampled(child, directory, sockets, soakMinutes, progress);
      const rows = perMinute(samples).map(rowOf);
      return { columns: COLUMNS, rows, notes: notesOn(samples, sockets) };
    } finally {
      for (const socket of sockets) socket.close();
      await ended(child);
      rmSync(directory, { recursive: true, force: true });
    }
  },
};

const COLUMNS = ['minute', 'RSS MiB', 'disk MiB', 'largest WAL MiB', 'seq', 'frames', 'gaps'];

/**
 * One subscription, and the README's rule: a frame's `prev` is never above the position that the
 * socket has.
 */
class ListSocket {
  frames = 0;
  gaps = 0;
  #own: { epoch: string; seq: number } | null = null;
  readonly #socket: WebSocket;
  #closing = false;

  constructor(topic: string) {
    this.#socket = new WebSocket(`ws://127.0.0.1:${PORT}/ws`);
    const request = { messageType: 'subscribe', requestId: LIST, topic };
    this.#socket.on('open', () => this.#socket.send(JSON.stringify(request)));
    this.#socket.on('message', (data) => this.#take(String(data)));
    // A server that cuts a socket loses the frames that it would have sent.
    this.#socket.on('close', () => this.#lost());
    this.#socket.on('error', () => {});
  }

  get hasSnapshot(): boolean {
    return this.#own !== null;
  }

  close(): void {
    this.#closing = true;
    this.#socket.terminate();
  }

  #lost(): void {
    if (!this.#closing) this.gaps += 1;
  }

  #take(text: string): void {
    // trust: the frames of Protocol v2
    const frame = JSON.parse(text) as {
      readonly requestId?: string;
      readonly event?: string;
      readonly epoch?: string;
      readonly seq?: number;
      readonly prev?: number | null;
      readonly snapshot?: boolean;
    };
    const { epoch, seq, prev = null } = frame;
    if (frame.event === 'Ping') this.#socket.send('{"messageType":"pong","requestId":null}');
    if (frame.event === 'Resync') this.gaps += 1;
    if (frame.requestId !== LIST || epoch === undefined || seq === undefined) return;
    this.frames += 1;
    const own = this.#own;
    const isSame = own !== null && own.epoch === epoch;
    if (frame.snapshot !== true && isSame && prev !== null && prev > own.seq) this.gaps += 1;
    if (frame.snapshot !== true && !isSame) this.gaps += 1;
    if (!isSame || seq > own.seq) this.#own = { epoch, seq };
  }
}

function startServer(directory: string): ChildProcess {
  const env = {
    ...process.env,
    DATA_DIR: directory,
    PORT: String(PORT),
    NETWORK: 'devnet',
    TRADERS_PACE: '10',
    LOG_LEVEL: 'warn',
  };
  const stdio = ['ignore', 'ignore', 'inherit'] as const;
  return spawn(process.execPath, [...AS_STARTED, MAIN, '--no-history'], { env, stdio: [...stdio] });
}

async function untilReady(child: ChildProcess): Promise<void> {
  const endMs = performance.now() + READY_MS;
  while ((await readSeq()) === null) {
    if (child.exitCode !== null) throw new Error(`the server ended with code ${child.exitCode}`);
    if (performance.now() > endMs) throw new Error('the server is not ready');
    await wait(100);
  }
}

/** null: it is not ready. */
async function readSeq(): Promise<number | null> {
  const answer = await fetch(`http://127.0.0.1:${PORT}/health/ready`).catch(() => null);
  if (answer?.status !== 200) return null;
  // trust: the schema of this answer
  return ((await answer.json()) as { readonly seq: number }).seq;
}

async function sampled(
  child: ChildProcess,
  directory: string,
  sockets: readonly ListSocket[],
  minutes: number,
  progress: (what: string) => void,
): Promise<Sample[]> {
  const samples: Sample[] = [];
  const startMs = performance.now();
  for (;;) {
    await wait(SAMPLE_MS);
    if (child.exitCode !== null) throw new Error(`the server ended with code ${child.exitCode}`);
    const minute = (performance.now() - startMs) / 60_000;
    const sizes = sizesIn(directory);
    const sample = {
      minute,
      rssBytes: rssOf(child),
      diskBytes: sizes.reduce((sum, { bytes }) => sum + bytes, 0),
      walBytes: Math.max(0, ...sizes.filter(({ isWal }) => isWal).map(({ bytes }) => bytes)),
      seq: (await readSeq()) ?? samples.at(-1)?.seq ?? 0,
      frames: sockets.reduce((sum, { frames }) => sum + frames, 0),
      gaps: sockets.reduce((sum, { gaps }) => sum + gaps, 0),
    };
    const isNewMinute = Math.floor(minute) > Math.floor(samples.at(-1)?.minute ?? 0);
    samples.push(sample);
    if (isNewMinute) progress(rowOf(sample).join('  '));
    if (minute >= minutes) return samples;
  }
}

function sizesIn(directory: string): { readonly bytes: number; readonly isWal: boolean }[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  return names.flatMap((name) => {
    const found = statSync(join(directory, name), { throwIfNoEntry: false });
    const isFile = found?.isFile() === true;
    return isFile ? [{ bytes: found.blocks * 512, isWal: name.endsWith('-wal') }] : [];
  });
}

function rssOf(child: ChildProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
}

/** The last sample of each minute, with the largest write-ahead log in it. */
function perMinute(samples: readonly Sample[]): Sample[] {
  const minutes = Map.groupBy(samples, ({ minute }) => Math.floor(minute));
  return [...minutes.values()].flatMap((some) => {
    const last = some.at(-1);
    const walBytes = Math.max(...some.map((each) => each.walBytes));
    return last === undefined ? [] : [{ ...last, walBytes }];
  });
}

function rowOf(sample: Sample): string[] {
  const { minute, rssBytes, diskBytes, walBytes, seq, frames, gaps } = sample;
  const sizes = [rssBytes, diskBytes, walBytes].map((bytes) => fixed(bytes / MIB, 1));
  return [fixed(minute, 1), ...sizes, whole(seq), whole(frames), whole(gaps)];
}

function notesOn(samples: readonly Sample[], sockets: readonly ListSocket[]): string[] {
  const half = samples.slice(Math.floor(samples.length / 2));
  const [first, last] = [half[0], half.at(-1)];
  if (first === undefined || last === undefined) return [];
  const rss = half.map(({ rssBytes }) => rssBytes / MIB);
  const passed = Math.max(last.minute - first.minute, 1 / 60);
  const growth = (of: (sample: Sample) => number) => (of(last) - of(first)) / passed / MIB;
  const wal = Math.max(...samples.map(({ walBytes }) => walBytes)) / MIB;
  const silent = sockets.filter(({ hasSnapshot }) => !hasSnapshot).length;
  return [
    `Second half: RSS ${fixed(Math.min(...rss), 0)} to ${fixed(Math.max(...rss), 0)} MiB, ` +
      `${fixed(growth(({ rssBytes }) => rssBytes))} MiB a minute; ` +
      `disk ${fixed(growth(({ diskBytes }) => diskBytes))} MiB a minute.`,
    `Largest write-ahead log: ${fixed(wal, 1)} MiB.`,
    last.gaps === 0 && silent === 0
      ? `Nothing was lost on ${SOCKETS} sockets.`
      : `LOST: ${last.gaps} gaps, ${silent} sockets without a snapshot.`,
  ];
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const over = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await over;
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
