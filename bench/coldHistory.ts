/**
 * Histories that are in no memory, against node:http with better-sqlite3 over the same bars.
 * The question, the method and the numbers are in RESULTS.md.
 */
import type { Asker } from './processes/asker.ts';
import type { HistoryPeer, ShownBar } from './processes/historyPeer.ts';
import type { Market } from './processes/market.ts';
import { type Bench, whole } from './support/bench.ts';
import { COLUMNS, measureWork, type Work } from './support/besidePeer.ts';
import { Process, pinned } from './support/processes.ts';
import { assetOf, QUOTE, START_MS } from './support/trades.ts';

const MINUTE_S = 60;
const PAIRS = 20;
const BARS = 5_500;
/** Answers of ours that are kept in memory take 16 MiB: in all, these are many times that. */
const SPANS = 4_000;
const CONNECTIONS = 16;
const FIRST_S = Math.ceil(START_MS / 1000 / MINUTE_S + 1) * MINUTE_S;

const pathOf = (pair: number, from: number, bars: number) =>
  `/v1/charts/history?base=${assetOf(pair)}&quote=${QUOTE}&resolution=min1` +
  `&from=${from}&to=${from + bars * MINUTE_S}`;

/** All there is, each bar once. */
const FIRST = Array.from({ length: PAIRS * 11 }, (_, at) => {
  const place = Math.floor(at / PAIRS) * 500;
  return { path: pathOf(at % PAIRS, FIRST_S + place * MINUTE_S, 500) };
});
/** Each another span; neighbours are of other pairs. */
const spans = (count: number, bars: number, seed: number) =>
  Array.from({ length: count }, (_, at) => {
    const place = (at * 7_919 + seed) % (BARS - bars);
    return { path: pathOf(at % PAIRS, FIRST_S + place * MINUTE_S, bars) };
  });

const bulks = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    path: '/v1/charts/bulk',
    body: JSON.stringify(
      Array.from({ length: 4 }, (_, item) => ({
        base: assetOf((4 * at + item) % PAIRS),
        quote: QUOTE,
        resolution: 'min1',
        from: FIRST_S + at * MINUTE_S,
        to: FIRST_S + (at + 5_000) * MINUTE_S,
        limit: 5_000,
      })),
    ),
  }));

const WORKS: readonly Work[] = [
  {
    name: '500 bars, for the first time',
    requests: FIRST,
    connections: 4,
    hasPeer: true,
    once: true,
  },
  {
    name: '500 bars, cold',
    requests: spans(SPANS, 500, 2),
    connections: CONNECTIONS,
    hasPeer: true,
    once: false,
  },
  {
    name: '5,000 bars, cold',
    requests: spans(400, 5_000, 3),
    connections: 4,
    hasPeer: true,
    once: false,
  },
  { name: 'bulk, 20,000 bars', requests: bulks(100), connections: 2, hasPeer: false, once: false },
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
      rows.push(await measureWork(work, { ours, peer, asker }, scale));
    }
    await Promise.all([ours.end(), peer.end(), asker.end()]);
    return { columns: COLUMNS, rows, notes: NOTES };
  },
};

const NOTES = [
  `The peer is node:http with better-sqlite3: a row a bar, with its texts as they are shown.`,
  'CPU is that of all threads, and both sides have one core; loop: how long a request holds it.',
  pinned ? 'Servers on core 0, load on core 1.' : 'Not pinned: no taskset, or one core.',
];

/** The peer has what our server shows, so both answer the same bytes. */
async function copyBars(ours: Process<Market>, peer: Process<HistoryPeer>): Promise<void> {
  const port = await ours.ask('port');
  for (let pair = 0; pair < PAIRS; pair += 1) {
    for (let bar = 0; bar < BARS; bar += 50) {
      const url = `http://127.0.0.1:${port}${pathOf(pair, FIRST_S + bar * MINUTE_S, 50)}`;
      // So few are read from the rows: no page is made of them.
      // trust: our own answer
      const bars = (await (await fetch(url)).json()) as readonly ShownBar[];
      await peer.ask('keepBars', bars);
    }
  }
}
