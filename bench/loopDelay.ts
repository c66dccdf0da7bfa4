/**
 * The effect of a busy builder on the loop that serves all clients: loop delay and the delivery of
 * live bars, with the builder saturated, with a thread that only spins, and with neither. The
 * question, the method and the numbers are in RESULTS.md.
 */
import type {
  Applied,
  BusyMarket,
  LoopDelay,
  Strain,
  StrainWindow,
} from './processes/busyMarket.ts';
import type { Heard, Listener } from './processes/listener.ts';
import { type Bench, fixed, type Scale } from './support/bench.ts';
import { batchPlan, cancelPlan, orderPlan, SLOTS } from './support/plans.ts';
import { AS_STARTED, type Core, Process, pinned } from './support/processes.ts';
import { quantile } from './support/quantile.ts';
import { assetOf, QUOTE } from './support/trades.ts';

const EVERY_MS = 10;
const SOCKETS = 20;
const SETTLE_MS = 300;

const PLACES: readonly (readonly [string, Core])[] = [
  ['cores shared', 'any'],
  ['all on one core', 'server'],
];
const STRAINS: readonly Strain[] = ['idle', 'spin', 'builder'];
const NAMES: Readonly<Record<Strain, string>> = {
  idle: 'idle',
  spin: 'a thread spins',
  builder: 'builder saturated',
};

interface Delivered {
  /** From the moment a trade was due to its frame, for each socket. */
  readonly deliveriesMs: readonly number[];
  /** The number of frames missing when the window and the load ended. */
  readonly missing: number;
}

interface Measured extends Delivered {
  /** p50 and p99 are the medians of the windows. */
  readonly loop: LoopDelay;
  readonly buildsPerSecond: number;
}

export const loopDelay: Bench = {
  name: 'loopDelay',
  async measure(scale, progress) {
    const rows: string[][] = [];
    let missing = 0;
    for (const [name, core] of pinned ? PLACES : PLACES.slice(0, 1)) {
      const found = await measurePlace(core, scale, (what) => progress(`${name}, ${what}`));
      for (const strain of STRAINS) {
        rows.push([`${name}, ${NAMES[strain]}`, ...cells(found[strain], found.idle)]);
        missing += found[strain].missing;
      }
    }
    const notes = [
      `A trade every ${EVERY_MS} ms, ${SOCKETS} sockets with its LastBar in another process.`,
      `${missing} frames came later than their window.`,
      'One core: the server with all its threads on core 0, the sockets on core 1.',
    ];
    return { columns: COLUMNS, rows, notes };
  },
};

const COLUMNS = [
  'server',
  'builds/s',
  'loop p50 ms',
  'loop p99 ms',
  '÷ idle',
  'loop max ms',
  'delivery p50 ms',
  'delivery p99 ms',
  '÷ idle',
  'delivery max ms',
];

function cells({ loop, deliveriesMs, buildsPerSecond }: Measured, idle: Measured): string[] {
  const p99Ms = quantile(deliveriesMs, 0.99);
  return [
    buildsPerSecond === 0 ? '–' : fixed(buildsPerSecond, 1),
    fixed(loop.p50Ms),
    fixed(loop.p99Ms),
    fixed(loop.p99Ms / idle.loop.p99Ms),
    fixed(loop.maxMs, 1),
    fixed(quantile(deliveriesMs, 0.5)),
    fixed(p99Ms),
    fixed(p99Ms / quantile(idle.deliveriesMs, 0.99)),
    fixed(quantile(deliveriesMs, 1), 1),
  ];
}

async function measurePlace(
  core: Core,
  { seconds, rounds }: Scale,
  progress: (what: string) => void,
): Promise<Record<Strain, Measured>> {
  const how = { options: AS_STARTED };
  const market = await Process.start<BusyMarket>('busyMarket.ts', core, [], how);
  const listener = await Process.start<Listener>('listener.ts', core === 'any' ? 'any' : 'client');
  const plans = [orderPlan(), cancelPlan(), orderPlan(), batchPlan()];
  await market.ask('startBuilder', { slots: SLOTS, plans });
  await market.ask('feed', { pairs: 1, everyMs: EVERY_MS });
  const url = `ws://127.0.0.1:${await market.ask('port')}/ws`;
  await listener.ask('open', { url, greeting: GREETING, sockets: SOCKETS });
  const deliveries: Record<Strain, Delivered[]> = { idle: [], spin: [], builder: [] };
  const loops: Record<Strain, LoopDelay[]> = { idle: [], spin: [], builder: [] };
  let builds = 0;
  for (let round = 0; round <= rounds; round += 1) {
    // The first round warms up.
    progress(round === 0 ? 'warming up' : `round ${round}`);
    for (const kind of STRAINS) {
      const window = await market.ask('window', { kind, settleMs: SETTLE_MS, seconds });
      const found = deliveriesIn(window, await listener.ask('take'));
      if (round === 0) continue;
      deliveries[kind].push(found);
      loops[kind].push(window.loop);
      builds += window.builds;
    }
  }
  await market.ask('rest');
  await Promise.all([market.end(), listener.end()]);
  const buildSeconds = rounds * (seconds + SETTLE_MS / 1000);
  const measured = (kind: Strain): Measured => {
    const of = (what: keyof LoopDelay) => loops[kind].map((each) => each[what]);
    const loop = {
      p50Ms: quantile(of('p50Ms'), 0.5),
      p99Ms: quantile(of('p99Ms'), 0.5),
      maxMs: Math.max(...of('maxMs')),
    };
    const buildsPerSecond = kind === 'builder' ? builds / buildSeconds : 0;
    const deliveriesMs = deliveries[kind].flatMap((each) => each.deliveriesMs);
    const missing = deliveries[kind].reduce((sum, each) => sum + each.missing, 0);
    return { loop, deliveriesMs, missing, buildsPerSecond };
  };
  return { idle: measured('idle'), spin: measured('spin'), builder: measured('builder') };
}

const GREETING = JSON.stringify({
  messageType: 'subscribe',
  requestId: 'r1',
  topic: 'LastBar',
  data: { pair: { base: assetOf(0), quote: QUOTE }, interval: 'min1' },
});

/** For every trade that was due in the window, on each socket that received it. */
function deliveriesIn(window: StrainWindow, heard: readonly Heard[]): Delivered {
  const { fromMs, toMs, first, applied } = window;
  const bySocket = Array.from({ length: SOCKETS }, (_, socket) =>
    heard.filter((each) => each.socket === socket),
  );
  const deliveriesMs: number[] = [];
  let missing = 0;
  const skipped = Math.ceil((fromMs - first.atMs) / EVERY_MS);
  for (let at = skipped; first.atMs + at * EVERY_MS < toMs - SETTLE_MS; at += 1) {
    const dueMs = first.atMs + at * EVERY_MS;
    const seq = seqOf(applied, first.marketMs + at * EVERY_MS);
    for (const frames of bySocket) {
      const frame = seq === null ? undefined : frames.find((each) => each.seq >= seq);
      if (frame === undefined) missing += 1;
      else deliveriesMs.push(frame.atMs - dueMs);
    }
  }
  return { deliveriesMs, missing };
}

/** Position at which the trade of that market time was applied. */
function seqOf(applied: readonly Applied[], marketMs: number): number | null {
  return applied.find((each) => each.marketMs >= marketMs)?.seq ?? null;
}
