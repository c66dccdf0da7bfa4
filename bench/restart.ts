/**
 * How long a start takes with a market of 10,000 and of 50,000 pools: with the real program, from
 * the command to the first 200 of /health/ready, and its memory per pool then. The question, the
 * method and the numbers are in RESULTS.md.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bench, fixed, type Scale, whole } from './support/bench.ts';
import { writeLaunchedMarket } from './support/launchedMarket.ts';
import { AS_STARTED } from './support/processes.ts';

const PORT = 18_123;
const MAIN = join(import.meta.dirname, '../src/server/main.ts');
const REPORT = join(import.meta.dirname, 'support/heapReport.ts');
const MOST_POOLS = 50_000;
const KIB = 1024;

export const restart: Bench = {
  name: 'restart',
  async measure(scale, progress) {
    const rows: string[][] = [];
    let empty: Memory | null = null;
    for (const pools of marketsOf(scale)) {
      const directory = mkdtempSync(join(tmpdir(), 'upcurve-bench-'));
      try {
        progress(`${whole(pools)} pools: made`);
        await writeLaunchedMarket(directory, { pools, orders: 0 });
        const first = await started(directory);
        const again = [];
        for (let round = 0; round < scale.rounds; round += 1) again.push(await started(directory));
        const readyMs = Math.min(...again.map((each) => each.readyMs));
        const slowestMs = Math.max(...again.map((each) => each.readyMs));
        const memory = {
          rssKib: Math.min(...again.map((each) => each.rssKib)),
          heapKib: Math.min(...again.map((each) => each.heapKib)),
        };
        empty ??= memory;
        rows.push([
          `${whole(pools)} pools, ${whole(pools * 12)} open bars`,
          fixed(first.readyMs / 1000),
          fixed(readyMs / 1000),
          fixed(slowestMs / 1000),
          fixed(memory.rssKib / KIB, 0),
          pools === 0 ? '–' : fixed((memory.rssKib - empty.rssKib) / pools, 1),
          fixed(memory.heapKib / KIB, 0),
          pools === 0 ? '–' : fixed((memory.heapKib - empty.heapKib) / pools, 1),
        ]);
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    }
    return { columns: COLUMNS, rows, notes: NOTES };
  },
};

const COLUMNS = [
  'market',
  'full replay s',
  'restart s',
  'slowest s',
  'RSS MiB',
  'RSS KiB/pool',
  'heap MiB',
  'heap KiB/pool',
];
const NOTES = [
  'NETWORK=none: the devnet, which loads its own chain, is not part of it.',
  `MAX_LOADED_POOLS=${whole(MOST_POOLS)}: all of them are in memory.`,
];

interface Memory {
  readonly rssKib: number;
  /** Bytes in use in the main thread's heap. */
  readonly heapKib: number;
}

function marketsOf({ rounds }: Scale): readonly number[] {
  return rounds === 1 ? [0, 1_000, 10_000] : [0, 1_000, 10_000, MOST_POOLS];
}

async function started(directory: string): Promise<Memory & { readonly readyMs: number }> {
  const env = {
    ...process.env,
    DATA_DIR: directory,
    PORT: String(PORT),
    NETWORK: 'none',
    MAX_LOADED_POOLS: String(MOST_POOLS),
    MALLOC_ARENA_MAX: '2',
  };
  const startMs = performance.now();
  const options = [...AS_STARTED, '--expose-gc', '--import', REPORT, MAIN];
  const stdio = ['ignore', 'ignore', 'ignore', 'ipc'] as const;
  const child = spawn(process.execPath, options, { env, stdio: [...stdio] });
  try {
    await ready();
    const readyMs = performance.now() - startMs;
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    const rssKib = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
    const answered = once(child, 'message');
    child.send('heap');
    const [heapBytes] = await answered;
    return { readyMs, rssKib, heapKib: Number(heapBytes) / KIB };
  } finally {
    await ended(child);
  }
}

async function ready(): Promise<void> {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${PORT}/health/ready`).catch(() => null);
    if (answer?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const over = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await over;
}
