/**
 * Our server beside the usual alternatives, each a program that reads the same feed and sends to
 * the same sockets: CPU a message, messages a second, from line to socket, memory, slow readers.
 * The question, the method and the numbers are in RESULTS.md.
 */
import type { PeerReceiver, Told } from './processes/peerReceiver.ts';
import { type Bench, fixed, type Scale, whole } from './support/bench.ts';
import { pause } from './support/pause.ts';
import { PeerFeed } from './support/peerFeed.ts';
import { install, type Peer, PeerServer } from './support/peerServers.ts';
import { Process, pinned } from './support/processes.ts';
import { quantile } from './support/quantile.ts';
import { assetOf } from './support/trades.ts';

const SOCKETS = 1_000;
const PAIRS = 10;
/**
 * A server sends to the sockets of a pair one after the other, so the sampled sockets are spread
 * over that order. The step has no divisor in common with `PAIRS`, so every pair is sampled.
 */
const SAMPLED_EVERY = 21;
const SAMPLED = Math.ceil(SOCKETS / SAMPLED_EVERY);
const STALLED = 20;
/** In windows: so long that the system's own buffers are full. */
const STALL = 4;
/**
 * Trades a second: a rate that every server can carry; as issue and table say; more than most bear.
 */
const CALM = 100;
const BUSY = 1_000;
const FLOOD = 10_000;
/** After a window, time for messages that are still on their way. */
const SETTLE_MS = 500;
const MIB = 1024 * 1024;
const KIB = 1024;

const BASES = Array.from({ length: PAIRS }, (_, pair) => assetOf(pair));

interface Window {
  readonly messagesPerSecond: number;
  readonly cpuUsPerMessage: number;
  /** From the line to the first message that contains its trade or a later trade of its pair. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Measured {
  readonly cpuUsPerTrade: number;
  readonly kibPerSocket: number;
  readonly calm: Window;
  readonly busy: Window;
  readonly flood: Window;
  readonly stalled: string;
}

export const peers: Bench = {
  name: 'peers',
  async measure(scale, progress) {
    const installed = install(progress);
    const rows: string[][] = [];
    try {
      for (const peer of installed.peers) {
        progress(peer.name);
        rows.push([peer.name, ...cells(await measurePeer(peer, scale))]);
      }
    } finally {
      installed.remove();
    }
    const notes = [
      `${whole(SOCKETS)} sockets, each with the bars of one of ${PAIRS} pairs; ` +
        `${SAMPLED} of them, from all places in the order, are read for times.`,
      pinned ? 'Servers on core 0, sockets on core 1.' : 'Not pinned: no taskset, or one core.',
      ...installed.skipped,
    ];
    return { columns: COLUMNS, rows, notes };
  },
};

const COLUMNS = [
  'server',
  'CPU µs/trade, no sockets',
  `CPU µs/message, ${CALM} trades/s`,
  'p50 ms',
  'p99 ms',
  `CPU µs/message, ${whole(BUSY)} trades/s`,
  'p50 ms',
  'p99 ms',
  `messages/s, ${whole(FLOOD)} trades/s`,
  'p50 ms',
  'p99 ms',
  'KiB/socket',
  `${STALLED} sockets that do not read`,
];

function cells({ cpuUsPerTrade, kibPerSocket, calm, busy, flood, stalled }: Measured): string[] {
  const timed = ({ p50Ms, p99Ms }: Window) => [shown(p50Ms), shown(p99Ms)];
  return [
    whole(cpuUsPerTrade),
    fixed(calm.cpuUsPerMessage, 1),
    ...timed(calm),
    fixed(busy.cpuUsPerMessage, 1),
    ...timed(busy),
    whole(flood.messagesPerSecond),
    ...timed(flood),
    fixed(kibPerSocket, 1),
    stalled,
  ];
}

function shown(milliseconds: number): string {
  return Number.isNaN(milliseconds) ? '–' : fixed(milliseconds, milliseconds < 100 ? 1 : 0);
}

async function measurePeer(peer: Peer, scale: Scale): Promise<Measured> {
  const stage = await Stage.open(peer);
  // Code that compiles while it runs has been compiled by then.
  await stage.unheard(BUSY, scale.seconds);
  const cpuUsPerTrade = await stage.unheard(BUSY, scale.seconds);
  const before = stage.server.rssBytes();
  await stage.fill(SOCKETS);
  const kibPerSocket = (stage.server.rssBytes() - before) / SOCKETS / KIB;
  await stage.window(BUSY, 1);
  const calm = await stage.window(CALM, scale.seconds);
  const busy = await stage.window(BUSY, scale.seconds);
  const flood = await stage.window(FLOOD, scale.seconds);
  await stage.end();
  const stalled = await watchStalled(peer, STALL * scale.seconds);
  return { cpuUsPerTrade, kibPerSocket, calm, busy, flood, stalled };
}

/** A server with its feed, and what listens to it. */
class Stage {
  readonly #peer: Peer;
  readonly server: PeerServer;
  readonly receiver: Process<PeerReceiver>;
  readonly feed: PeerFeed;

