/**
 * Sockets over both cores: one process that serves them all, against a node that leads and readers
 * that share one port with it. The question, the method and the numbers are in RESULTS.md.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/engine/runtime/clock.ts';
import { Failure } from '../src/engine/runtime/errors.ts';
import { systemRng } from '../src/engine/runtime/rng.ts';
import { freePorts, localNats, runningNats } from '../src/server/cli/localServers.ts';
import type { Heard, Listener } from './processes/listener.ts';
import type { MovingMarket } from './processes/movingMarket.ts';
import type { Receiver } from './processes/receiver.ts';
import type { SyncingNode } from './processes/syncingNode.ts';
import { type Bench, fixed, type Scale, whole } from './support/bench.ts';
import { machineMs } from './support/machineClock.ts';
import { pause } from './support/pause.ts';
import { AS_STARTED, type Core, cpuUsOf, Process } from './support/processes.ts';
import { quantile } from './support/quantile.ts';
import { QUOTE } from './support/trades.ts';

const PAIRS = 10;
const SOCKETS = 15_000;
/** Sockets of each pair that are read at once. */
const SAMPLED = 2;
const BLOCK_EVERY_MS = 50;
/** 400 bytes come to a socket ten times a second: all that comes in this time fits its buffer. */
const READ_EVERY_MS = 4_000;
const SETTLE_MS = 5_000;
const WINDOWS_A_ROUND = 3;
const AGE_EVERY_MS = 1;

interface Place {
  readonly name: string;
  readonly core: Core;
  /** Null: one process, without NATS. */
  readonly readers: number | null;
}

const ALONE: Place = { name: 'one process on core 0', core: 'server', readers: null };
const PLACES: readonly Place[] = [
  ALONE,
  { name: 'one process on both cores', core: 'any', readers: null },
  { name: 'the node that leads, 1 reader', core: 'any', readers: 1 },
  { name: 'the node that leads, 2 readers', core: 'any', readers: 2 },
];

interface Window {
  readonly frames: number;
  readonly seconds: number;
  /** Cores that each process kept busy. */
  readonly nodes: readonly number[];
  readonly nats: number;
  readonly load: number;
  readonly agesMs: readonly number[];
}

type Node = Process<SyncingNode>;

interface Load {
  readonly market: Process<MovingMarket>;
  readonly receiver: Process<Receiver>;
  readonly listener: Process<Listener>;
}

export const readers: Bench = {
  name: 'readers',
  async measure(scale, progress) {
    const found = new Map<Place, Window[]>(PLACES.map((place) => [place, []]));
    for (let round = 1; round <= scale.rounds; round += 1) {
      for (const place of PLACES) {
        progress(`${place.name}, round ${round}`);
        found.get(place)?.push(await measurePlace(place, scale));
      }
    }
    const base = framesPerSecond(found.get(ALONE) ?? []);
    const rows = PLACES.map((place) => cells(place, found.get(place) ?? [], base));
    return { columns: COLUMNS, rows, notes: NOTES };
  },
};

const COLUMNS = [
  `${whole(SOCKETS)} sockets served by`,
  'frames/s',
  'ratio',
  'age p50 ms',
  'age p99 ms',
  'cores busy, each process',
  'NATS',
  'load',
];

const NOTES = [
  `${1_000 / BLOCK_EVERY_MS} blocks a second with a trade of each of ${PAIRS} pairs.`,
  'Load: the fake Ogmios and the sockets; beside the process on core 0 it is on core 1.',
];

function cells({ name }: Place, windows: readonly Window[], base: number): string[] {
  const mean = (of: (window: Window) => number) =>
    fixed(windows.reduce((sum, window) => sum + of(window), 0) / windows.length);
  const ages = windows.flatMap(({ agesMs }) => agesMs);
  return [
    name,
    whole(framesPerSecond(windows)),
    fixed(framesPerSecond(windows) / base),
    fixed(quantile(ages, 0.5), 1),
    fixed(quantile(ages, 0.99), 1),
    (windows[0]?.nodes ?? []).map((_, at) => mean(({ nodes }) => nodes[at] ?? 0)).join(' + '),
    mean(({ nats }) => nats),
    mean(({ load }) => load),
  ];
}

function framesPerSecond(windows: readonly Window[]): number {
  const sum = (of: (window: Window) => number) => windows.reduce((all, each) => all + of(each), 0);
  return sum(({ frames }) => frames) / sum(({ seconds }) => seconds);
}

