/**
 * Memory of `npm start` with its devnet and traders: resident, and the heap of each thread, after
 * 1, 3, 10 and 60 minutes: `npm run bench -- memory --minutes 10`. Beside it an idle Node.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bench, whole } from './support/bench.ts';
import type { IsolateHeap } from './support/isolateHeaps.ts';
import { AS_STARTED } from './support/processes.ts';

const MAIN = join(import.meta.dirname, '../src/server/main.ts');
const HEAPS = join(import.meta.dirname, 'support/isolateHeaps.ts');
const PACES = [1, 5];
const MARKS = [1, 3, 10, 60];
const MINUTE_MS = 60_000;
const KIB = 1024;
const MIB = 1024 * 1024;

export const memory: Bench = {
  name: 'memory',
  async measure({ soakMinutes }, progress) {
    const marks = MARKS.filter((minute) => minute <= soakMinutes);
    progress(`pace ${PACES.join(' and ')}, up to minute ${marks.at(-1)}`);
    const alone = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    const rows = (await Promise.all(PACES.map((pace) => measurePace(pace, marks)))).flat();
    const notes = [`Node alone: ${whole(rssBytes(alone) / MIB)} MiB. Both paces ran together.`];
    alone.kill();
    const columns = ['pace, minute', 'RSS MiB', 'heaps MiB, used', 'taken', 'taken by thread'];
    return { columns, rows, notes };
  },
};

async function measurePace(pace: number, marks: readonly number[]): Promise<string[][]> {
  const directory = mkdtempSync(join(tmpdir(), 'upcurve-memory-'));
  const settings = {
    // As `npm start` sets it.
    MALLOC_ARENA_MAX: '2',
    DATA_DIR: directory,
    PORT: '0',
    LOG_LEVEL: 'warn',
    TRADERS_PACE: String(pace),
  };
  const env = { ...process.env, ...settings };
  const args = [...AS_STARTED, '--import', HEAPS, MAIN];
  const child = spawn(process.execPath, args, {
    env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const startMs = performance.now();
  try {
    const rows: string[][] = [];
    for (const minute of marks) {
      const leftMs = startMs + minute * MINUTE_MS - performance.now();
      await new Promise((resolve) => setTimeout(resolve, leftMs));
      rows.push([`${pace}, ${minute}`, whole(rssBytes(child) / MIB), ...(await heapsOf(child))]);
    }
    return rows;
  } finally {
    const over = once(child, 'exit');
    child.kill();
    await over;
    rmSync(directory, { recursive: true, force: true });
  }
}

async function heapsOf(child: ChildProcess): Promise<string[]> {
  const answered = once(child, 'message');
  child.send('heaps');
  // trust: `isolateHeaps.ts` answers
  const [heaps] = (await answered) as [readonly IsolateHeap[]];
  const sum = (of: (heap: IsolateHeap) => number) => heaps.reduce((all, heap) => all + of(heap), 0);
  const each = heaps.map(({ thread, totalBytes }) => `${thread} ${whole(totalBytes / MIB)}`);
  const used = whole(sum(({ usedBytes }) => usedBytes) / MIB);
  return [used, whole(sum(({ totalBytes }) => totalBytes) / MIB), each.join(', ')];
}

function rssBytes({ pid }: ChildProcess): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * KIB;
}
