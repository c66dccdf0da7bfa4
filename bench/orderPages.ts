/**
 * Pages in the middle of 100,000 orders, beside node:http with better-sqlite3 over the same ones.
 * The question, the method and the numbers are in RESULTS.md.
 */
import assert from 'node:assert/strict';
import type { Asker } from './processes/asker.ts';
import type { HistoryPeer, ShownOrder } from './processes/historyPeer.ts';
import type { Launched } from './processes/launched.ts';
import { type Bench, whole } from './support/bench.ts';
import { COLUMNS, measureWork, type Side, type Work } from './support/besidePeer.ts';
import { Process, pinned } from './support/processes.ts';

const ORDERS = 100_000;
const MIDDLE = 50_000;
const PAGE = 100;
const MOST_A_PAGE = 100;
/** Other pages each time, so that no answer is kept. */
const PAGES = 400;
const CONNECTIONS = 16;

export const orderPages: Bench = {
  name: 'orderPages',
  async measure(scale, progress) {
    progress(`${whole(ORDERS)} orders`);
    const ours = await Process.start<Launched>('launched.ts', 'server', ['1', String(ORDERS)]);
    const peer = await Process.start<HistoryPeer>('historyPeer.ts', 'server');
    const asker = await Process.start<Asker>('asker.ts', 'client');
    const asset = await ours.ask('token');
    const ids = await copyOrders(ours, peer, asset);
    const rows: string[][] = [];
    for (const work of worksOf(asset, ids)) {
      progress(work.name);
      await compare(ours, peer, work);
      rows.push(await measureWork(work, { ours, peer, asker }, scale));
    }
    await Promise.all([ours.end(), peer.end(), asker.end()]);
    return { columns: COLUMNS, rows, notes: NOTES };
  },
};

const NOTES = [
  'The peer is node:http with better-sqlite3: a row an order, an index of places, counts kept.',
  'CPU is that of all threads, and both sides have one core; loop: how long a request holds it.',
  pinned ? 'Servers on core 0, load on core 1.' : 'Not pinned: no taskset, or one core.',
];

function pathOf(asset: string, place: string): string {
  return `/v1/orders-feed/initial/state?asset=${asset}&limit=${PAGE}&${place}`;
}

function worksOf(asset: string, ids: readonly string[]): Work[] {
  const pages = (placeOf: (at: number) => string) =>
    Array.from({ length: PAGES }, (_, at) => {
      // Neighbours are far apart.
      const place = MIDDLE + ((at * 7_919) % 10_000);
      return { path: pathOf(asset, placeOf(place)), body: '[]' };
    });
  const shared = { connections: CONNECTIONS, hasPeer: true, once: false };
  return [
    {
      name: 'by offset, first time',
      requests: pages((at) => `offset=${at + 3}`),
      ...shared,
      once: true,
    },
    { name: 'by offset', requests: pages((at) => `offset=${at}`), ...shared },
    { name: 'by cursor', requests: pages((at) => `before=${ids[at] ?? ''}`), ...shared },
  ];
}

/** The peer has what our server shows; the ids, newest first. */
async function copyOrders(
  ours: Process<Launched>,
  peer: Process<HistoryPeer>,
  asset: string,
): Promise<string[]> {
  const port = await ours.ask('port');
  const ids: string[] = [];
  let cursor = 'offset=0';
  for (let left = ORDERS; left > 0; left -= MOST_A_PAGE) {
    const answer = await post(port, pathOf(asset, cursor), '[]');
    // trust: our own answer
    const { ledger } = JSON.parse(answer) as { ledger: { items: readonly ShownOrder[] } };
    const orders = ledger.items.toReversed();
    await peer.ask('keepOrders', { asset, first: left - orders.length, orders });
    ids.push(...ledger.items.map(({ entityId }) => entityId));
    cursor = `before=${ids.at(-1) ?? ''}`;
  }
  return ids;
}

async function compare(ours: Side, peer: Side, { requests }: Work): Promise<void> {
  const { path, body = '' } = requests[0] ?? { path: '' };
  const [own, other] = await Promise.all(
    [ours, peer].map(async (side) => post(await side.ask('port'), path, body)),
  );
  assert.equal(own, other, path);
}

async function post(port: number, path: string, body: string): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers,
    body,
  });
  return response.text();
}
