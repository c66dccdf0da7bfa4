/**
 * Deliveries of webhooks a second, and what one costs: our server, in which a bar changes every
 * millisecond, against node:http alone that signs and sends the same bytes as fast as it can.
 * The question, the method and the numbers are in RESULTS.md.
 */
import type { BareHooks } from './processes/bareHooks.ts';
import type { HookMarket } from './processes/hookMarket.ts';
import type { HookReceiver } from './processes/hookReceiver.ts';
import { type Bench, fixed, type Scale, whole } from './support/bench.ts';
import { Process, pinned } from './support/processes.ts';
import { type Done, total } from './support/work.ts';

const WEBHOOKS = [1, 64, 1_000];
/** As many as our server has under way. */
const LOOPS = 64;
const WARM_UP_MS = 1_500;

export const webhooks: Bench = {
  name: 'webhooks',
  async measure(scale, progress) {
    const rows: string[][] = [];
    for (const count of WEBHOOKS) {
      progress(`${whole(count)} webhooks`);
      rows.push(...(await compare(count, scale)));
    }
    const columns = ['webhooks', 'deliveries/s', 'CPU µs each', 'bytes each', 'share of bare'];
    const notes = [pinned ? 'Sender on core 0, receiver on core 1.' : 'Not pinned.'];
    return { columns, rows, notes };
  },
};

type Sender = Pick<Process<BareHooks>, 'ask'>;

async function compare(count: number, { seconds, rounds }: Scale): Promise<string[][]> {
  const receiver = await Process.start<HookReceiver>('hookReceiver.ts', 'client');
  const ours = await Process.start<HookMarket>('hookMarket.ts', 'server');
  const bare = await Process.start<BareHooks>('bareHooks.ts', 'server');
  const port = await receiver.ask('port');
  await ours.ask('register', { port, count });
  const [our, their]: [Window[], Window[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    await ours.ask('feed', { pairs: 1, everyMs: 1 });
    our.push(await measured(ours, receiver, seconds));
    await ours.ask('rest');
    const body = await receiver.ask('body');
    await bare.ask('send', { port, body, loops: Math.min(count, LOOPS) });
    their.push(await measured(bare, receiver, seconds));
    await bare.ask('rest');
  }
  await Promise.all([receiver.end(), ours.end(), bare.end()]);
  const [a, b] = [total(our), total(their)];
  const share = fixed(a.count / a.seconds / (b.count / b.seconds));
  return [
    [`${whole(count)}`, ...numbersOf(a, our), share],
    [`${whole(count)}, bare`, ...numbersOf(b, their), '1.00'],
  ];
}

interface Window extends Done {
  readonly bytes: number;
}

async function measured(
  sender: Sender,
  receiver: Process<HookReceiver>,
  seconds: number,
): Promise<Window> {
  await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS));
  await sender.ask('begin');
  const before = await receiver.ask('counted');
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  const after = await receiver.ask('counted');
  const { wallMs, cpuUs } = await sender.ask('end');
  const count = after.deliveries - before.deliveries;
  return { count, seconds: wallMs / 1_000, cpuUs, bytes: after.bytes - before.bytes };
}

function numbersOf({ count, seconds, cpuUs }: Done, windows: readonly Window[]): string[] {
  const bytes = windows.reduce((sum, window) => sum + window.bytes, 0);
  return [whole(count / seconds), fixed(cpuUs / count, 0), whole(bytes / count)];
}
