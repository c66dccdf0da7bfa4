/**
 * What one of several nodes costs and adds: CPU for a frame on a follower beside a single node,
 * with the same trades and the same sockets; and how much later a client of a follower hears of
 * what the ledger did than a client of the leader.
 * The question, the method and the numbers are in RESULTS.md.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import type { ClusterNode } from './processes/clusterNode.ts';
import type { Market } from './processes/market.ts';
import type { Receiver } from './processes/receiver.ts';
import { type Bench, fixed, type Scale, whole } from './support/bench.ts';
import { LogFeed, WalkedEntries } from './support/logFeed.ts';
import { type BenchNats, MarketWriter, startNats } from './support/natsServer.ts';
import type { Usage } from './support/offers.ts';
import { type Core, Process, pinned } from './support/processes.ts';
import { quantile } from './support/quantile.ts';
import { type SharedDevnet, startSharedDevnet } from './support/sharedDevnet.ts';
import { assetOf, QUOTE } from './support/trades.ts';

const PORT = 18_431;
const MARKET = 'bench';
const LEASE_MS = 1_000;
const SOCKETS = 400;
const STREAMS = 10;
const FEED = { pairs: STREAMS, everyMs: 50 };
const PACE = '20';
const BLOCK_EVERY_MS = 100;
const TOKENS = 3;

export const clusterFrames: Bench = {
  name: 'clusterFrames',
  async measure(scale, progress) {
    const directory = mkdtempSync(join(tmpdir(), 'upcurve-bench-'));
    const nats = await startNats(directory, PORT);
    try {
      progress('CPU for a frame');
      const { single, follower } = await measureSides(nats, directory, scale);
      progress('leader to follower');
      const laterMs = await measureLater(nats, directory, scale);
      const rows = [
        row('a single node', single, single, []),
        row('a follower', follower, single, laterMs),
      ];
      const load = `${SOCKETS} sockets × ${STREAMS} streams; ${laterMs.length} frames compared.`;
      return { columns: COLUMNS, rows, notes: [load, PLACES] };
    } finally {
      await nats.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  },
};

const COLUMNS = [
  'node',
  'frames/s',
  'fan-out µs/frame',
  'to a single one',
  'whole process µs/frame',
  'to a single one',
  'later than the leader p50 ms',
  'p99 ms',
];
const PLACES = pinned
  ? 'Nodes on core 0, receivers on core 1; the follower that is timed beside a leader, too; ' +
    'nats-server, who writes and who compares on either.'
  : 'Not pinned: no taskset, or one core.';

interface Side {
  readonly framesPerSecond: number;
  /** Excludes the cost of the same feed without listeners. */
  readonly fanOutUs: number;
  readonly wholeUs: number;
}

function row(name: string, side: Side, single: Side, laterMs: readonly number[]): string[] {
  return [
    name,
    whole(side.framesPerSecond),
    fixed(side.fanOutUs),
    fixed(side.fanOutUs / single.fanOutUs),
    fixed(side.wholeUs),
    fixed(side.wholeUs / single.wholeUs),
    laterMs.length === 0 ? '–' : fixed(quantile(laterMs, 0.5)),
    laterMs.length === 0 ? '–' : fixed(quantile(laterMs, 0.99)),
  ];
}

function clusterNode(
  nats: BenchNats,
  chain: SharedDevnet,
  market: string,
  name: string,
  core: Core,
) {
  const pace = market === MARKET ? '0' : PACE;
  const settings = {
    ...chain.settings,
    NATS_URL: nats.url,
    MARKET_NAME: market,
    NODE_NAME: name,
    LEASE_MS: String(LEASE_MS),
  };
  const args = [JSON.stringify(settings), pace];
  return Process.start<ClusterNode>('clusterNode.ts', core, args);
}

/** A server, who listens to it, and what feeds it. */
interface Player {
  readonly server: Process<Pick<Market, 'port' | 'begin' | 'end'>>;
  readonly receiver: Process<Receiver>;
  feed(): unknown;
  rest(): Promise<unknown>;
}

async function measureSides(nats: BenchNats, directory: string, scale: Scale) {
  const chain = await startSharedDevnet(join(directory, MARKET), 0);
  const [market, node] = [
    await Process.start<Market>('market.ts', 'server'),
    await clusterNode(nats, chain, MARKET, 'a', 'server'),
  ];
  const receivers = [
    await Process.start<Receiver>('receiver.ts', 'client'),
    await Process.start<Receiver>('receiver.ts', 'client'),
  ] as const;
  await until(async () => (await node.ask('role')) === 'leader');
  const writer = await MarketWriter.take(nats.url, MARKET, LEASE_MS);
  const feed = new LogFeed(writer, new WalkedEntries(writer.marketMs));
  const single: Player = {
    // trust: both offer these three, which the types of the others hide
    server: market as unknown as Player['server'],
    receiver: receivers[0],
    feed: () => market.ask('feed', FEED),
    rest: () => market.ask('rest'),
  };
  const follower: Player = {
    // trust: as above
    server: node as unknown as Player['server'],
    receiver: receivers[1],
    feed: () => feed.begin(FEED),
    rest: () => feed.rest(),
  };
  const players = [single, follower];
  try {
    const idle = await rounds(players, scale);
    for (const { server, receiver } of players) {
      const port = await server.ask('port');
      const framesEach = 2 * STREAMS;
      await receiver.ask('open', { port, sockets: SOCKETS, greeting: greeting(), framesEach });
    }
    const heard = await rounds(players, scale);
    for (const { receiver } of players) await receiver.ask('close');
    return {
      single: sideOf(heard[0] ?? [], idle[0] ?? []),
      follower: sideOf(heard[1] ?? [], idle[1] ?? []),
    };
  } finally {
    await writer.give();
    await node.ask('stop').catch(() => {});
    await Promise.all([market, node, ...receivers].map((process) => process.end()));
    await chain.stop();
  }
}

