/**
 * CPU of a node that follows 1,000 trades and orders a second in 5,000 pools, while 1,000 sockets
 * subscribe to nothing, and while each of them subscribes to an order book. The question, the
 * method and the numbers are in RESULTS.md.
 */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { MovingMarket } from './processes/movingMarket.ts';
import type { SyncingNode } from './processes/syncingNode.ts';
import { type Bench, fixed, percent, whole } from './support/bench.ts';
import { keepInStep } from './support/keepInStep.ts';
import type { Usage } from './support/offers.ts';
import { pause } from './support/pause.ts';
import { AS_STARTED, Process } from './support/processes.ts';

const POOLS = 5_000;
const UPDATES_A_SECOND = 1_000;
const SOCKETS = 1_000;
const SETTLE_MS = 2_000;
const WINDOWS_A_ROUND_SECONDS = 3;
const CROWDS = ['nothing', 'a book each'] as const;
type Subscribed = (typeof CROWDS)[number];

interface Window extends Usage {
  readonly updates: number;
  readonly frames: number;
  readonly bytes: number;
}

export const books: Bench = {
  name: 'books',
  async measure({ seconds, rounds }, progress) {
    const market = await Process.start<MovingMarket>('movingMarket.ts', 'any', [`${POOLS}`, '0']);
    const url = `ws://127.0.0.1:${await market.ask('port')}`;
    const how = { options: AS_STARTED };
    const node = await Process.start<SyncingNode>('syncingNode.ts', 'any', [url, 'busy'], how);
    try {
      progress('pools are followed');
      const launched = await market.ask('height');
      while ((await node.ask('height')) < launched) await pause(SETTLE_MS / 10);
      const following = keepInStep(market, node);
      await market.ask('begin', { perSecond: UPDATES_A_SECOND });
      const found: Record<Subscribed, Window[]> = { nothing: [], 'a book each': [] };
      for (let round = 1; round <= rounds; round += 1) {
        for (const crowd of CROWDS) {
          progress(`${crowd}, round ${round}`);
          found[crowd].push(await measureCrowd(market, node, crowd, seconds));
        }
      }
      await following.stop();
      const base = cpuUsAnUpdate(found.nothing);
      const rows = CROWDS.map((crowd) => cells(crowd, found[crowd], base));
      return { columns: COLUMNS, rows, notes: NOTES };
    } finally {
      await Promise.all([node.end(), market.end()]);
    }
  },
};

const COLUMNS = [
  '1,000 sockets subscribe to',
  'trades and orders/s',
  'frames/s',
  'bytes/frame',
  'CPU µs a trade or order',
  'ratio',
  'core busy',
  'loop delay p99 ms',
];

const NOTES = [
  'Whole process of the node: the JSON of its Ogmios is read and blocks are folded in it, too.',
];

async function measureCrowd(
  market: Process<MovingMarket>,
  node: Process<SyncingNode>,
  crowd: Subscribed,
  seconds: number,
): Promise<Window> {
  const tokens = (await market.ask('tokens')).slice(0, SOCKETS);
  const port = await node.ask('port');
  let [frames, bytes] = [0, 0];
  const sockets = await Promise.all(
    tokens.map(async (asset) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`);
      socket.on('message', (message: Buffer) => {
        frames += 1;
        bytes += message.length;
      });
      await once(socket, 'open');
      if (crowd === 'nothing') return socket;
      const topic = { requestId: asset.slice(0, 60), topic: 'OrderBook', data: { asset } };
      socket.send(JSON.stringify({ messageType: 'subscribe', topics: [topic] }));
      return socket;
    }),
  );
  await pause(SETTLE_MS);
  const followed = async () => market.ask('updatesAt', await node.ask('height'));
  const before = { frames, bytes, updates: await followed() };
  await node.ask('begin');
  await pause(seconds * WINDOWS_A_ROUND_SECONDS * 1_000);
  const usage = await node.ask('end');
  const after = { frames, bytes, updates: await followed() };
  for (const socket of sockets) socket.terminate();
  return {
    ...usage,
    frames: after.frames - before.frames,
    bytes: after.bytes - before.bytes,
    updates: after.updates - before.updates,
  };
}

function cells(crowd: Subscribed, windows: readonly Window[], base: number): string[] {
  const sum = (of: (window: Window) => number) => windows.reduce((all, each) => all + of(each), 0);
  const seconds = sum(({ wallMs }) => wallMs) / 1_000;
  const frames = sum((window) => window.frames);
  const each = cpuUsAnUpdate(windows);
  return [
    crowd,
    whole(sum(({ updates }) => updates) / seconds),
    whole(frames / seconds),
    frames === 0 ? '–' : whole(sum(({ bytes }) => bytes) / frames),
    whole(each),
    fixed(each / base),
    percent(sum(({ loopBusyMs }) => loopBusyMs) / 1_000 / seconds),
    fixed(Math.max(...windows.map(({ loopDelayP99Ms }) => loopDelayP99Ms)), 1),
  ];
}

function cpuUsAnUpdate(windows: readonly Window[]): number {
  const [cpuUs, updates] = windows.reduce(
    ([cpu, all], window) => [cpu + window.cpuUs, all + window.updates],
    [0, 0],
  );
  return cpuUs / updates;
}
