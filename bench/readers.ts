/**
 * The requests that readers send to NATS, and the cost of readers for the leader: messages that
 * each connection sends to the server, as the server counts them, while nothing happens and while
 * blocks are made. The question, the method and the numbers are in RESULTS.md.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClusterNode } from './processes/clusterNode.ts';
import { type Bench, fixed, whole } from './support/bench.ts';
import { type BenchNats, startNats } from './support/natsServer.ts';
import { Process } from './support/processes.ts';
import { type SharedDevnet, startSharedDevnet } from './support/sharedDevnet.ts';

const PORT = 18_441;
const MONITOR_PORT = 18_442;
const COUNTS = [1, 5, 20];
const QUICK_COUNTS = [1, 3];
const LEADER = 'leader';
const READER = 'reader-';
const MINE_EVERY_MS = 25;
/** Looks come every few seconds: a window has several. */
const WINDOWS = 5;

type Node = Process<ClusterNode>;

export const readers: Bench = {
  name: 'readers',
  async measure({ seconds, rounds }, progress) {
    const directory = mkdtempSync(join(tmpdir(), 'upcurve-bench-'));
    const nats = await startNats(directory, PORT, MONITOR_PORT);
    const devnet = await startSharedDevnet(join(directory, 'devnet'), 0);
    const nodes: Node[] = [];
    const windowMs = WINDOWS * seconds * 1_000;
    try {
      const leader = await start(nats, devnet, LEADER, 'any');
      nodes.push(leader);
      await until(async () => (await leader.ask('role')) === 'leader');
      const port = await leader.ask('port');
      const rows: string[][] = [];
      for (const count of rounds > 1 ? COUNTS : QUICK_COUNTS) {
        while (nodes.length <= count) {
          nodes.push(await start(nats, devnet, `${READER}${nodes.length}`, 'reader'));
        }
        progress(`${count} readers`);
        // The requests of the start are over.
        await wait(2_000);
        const quiet = await measured(leader, () => wait(windowMs));
        const busy = await measured(leader, () => mineFor(port, windowMs));
        rows.push(row(count, quiet, busy));
      }
      return { columns: COLUMNS, rows, notes: [NOTE] };
    } finally {
      await Promise.all(nodes.map((node) => node.ask('stop').catch(() => {})));
      await Promise.all(nodes.map((node) => node.end()));
      await devnet.stop();
      await nats.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  },
};

const COLUMNS = [
  'readers',
  'quiet: requests/s of all readers',
  'of each',
  'of the leader',
  'busy: entries/s',
  'requests/s of each reader',
  'of the leader',
  'more for an entry, each reader',
  'more for an entry, the leader',
  'messages to each reader for an entry',
];
const NOTE =
  'LEASE_MS is 5,000, as it is unless set; one nats-server, every node a process of its own.';

interface Window {
  readonly entriesPerSecond: number;
  /** A second. */
  readonly fromReaders: number;
  readonly toReaders: number;
  readonly fromLeader: number;
}

function row(count: number, quiet: Window, busy: Window): string[] {
  const entries = busy.entriesPerSecond - quiet.entriesPerSecond;
  const each = (all: number) => all / count;
  return [
    String(count),
    fixed(quiet.fromReaders, 1),
    fixed(each(quiet.fromReaders)),
    fixed(quiet.fromLeader),
    whole(busy.entriesPerSecond),
    fixed(each(busy.fromReaders)),
    fixed(busy.fromLeader, 1),
    fixed(each(busy.fromReaders - quiet.fromReaders) / entries, 3),
    fixed((busy.fromLeader - quiet.fromLeader) / entries, 2),
    fixed(each(busy.toReaders - quiet.toReaders) / entries, 2),
  ];
}

function start(nats: BenchNats, chain: SharedDevnet, name: string, role: string): Promise<Node> {
  const settings = {
    ...(role === 'reader' ? { NETWORK: 'devnet' } : chain.settings),
    NATS_URL: nats.url,
    MARKET_NAME: 'bench',
    NODE_NAME: name,
    ROLE: role,
  };
  return Process.start<ClusterNode>('clusterNode.ts', 'any', [JSON.stringify(settings), '0']);
}

interface Connection {
  readonly name?: string;
  /** Counted by the server: from the client, and to it. */
  readonly in_msgs: number;
  readonly out_msgs: number;
}

async function counts() {
  const answer = await fetch(`http://127.0.0.1:${MONITOR_PORT}/connz?limit=1024`);
  // trust: the format that nats-server documents
  const { connections } = (await answer.json()) as { connections: readonly Connection[] };
  const sum = (isOne: (name: string) => boolean, of: (one: Connection) => number) =>
    connections
      .filter(({ name = '' }) => isOne(name))
      .reduce((total, connection) => total + of(connection), 0);
  const isReader = (name: string) => name.startsWith(READER);
  return {
    fromReaders: sum(isReader, ({ in_msgs }) => in_msgs),
    toReaders: sum(isReader, ({ out_msgs }) => out_msgs),
    fromLeader: sum(
      (name) => name === LEADER,
      ({ in_msgs }) => in_msgs,
    ),
  };
}

async function measured(leader: Node, during: () => Promise<unknown>): Promise<Window> {
  const startMs = performance.now();
  const [before, seqBefore] = [await counts(), await leader.ask('seq')];
  await during();
  const [after, seqAfter] = [await counts(), await leader.ask('seq')];
  const seconds = (performance.now() - startMs) / 1_000;
  return {
    entriesPerSecond: (seqAfter - seqBefore) / seconds,
    fromReaders: (after.fromReaders - before.fromReaders) / seconds,
    toReaders: (after.toReaders - before.toReaders) / seconds,
    fromLeader: (after.fromLeader - before.fromLeader) / seconds,
  };
}

async function mineFor(port: number, windowMs: number): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ blocks: 1 });
  const endMs = performance.now() + windowMs;
  while (performance.now() < endMs) {
    await fetch(`http://127.0.0.1:${port}/devnet/v1/mine`, { method: 'POST', headers, body });
    await wait(MINE_EVERY_MS);
  }
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await wait(50);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