interface Window {
  readonly frames: number;
  readonly usage: Usage;
}

/** Of each player; they take turns, and the first round warms up. */
async function rounds(players: readonly Player[], { seconds, rounds }: Scale): Promise<Window[][]> {
  const found: Window[][] = players.map(() => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [at, { server, receiver, feed, rest }] of players.entries()) {
      await receiver.ask('nudge');
      await feed();
      await wait(300);
      const [before] = await Promise.all([receiver.ask('frames'), server.ask('begin')]);
      await wait(round === 0 ? 1_000 : seconds * 1_000);
      const [after, usage] = await Promise.all([receiver.ask('frames'), server.ask('end')]);
      await rest();
      if (round > 0) found[at]?.push({ frames: after - before, usage });
    }
  }
  return found;
}

function sideOf(heard: readonly Window[], idle: readonly Window[]): Side {
  const sum = (all: readonly Window[], of: (one: Window) => number) =>
    all.reduce((total, one) => total + of(one), 0);
  const seconds = (all: readonly Window[]) => sum(all, ({ usage }) => usage.wallMs) / 1_000;
  const cpuUs = sum(heard, ({ usage }) => usage.cpuUs);
  const idleUs = sum(idle, ({ usage }) => usage.cpuUs) / seconds(idle);
  const frames = sum(heard, (one) => one.frames);
  return {
    framesPerSecond: frames / seconds(heard),
    fanOutUs: (cpuUs - idleUs * seconds(heard)) / frames,
    wholeUs: cpuUs / frames,
  };
}

function greeting(): string {
  const topics = Array.from({ length: STREAMS }, (_, pair) => ({
    requestId: `r-${pair}`,
    topic: 'LastBar',
    data: { pair: { base: assetOf(pair), quote: QUOTE }, interval: 'min1' },
  }));
  return JSON.stringify({ messageType: 'subscribe', topics });
}

/** Of each frame that both nodes sent: how much later the follower's was here, in ms. */
async function measureLater(nats: BenchNats, directory: string, { seconds, rounds }: Scale) {
  const market = 'later';
  const chain = await startSharedDevnet(join(directory, market), BLOCK_EVERY_MS);
  const leader = await clusterNode(nats, chain, market, 'a', 'server');
  await until(async () => (await leader.ask('role')) === 'leader');
  const follower = await clusterNode(nats, chain, market, 'b', 'client');
  try {
    const ports = [await leader.ask('port'), await follower.ask('port')] as const;
    let tokens: string[] = [];
    await until(async () => {
      const path = '/v1/pools-main-page/initial/state?filter=Latest';
      const answer = await fetch(`http://127.0.0.1:${ports[1]}${path}`);
      const found = (await answer.text()).match(/\b[0-9a-f]{56}\.[0-9a-f]+/g) ?? [];
      tokens = [...new Set(found)];
      return tokens.length >= TOKENS;
    });
    const heard = await Promise.all(ports.map((port) => listen(port, tokens)));
    await wait(seconds * rounds * 1_000);
    for (const { socket } of heard) socket.terminate();
    const [first, second] = heard;
    const later: number[] = [];
    for (const [key, atMs] of second?.frames ?? []) {
      const leaderMs = first?.frames.get(key);
      if (leaderMs !== undefined) later.push(atMs - leaderMs);
    }
    return later;
  } finally {
    for (const node of [follower, leader]) await node.ask('stop').catch(() => {});
    await Promise.all([leader, follower].map((process) => process.end()));
    await chain.stop();
  }
}

/** Frames that are no snapshots, by stream and position: when the first came. */
async function listen(port: number, tokens: readonly string[]) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`);
  await once(socket, 'open');
  const frames = new Map<string, number>();
  socket.on('message', (bytes: Buffer) => {
    const atMs = performance.now();
    // trust: the envelope of every frame (api.md)
    const frame = JSON.parse(String(bytes)) as Record<string, unknown>;
    const { requestId, event, epoch, seq, snapshot } = frame;
    if (event === 'Ping') socket.send('{"messageType":"pong","requestId":null}');
    else if (snapshot !== true && event !== 'Subscribed') {
      const key = `${requestId} ${event} ${epoch}:${seq}`;
      if (!frames.has(key)) frames.set(key, atMs);
    }
  });
  const topics = tokens.flatMap((asset) => [
    { requestId: `trades ${asset}`, topic: 'Trades', data: { asset } },
    { requestId: `orders ${asset}`, topic: 'LiveOrdersFeed', data: { asset, pkhFilter: null } },
  ]);
  socket.send(JSON.stringify({ messageType: 'subscribe', topics }));
  return { socket, frames };
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await wait(50);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
