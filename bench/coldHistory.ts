/**
 * Histories that are in no memory, against node:http with better-sqlite3 over the same bars.
 * The question, the method and the numbers are in RESULTS.md.
 */
import type { Asker } from './processes/asker.ts';
import type { HistoryPeer, ShownBar } from './processes/historyPeer.ts';
import type { Market } from './processes/market.ts';
import { type Bench, fixed, percent, type Scale, whole } from './support/bench.ts';
import { Process, pinned } from './support/processes.ts';
import { assetOf, QUOTE, START_MS } from './support/trades.ts';

const MINUTE_S = 60;
const PAIRS = 20;
const BARS = 5_500;
const ASKED_BARS = 500;
/** Answers of ours that are kept in memory take 16 MiB: in all, these are many times that. */
const SPANS = 4_000;
/** So few are read from the rows: no page is made of them. */
const COPIED_BARS = 50;
const FIRST_S = Math.ceil(START_MS / 1000 / MINUTE_S + 1) * MINUTE_S;

const pathOf = (pair: number, place: number, bars: number) => {
  const from = FIRST_S + place * MINUTE_S;
  return (
    `/v1/charts/history?base=${assetOf(pair)}&quote=${QUOTE}&resolution=min1` +
    `&from=${from}&to=${from + bars * MINUTE_S}`
  );
};

interface Work {
  readonly name: string;
  readonly paths: readonly string[];
  readonly connections: number;
  /** Each path is asked for once, because a second request would be another case. */
  readonly once: boolean;
}

const WORKS: readonly Work[] = [
  {
    name: '500 bars, for the first time',
    // All there is, each bar once; neighbours are of other pairs.
    paths: Array.from({ length: (PAIRS * BARS) / ASKED_BARS }, (_, at) =>
      pathOf(at % PAIRS, Math.floor(at / PAIRS) * ASKED_BARS, ASKED_BARS),
    ),
    connections: 4,
    once: true,
  },
  {
    name: '500 bars, cold',
    paths: Array.from({ length: SPANS }, (_, at) =>
      pathOf(at % PAIRS, (at * 7_919) % (BARS - ASKED_BARS), ASKED_BARS),
    ),
    connections: 16,
    once: false,
  },
];

type Side = Process<Pick<Market, 'port' | 'begin' | 'end'>>;

interface Window {
  readonly requests: number;
  readonly seconds: number;
  readonly cpuUs: number;
  readonly loopMs: number;
}

const COLUMNS = [
  'request',
  'requests/s',
  'peer requests/s',
  'ratio',
  'CPU µs',
  'peer CPU µs',
  'CPU ratio',
  'core busy',
  'loop ms',
  'peer loop ms',
];

export const coldHistory: Bench = {
  name: 'coldHistory',
  async measure(scale, progress) {
    const ours = await Process.start<Market>('market.ts', 'server');
    const peer = await Process.start<HistoryPeer>('historyPeer.ts', 'server');
    const asker = await Process.start<Asker>('asker.ts', 'client');
    progress(`${PAIRS} pairs of ${whole(BARS)} bars`);
    await ours.ask('fill', { pairs: PAIRS, everyMs: MINUTE_S * 1000, entries: BARS + 2 });
    await copyBars(ours, peer);
    const rows: string[][] = [];
    for (const work of WORKS) {
      progress(work.name);
      rows.push(await measureWork(work, [ours, peer], asker, scale));
    }
    await Promise.all([ours.end(), peer.end(), asker.end()]);
    const notes = [pinned ? 'Servers on core 0, load on core 1.' : 'Not pinned.'];
    return { columns: COLUMNS, rows, notes };
  },
};

/** The peer has what our server shows, so both answer the same bytes. */
async function copyBars(ours: Process<Market>, peer: Process<HistoryPeer>): Promise<void> {
  const port = await ours.ask('port');
  for (let pair = 0; pair < PAIRS; pair += 1) {
    for (let bar = 0; bar < BARS; bar += COPIED_BARS) {
      const url = `http://127.0.0.1:${port}${pathOf(pair, bar, COPIED_BARS)}`;
      // trust: our own answer
      const bars = (await (await fetch(url)).json()) as readonly ShownBar[];
      await peer.ask('keepBars', bars);
    }
  }
}

/** In turns; the first window of each side warms up, except where each path is asked for once. */
async function measureWork(
  work: Work,
  sides: readonly [Side, Side],
  asker: Process<Asker>,
  { seconds, rounds }: Scale,
): Promise<string[]> {
  const windows: readonly [Window[], Window[]] = [[], []];
  const last = work.once ? 0 : rounds;
  for (let round = 0; round <= last; round += 1) {
    for (const [at, side] of sides.entries()) {
      const window = await run(side, asker, work, round === 0 ? 1 : seconds);
      if (round === last || round > 0) windows[at]?.push(window);
    }
  }
  const [our, their] = [sumOf(windows[0]), sumOf(windows[1])];
  const rate = (side: Window) => side.requests / side.seconds;
  const cpu = (side: Window) => side.cpuUs / side.requests;
  return [
    work.name,
    whole(rate(our)),
    whole(rate(their)),
    fixed(rate(our) / rate(their)),
    whole(cpu(our)),
    whole(cpu(their)),
    fixed(cpu(their) / cpu(our)),
    percent(our.cpuUs / 1e6 / our.seconds),
    fixed(our.loopMs / our.requests),
    fixed(their.loopMs / their.requests),
  ];
}

async function run(
  side: Side,
  asker: Process<Asker>,
  { paths, connections, once }: Work,
  seconds: number,
): Promise<Window> {
  const port = await side.ask('port');
  await side.ask('begin');
  const asked = await asker.ask('ask', {
    ...{ port, paths, connections },
    seconds: once ? null : seconds,
  });
  const { cpuUs, loopBusyMs: loopMs } = await side.ask('end');
  return { ...asked, cpuUs, loopMs };
}

function sumOf(windows: readonly Window[]): Window {
  const sum = (of: (window: Window) => number) => windows.reduce((all, one) => all + of(one), 0);
  return {
    requests: sum((window) => window.requests),
    seconds: sum((window) => window.seconds),
    cpuUs: sum((window) => window.cpuUs),
    loopMs: sum((window) => window.loopMs),
  };
}