  private constructor(
    peer: Peer,
    server: PeerServer,
    receiver: Process<PeerReceiver>,
    feed: PeerFeed,
  ) {
    this.#peer = peer;
    this.server = server;
    this.receiver = receiver;
    this.feed = feed;
  }

  static async open(peer: Peer): Promise<Stage> {
    const feed = await PeerFeed.open();
    const server = await PeerServer.start(peer, feed.port);
    const receiver = await Process.start<PeerReceiver>('peerReceiver.ts', 'client');
    const stage = new Stage(peer, server, receiver, feed);
    // A pair is known once it was traded.
    feed.begin(PAIRS, CALM);
    await pause(SETTLE_MS);
    feed.rest();
    await pause(SETTLE_MS);
    return stage;
  }

  async fill(sockets: number): Promise<void> {
    const { path, greeting } = this.#peer;
    const { port } = this.server;
    await this.receiver.ask('open', {
      ...{ port, sockets, path, greeting },
      ...{ bases: BASES, sampledEvery: SAMPLED_EVERY },
    });
  }

  /** The cost of a trade while no socket listens. */
  async unheard(perSecond: number, seconds: number): Promise<number> {
    const { feed, server } = this;
    const [before, cpuUs] = [feed.sentMs.length, server.cpuUs()];
    feed.begin(PAIRS, perSecond);
    await pause(seconds * 1000);
    feed.rest();
    await pause(SETTLE_MS);
    return (server.cpuUs() - cpuUs) / (feed.sentMs.length - before);
  }

  async window(perSecond: number, seconds: number): Promise<Window> {
    const { feed, receiver, server } = this;
    if (this.#peer.nudge !== null) await receiver.ask('nudge', this.#peer.nudge);
    await receiver.ask('take');
    const from = feed.sentMs.length;
    const cpuUs = server.cpuUs();
    const startMs = performance.now();
    feed.begin(PAIRS, perSecond);
    await pause(seconds * 1000);
    const passed = (performance.now() - startMs) / 1000;
    const used = server.cpuUs() - cpuUs;
    const { told } = await receiver.ask('take');
    feed.rest();
    await pause(SETTLE_MS);
    const later = (await receiver.ask('take')).told;
    const messages = (told.length * SOCKETS) / SAMPLED;
    const waitsMs = waitsOf([...told, ...later], feed.sentMs, from);
    return {
      messagesPerSecond: messages / passed,
      cpuUsPerMessage: used / messages,
      p50Ms: quantile(waitsMs, 0.5),
      p99Ms: quantile(waitsMs, 0.99),
    };
  }

  async end(): Promise<void> {
    await this.receiver.ask('close');
    await this.receiver.end();
    this.feed.close();
    await this.server.end();
  }
}

/**
 * For each trade from `from` on, on each sampled socket that received that trade or a later one.
 */
function waitsOf(told: readonly Told[], sentMs: readonly number[], from: number): number[] {
  const next = new Map<number, number>();
  const waits: number[] = [];
  for (const { socket, number, atMs } of told) {
    const first = from + ((((socket - from) % PAIRS) + PAIRS) % PAIRS);
    let at = next.get(socket) ?? first;
    for (; at <= number; at += PAIRS) waits.push(atMs - (sentMs[at] ?? atMs));
    next.set(socket, at);
  }
  return waits;
}

/** The fate of sockets that stop reading while 1,000 messages a second are due to each. */
async function watchStalled(peer: Peer, seconds: number): Promise<string> {
  const stage = await Stage.open(peer);
  await stage.fill(STALLED);
  await stage.receiver.ask('stall');
  const before = stage.server.rssBytes();
  stage.feed.begin(PAIRS, FLOOD);
  await pause(seconds * 1000);
  stage.feed.rest();
  const held = (stage.server.rssBytes() - before) / MIB;
  await stage.receiver.ask('resume');
  await pause(4 * SETTLE_MS);
  const closed = await stage.receiver.ask('closed');
  await stage.end();
  return `${closed} closed, ${held < 0 ? '0' : whole(held)} MiB more`;
}
