/**
 * The cost of an idle socket: memory, and the heartbeat. The question, the method and the numbers
 * are in RESULTS.md.
 */
import type { Market } from './processes/market.ts';
import type { Receiver } from './processes/receiver.ts';
import { type Bench, fixed, type Scale, whole } from './support/bench.ts';
import { Process, pinned } from './support/processes.ts';
import { assetOf, QUOTE } from './support/trades.ts';

const SOCKETS = 5_000;
/** A ping every five seconds to each socket, so a window below has whole rounds of them. */
const HEARTBEAT_S = 5;
const KIB = 1024;

export const idleSockets: Bench = {
  name: 'idleSockets',
  async measure(scale, progress) {
    const rows: string[][] = [];
    for (const [name, id] of [
      ['one id', 'r0000'],
      ['all different', 'r####'],
    ] as const) {
      progress(name);
      rows.push([`${whole(SOCKETS)} sockets, ${name}`, ...(await measureIdle(id, scale))]);
    }
    const notes = [pinned ? 'Server on core 0, sockets on core 1.' : 'Not pinned.'];
    return { columns: COLUMNS, rows, notes };
  },
};

const COLUMNS = [
  'sockets, one subscription each',
  'RSS KiB/socket',
  'heap KiB/socket',
  'CPU µs/heartbeat',
  'loop delay p99 ms',
];

async function measureIdle(id: string, { rounds }: Scale): Promise<string[]> {
  const ours = await Process.start<Market>('market.ts', 'server');
  const receiver = await Process.start<Receiver>('receiver.ts', 'client');
  await ours.ask('fill', { pairs: 1, everyMs: 1_000, entries: 100 });
  const seconds = rounds * HEARTBEAT_S;
  const alone = await usage(ours, receiver, seconds);
  const before = await ours.ask('memory');
  const greeting = JSON.stringify({
    messageType: 'subscribe',
    requestId: id,
    topic: 'LastBar',
    data: { pair: { base: assetOf(0), quote: QUOTE }, interval: 'min1' },
  });
  const port = await ours.ask('port');
  await receiver.ask('open', { port, sockets: SOCKETS, greeting, framesEach: 1 });
  await receiver.ask('nudge');
  const idle = await usage(ours, receiver, seconds);
  const after = await ours.ask('memory');
  await receiver.ask('close');
  await Promise.all([ours.end(), receiver.end()]);
  return [
    fixed((after.rssBytes - before.rssBytes) / SOCKETS / KIB, 1),
    fixed((after.heapBytes - before.heapBytes) / SOCKETS / KIB, 1),
    fixed((idle.cpuUs - alone.cpuUs) / idle.frames),
    fixed(idle.loopDelayP99Ms, 1),
  ];
}

async function usage(ours: Process<Market>, receiver: Process<Receiver>, seconds: number) {
  const before = await receiver.ask('frames');
  await ours.ask('begin');
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const used = await ours.ask('end');
  return { ...used, frames: (await receiver.ask('frames')) - before };
}
