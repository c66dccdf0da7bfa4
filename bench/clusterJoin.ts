/**
 * How fast a whole node reads on that was away, how many entries a second it takes while they are
 * written, and how soon a new one, with an empty folder, serves a market of 10,000 pools.
 * The question, the method and the numbers are in RESULTS.md.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blockHash } from '../src/devnet/blockHash.ts';
import type { EntryDraft } from '../src/engine/log/writer.ts';
import { type Bench, fixed, type Scale, whole } from './support/bench.ts';
import { drafts as launches } from './support/launchedMarket.ts';
import { type BenchNats, Pen, startNats } from './support/natsServer.ts';
import { WalkedEntries } from './support/penFeed.ts';
import { AS_STARTED } from './support/processes.ts';

const NATS_PORT = 18_432;
const FIRST_PORT = 18_433;
const MAIN = join(import.meta.dirname, '../src/server/main.ts');
const LEASE_MS = 1_000;
const POOLS = 10_000;
/** Pairs, each of which trades in every entry. */
const PAIRS = 10;
const AT_ONCE = 512;
const SLOT_MS = 1_000;

export const clusterJoin: Bench = {
  name: 'clusterJoin',
  async measure(scale, progress) {
    const directory = mkdtempSync(join(tmpdir(), 'upcurve-bench-'));
    const nats = await startNats(directory, NATS_PORT);
    try {
      progress('entries a second');
      const { live, read, entries } = await measureEntries(nats, directory, scale);
      progress(`${whole(POOLS)} pools`);
      const joins = await measureJoins(nats, directory, scale.rounds);
      const rows = [
        ['entries/s while they are written', whole(live)],
        ['entries/s of a node that was away', whole(read)],
        [`ready with ${whole(POOLS)} pools, s, best`, fixed(Math.min(...joins))],
        [`ready with ${whole(POOLS)} pools, s, slowest`, fixed(Math.max(...joins))],
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

  constructor(nats: BenchNats, directory: string, market: string, index: number) {
    this.directory = join(directory, `${market}-${index}`);
    this.#port = FIRST_PORT + index;
    this.#env = {
      ...process.env,
      DATA_DIR: this.directory,
      PORT: String(this.#port),
      NODE_NAME: `n${index}`,
      NATS_URL: nats.url,
      MARKET_NAME: market,
      KEYS_FILE: join(directory, `${market}.json`),
      LEASE_MS: String(LEASE_MS),
      NETWORK: 'devnet',
      BLOCK_EVERY_MS: '0',
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

async function measureEntries(nats: BenchNats, directory: string, { trades }: Scale) {
  const market = 'entries';
  const nodes = [1, 2].map((index) => new BenchNode(nats, directory, market, index));
  const [stays, leaves] = nodes;
  if (stays === undefined || leaves === undefined) throw new Error('there are two');
  try {
    for (const node of nodes) {
      node.start();
      await until(async () => (await node.says())?.status === 200);
    }
    const pen = await Pen.take(nats.url, market, LEASE_MS);
    const walked = new WalkedEntries(pen.marketMs);
    await leaves.stop();
    const before = (await stays.says())?.seq ?? 0;
    const count = Math.floor(trades / PAIRS / 4);
    const startMs = performance.now();
    while (pen.seq - before < count) {
      const some = Array.from({ length: AT_ONCE }, () => walked.next(PAIRS, 100)).flat();
      await pen.append(some);
    }
    await until(async () => ((await stays.says())?.seq ?? 0) >= pen.seq, 2);
    const live = (pen.seq - before) / ((performance.now() - startMs) / 1_000);
    leaves.start();
    const read = await readRate(leaves, pen.seq);
    await pen.give();
    return { live, read, entries: pen.seq - before };
  } finally {
    for (const node of nodes) await node.stop();
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
async function measureJoins(nats: BenchNats, directory: string, rounds: number) {
  const market = 'pools';
  const leader = new BenchNode(nats, directory, market, 3);
  try {
    leader.start();
    await until(async () => (await leader.says())?.role === 'leader');
    const pen = await Pen.take(nats.url, market, LEASE_MS);
    for (const draft of await launchDrafts(pen)) await pen.append([draft]);
    await until(async () => ((await leader.says())?.seq ?? 0) >= pen.seq);
    await leader.stop();
    await pen.give();
    leader.start({ SNAPSHOT_EVERY: '50' });
    const taken = /upcurve_snapshots_total\{[^}]*taken[^}]*\} (\d+)/;
    await until(async () => (await leader.says())?.role === 'leader');
    await until(async () => (await leader.metric(taken)) > 0);
    const seconds: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const joiner = new BenchNode(nats, directory, market, 10 + round);
      const startMs = performance.now();
      joiner.start();
      await until(async () => (await joiner.says())?.status === 200, 5);
      seconds.push((performance.now() - startMs) / 1_000);
      await joiner.stop();
    }
    return seconds;
  } finally {
    await leader.stop();
  }
}

/** Blocks that go on from the newest of the log, with launches that no ledger has judged. */
async function launchDrafts(pen: Pen): Promise<EntryDraft[]> {
  const all = await pen.log.read(await pen.log.first(), AT_ONCE);
  const payloads = all.map(({ entry }) => entry.payload);
  const newest = payloads.findLast((one) => one.kind === 'block' && one.chain !== undefined);
  const found = newest?.kind === 'block' ? newest.chain : undefined;
  let parent = found ?? null;
  let slot = found?.slot ?? 0;
  let atMs = pen.marketMs;
  const drafts: EntryDraft[] = [];
  for (const { payload } of launches({ pools: POOLS, orders: 0 })) {
    if (payload.kind !== 'block' || payload.chain === undefined) continue;
    slot += 1;
    atMs += SLOT_MS;
    const at = { slot, height: (parent?.height ?? 0) + 1 };
    const chain = { ...payload.chain, ...at, hash: blockHash(parent, at, []), raw: [] };
    parent = chain;
    drafts.push({ timeMs: atMs, payload: { ...payload, atMs, chain } });
  }
  return drafts;
}

async function until(condition: () => Promise<boolean>, everyMs = 50): Promise<void> {
  while (!(await condition())) await wait(everyMs);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
