/**
 * How fast a whole node reads on that was away, how many entries a second it takes while they are
 * written, and how soon a new one, with an empty folder, serves what they have all been told.
 * The question, the method and the numbers are in RESULTS.md.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bench, fixed, type Scale, whole } from './support/bench.ts';
import { WalkedEntries } from './support/logFeed.ts';
import { type BenchNats, MarketWriter, startNats } from './support/natsServer.ts';
import { AS_STARTED } from './support/processes.ts';
import { type SharedDevnet, startSharedDevnet } from './support/sharedDevnet.ts';

const NATS_PORT = 18_432;
const FIRST_PORT = 18_433;
const MARKET = 'entries';
const MAIN = join(import.meta.dirname, '../src/server/main.ts');
const LEASE_MS = 1_000;
/** Pairs, each of which trades in every entry. */
const PAIRS = 10;
const AT_ONCE = 512;

export const clusterJoin: Bench = {
  name: 'clusterJoin',
  async measure(scale, progress) {
    const directory = mkdtempSync(join(tmpdir(), 'upcurve-bench-'));
    const nats = await startNats(directory, NATS_PORT);
    try {
      const { live, read, entries, joins } = await measured(nats, directory, scale, progress);
      const rows = [
        ['entries/s while they are written', whole(live)],
        ['entries/s of a node that was away', whole(read)],
        ['ready with an empty folder, s, best', fixed(Math.min(...joins))],
        ['ready with an empty folder, s, slowest', fixed(Math.max(...joins))],
      ];
      const size = `${whole(entries)} entries, each a trade of ${PAIRS} pairs; not pinned.`;
      return { columns: ['what', 'found'], rows, notes: [size] };
    } finally {
      await nats.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  },
};

/** The real program, one of several nodes. */
class BenchNode {
  readonly directory: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #port: number;
  #child: ChildProcess | null = null;

  constructor(nats: BenchNats, chain: SharedDevnet, directory: string, index: number) {
    this.directory = join(directory, `n${index}`);
    this.#port = FIRST_PORT + index;
    this.#env = {
      ...process.env,
      ...chain.settings,
      DATA_DIR: this.directory,
      PORT: String(this.#port),
      NODE_NAME: `n${index}`,
      NATS_URL: nats.url,
      MARKET_NAME: MARKET,
      LEASE_MS: String(LEASE_MS),
      TRADERS_PACE: '0',
      SNAPSHOT_EVERY: '100000',
    };
  }

  start(env: NodeJS.ProcessEnv = {}): void {
    const options = { env: { ...this.#env, ...env }, stdio: 'ignore' } as const;
    this.#child = spawn(process.execPath, [...AS_STARTED, MAIN], options);
  }

  /** What it says of itself; null: no answer. */
  async says(): Promise<{ status: number; role: string; seq: number } | null> {
    const answer = await fetch(`http://127.0.0.1:${this.#port}/health/ready`).catch(() => null);
    if (answer === null) return null;
    // trust: the schema of this answer
    const { role, seq } = (await answer.json()) as { role: string; seq: number };
    return { status: answer.status, role, seq };
  }

  async metric(name: RegExp): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${this.#port}/metrics`);
    return Number(name.exec(await answer.text())?.[1] ?? 0);
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null) return;
    const over = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await over;
  }
}

async function measured(
  nats: BenchNats,
  directory: string,
  { trades, rounds }: Scale,
  progress: (what: string) => void,
) {
  const chain = await startSharedDevnet(join(directory, 'devnet'), 0);
  const nodes = [1, 2].map((index) => new BenchNode(nats, chain, directory, index));
  const [stays, leaves] = nodes;
  if (stays === undefined || leaves === undefined) throw new Error('there are two');
  try {
    progress('entries a second');
    for (const node of nodes) {
      node.start();
      await until(async () => (await node.says())?.status === 200);
    }
    const writer = await MarketWriter.take(nats.url, MARKET, LEASE_MS);
    const walked = new WalkedEntries(writer.marketMs);
    await leaves.stop();
    const before = (await stays.says())?.seq ?? 0;
    const count = Math.floor(trades / PAIRS / 4);
    const startMs = performance.now();
    while (writer.seq - before < count) {
      const some = Array.from({ length: AT_ONCE }, () => walked.next(PAIRS, 100)).flat();
      await writer.append(some);
    }
    await until(async () => ((await stays.says())?.seq ?? 0) >= writer.seq, 2);
    const live = (writer.seq - before) / ((performance.now() - startMs) / 1_000);
    leaves.start();
    const read = await readRate(leaves, writer.seq);
    await leaves.stop();
    await stays.stop();
    await writer.give();
    progress('an empty folder');
    const joins = await joinTimes(stays, rounds, (index) => {
      return new BenchNode(nats, chain, directory, index);
    });
    return { live, read, entries: writer.seq - before, joins };
  } finally {
    for (const node of nodes) await node.stop();
    await chain.stop();
  }
}

/** From the first answer of a node that has some way to go to the one that says it is there. */
async function readRate(node: BenchNode, end: number): Promise<number> {
  let first: { readonly seq: number; readonly atMs: number } | null = null;
  for (;;) {
    const says = await node.says();
    const atMs = performance.now();
    if (says !== null && first === null) first = { seq: says.seq, atMs };
    if (says !== null && first !== null && says.seq >= end) {
      return (says.seq - first.seq) / ((atMs - first.atMs) / 1_000);
    }
    await wait(10);
  }
}

/** Seconds from the command to the first 200, each time with an empty folder. */
async function joinTimes(
  leader: BenchNode,
  rounds: number,
  newNode: (index: number) => BenchNode,
): Promise<number[]> {
  leader.start({ SNAPSHOT_EVERY: '50' });
  const taken = /upcurve_snapshots_total\{[^}]*taken[^}]*\} (\d+)/;
  await until(async () => (await leader.says())?.role === 'leader');
  await until(async () => (await leader.metric(taken)) > 0);
  const seconds: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const node = newNode(10 + round);
    const startMs = performance.now();
    node.start();
    await until(async () => (await node.says())?.status === 200, 5);
    seconds.push((performance.now() - startMs) / 1_000);
    await node.stop();
  }
  return seconds;
}

async function until(condition: () => Promise<boolean>, everyMs = 50): Promise<void> {
  while (!(await condition())) await wait(everyMs);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
