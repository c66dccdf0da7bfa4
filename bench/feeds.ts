/**
 * What visitors of the launchpad load: lists of pools, a search, a token's orders and trades, from
 * a market of 10,000 pools, against a bare route that sends the same bytes.
 * The question, the method and the numbers are in RESULTS.md.
 */
import type { Launched } from './processes/launched.ts';
import type { RawRoute } from './processes/rawRoute.ts';
import { COLUMNS, compare, NOTES, type Work } from './support/againstRaw.ts';
import { type Bench, whole } from './support/bench.ts';
import { Process } from './support/processes.ts';

const POOLS = 10_000;
const ORDERS = 5_000;

export const feeds: Bench = {
  name: 'feeds',
  async measure(scale, progress) {
    progress(`${whole(POOLS)} pools, ${whole(ORDERS)} orders`);
    const args = [String(POOLS), String(ORDERS)];
    const ours = await Process.start<Launched>('launched.ts', 'server', args);
    const raw = await Process.start<RawRoute>('rawRoute.ts', 'server');
    const rows: string[][] = [];
    for (const work of worksOn(await ours.ask('token'))) {
      rows.push(...(await compare(ours, raw, work, scale, progress)));
    }
    await Promise.all([ours.end(), raw.end()]);
    return { columns: COLUMNS, rows, notes: NOTES };
  },
};

function worksOn(token: string): Work[] {
  const get = { method: 'GET', headers: {} } as const;
  const post = { method: 'POST', headers: {} } as const;
  const orders = `/v1/orders-feed/initial/state?asset=${token}`;
  const deep = Array.from({ length: 40 }, (_, at) => `${orders}&offset=${at * 100}`);
  return [
    { name: 'main feed', ...get, paths: ['/v1/pools-main-page/initial/state?filter=MCapDesc'] },
    { name: 'one pool', ...get, paths: [`/v1/pools-feed/initial/state?asset=${token}`] },
    { name: 'search', ...get, paths: ['/v1/pools-main-page/search?pattern=token%201'] },
    { name: 'orders feed', ...post, paths: [orders] },
    { name: 'orders feed, any page', ...post, paths: deep },
    { name: 'trades', ...get, paths: [`/v1/trades?asset=${token}`] },
  ];
}