async function measurePlace({ core, readers }: Place, scale: Scale): Promise<Window> {
  const directory = mkdtempSync(join(tmpdir(), 'upcurve-bench-'));
  const loadOn = core === 'server' ? 'client' : 'any';
  const load: Load = {
    market: await Process.start('movingMarket.ts', loadOn, [`${PAIRS}`, '0', '1']),
    receiver: await Process.start('receiver.ts', loadOn),
    listener: await Process.start('listener.ts', loadOn),
  };
  const nats = readers === null ? null : await startNats(directory);
  const nodes: Node[] = [];
  try {
    const ogmios = `ws://127.0.0.1:${await load.market.ask('port')}`;
    const [port = 0, ...adminPorts] = await freePorts(2 + (readers ?? 0), systemRng);
    for (const [at, adminPort] of adminPorts.entries()) {
      const own = { PORT: `${port}`, ADMIN_PORT: `${adminPort}`, NODE_NAME: `node-${at}` };
      const cluster = { PORT_SHARED: 'true', NATS_URL: nats?.url, ROLE: at > 0 ? 'reader' : 'any' };
      const settings = JSON.stringify(nats === null ? own : { ...own, ...cluster });
      const args = [at > 0 ? '' : ogmios, 'busy', settings];
      nodes.push(await Process.start('syncingNode.ts', core, args, { options: AS_STARTED }));
    }
    await begin(load, nodes, port, scale);
    const natsPid = nats === null ? null : runningNats(directory, process.env);
    return await measureWindow(load, nodes, natsPid, scale);
  } finally {
    await Promise.all([...Object.values(load), ...nodes].map((each) => each.end()));
    await nats?.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function startNats(directory: string) {
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const deps = { environment: process.env, clock: systemClock, rng: systemRng, say };
  const nats = await localNats(directory, deps);
  if (nats instanceof Failure) throw new Error(nats.message);
  if (!(await nats.start(say))) throw new Error('nats-server did not start');
  return nats;
}

/** Opens the sockets and lets the chain grow. */
async function begin(
  { market, receiver, listener }: Load,
  nodes: readonly Node[],
  port: number,
  { seconds }: Scale,
): Promise<void> {
  const blocks = (SETTLE_MS + (WINDOWS_A_ROUND * seconds + 1) * 1_000) / BLOCK_EVERY_MS;
  await market.ask('prepare', blocks);
  const launched = await market.ask('height');
  for (const node of nodes) while ((await node.ask('height')) < launched) await pause(100);
  for (const base of await market.ask('tokens')) {
    const data = { pair: { base, quote: QUOTE }, interval: 'min1' };
    const subscription = { messageType: 'subscribe', requestId: 'r0000', topic: 'LastBar', data };
    const greeting = JSON.stringify(subscription);
    await receiver.ask('open', { port, sockets: SOCKETS / PAIRS, greeting, framesEach: 1 });
    const url = `ws://127.0.0.1:${port}/ws`;
    await listener.ask('open', { url, greeting, sockets: SAMPLED });
  }
  await receiver.ask('readEvery', READ_EVERY_MS);
  await market.ask('followed', Number.POSITIVE_INFINITY);
  await market.ask('begin', { perSecond: 1_000, everyMs: BLOCK_EVERY_MS });
  await receiver.ask('nudge');
  await pause(SETTLE_MS);
}

async function measureWindow(
  { market, receiver, listener }: Load,
  nodes: readonly Node[],
  natsPid: string | null,
  { seconds }: Scale,
): Promise<Window> {
  const look = async () => ({
    frames: await receiver.ask('frames'),
    atMs: machineMs(),
    nodes: nodes.map((node) => node.cpuUs()),
    nats: natsPid === null ? 0 : cpuUsOf(natsPid),
    load: market.cpuUs() + receiver.cpuUs() + listener.cpuUs(),
  });
  await receiver.ask('nudge');
  await listener.ask('take');
  const before = await look();
  await pause(WINDOWS_A_ROUND * seconds * 1_000);
  const after = await look();
  const tookMs = after.atMs - before.atMs;
  const cores = (fromUs: number, toUs: number) => (toUs - fromUs) / 1_000 / tookMs;
  return {
    frames: after.frames - before.frames,
    seconds: tookMs / 1_000,
    nodes: after.nodes.map((us, at) => cores(before.nodes[at] ?? 0, us)),
    nats: cores(before.nats, after.nats),
    load: cores(before.load, after.load),
    agesMs: agesIn(await listener.ask('take')),
  };
}

/** Age of the newest bar that a sampled socket has, at each millisecond. */
function agesIn(heard: readonly Heard[]): number[] {
  const offsetMs = Date.now() - machineMs();
  const newest = new Map<number, Heard>();
  const ages: number[] = [];
  for (const each of heard) {
    const before = newest.get(each.socket);
    newest.set(each.socket, each);
    if (before === undefined) continue;
    const bornMs = before.marketMs - offsetMs;
    for (let atMs = before.atMs; atMs < each.atMs; atMs += AGE_EVERY_MS) ages.push(atMs - bornMs);
  }
  return ages;
}
