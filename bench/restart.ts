/**
 * How long a start takes with a market of 10,000 pools: of the real program, from the command to
 * the first 200 of /health/ready, and what it holds in memory then.
 * The question, the method and the numbers are in RESULTS.md.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bench, fixed, whole } from './support/bench.ts';
import { writeLaunchedMarket } from './support/launchedMarket.ts';
import { AS_STARTED } from './support/processes.ts';

const PORT = 18_123;
const MAIN = join(import.meta.dirname, '../src/server/main.ts');
const KIB = 1024;

export const restart: Bench = {
  name: 'restart',
  async measure({ rounds }, progress) {
    const rows: string[][] = [];
    let emptyRssKib = 0;
    for (const pools of [0, 1_000, 10_000]) {
      const directory = mkdtempSync(join(tmpdir(), 'upcurve-bench-'));
      try {
        progress(`${whole(pools)} pools: made`);
        await writeLaunchedMarket(directory, { pools, orders: 0 });
        const first = await started(directory);
        const again = [];
        for (let round = 0; round < rounds; round += 1) again.push(await started(directory));
        const readyMs = Math.min(...again.map((each) => each.readyMs));
        const slowestMs = Math.max(...again.map((each) => each.readyMs));
        const rssKib = Math.min(...again.map((each) => each.rssKib));
        if (pools === 0) emptyRssKib = rssKib;
        rows.push([
          `${whole(pools)} pools, ${whole(pools * 12)} open bars`,
          fixed(first.readyMs / 1000),
          fixed(readyMs / 1000),
          fixed(slowestMs / 1000),
          fixed(rssKib / KIB, 0),
          pools === 0 ? '–' : fixed((rssKib - emptyRssKib) / pools, 1),
        ]);
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    }
    return { columns: COLUMNS, rows, notes: NOTES };
  },
};

const COLUMNS = ['market', 'full replay s', 'restart s', 'slowest s', 'RSS MiB', 'RSS KiB/pool'];
const NOTES = ['NETWORK=none: the devnet, which loads its own chain, is not part of it.'];

async function started(directory: string): Promise<{ readyMs: number; rssKib: number }> {
  const env = { ...process.env, DATA_DIR: directory, PORT: String(PORT), NETWORK: 'none' };
  const startMs = performance.now();
  const child = spawn(process.execPath, [...AS_STARTED, MAIN], { env, stdio: 'ignore' });
  try {
    await ready();
    const readyMs = performance.now() - startMs;
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    return { readyMs, rssKib: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) };
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
