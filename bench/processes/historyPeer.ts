/** The usual alternative: node:http, better-sqlite3, a row a bar with its texts as shown. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { offer, usageOffers } from '../support/offers.ts';

export type HistoryPeer = typeof offers;

/** As our server answers it. */
export interface ShownBar {
  readonly pair: { readonly base: string; readonly quote: string };
  readonly time: number;
  readonly [field: string]: unknown;
}

const directory = mkdtempSync(join(tmpdir(), 'upcurve-bench-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
const database = new Database(join(directory, 'bars.sqlite'));
database.pragma('journal_mode = WAL');
database.exec(
  `CREATE TABLE bars (base TEXT, quote TEXT, time INTEGER, low TEXT, high TEXT, open TEXT,
   close TEXT, volume TEXT, baseVolume TEXT, trades INTEGER, final INTEGER,
   PRIMARY KEY (base, quote, time)) WITHOUT ROWID`,
);
const insert = database.prepare(
  `INSERT INTO bars VALUES (@base, @quote, @time, @low, @high, @open, @close, @volume, @baseVolume,
   @trades, @final)`,
);
const find = database.prepare<unknown[], Record<string, unknown>>(
  `SELECT time, low, high, open, close, volume, baseVolume, trades, final FROM bars
   WHERE base = ? AND quote = ? AND time >= ? AND time < ? ORDER BY time`,
);

const server = createServer((request, response) => {
  const { searchParams: query } = new URL(request.url ?? '', 'http://peer');
  const [base, quote] = [query.get('base'), query.get('quote')];
  const rows = find.all(base, quote, Number(query.get('from')), Number(query.get('to')));
  const bars = rows.map(({ final, ...bar }) => {
    return { pair: { base, quote }, ...bar, final: final === 1 };
  });
  request.resume();
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(bars));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const address = server.address();

const offers = {
  ...usageOffers(),
  port: () => (typeof address === 'object' && address !== null ? address.port : 0),
  keepBars: database.transaction((bars: readonly ShownBar[]): void => {
    for (const { pair, final, ...bar } of bars) {
      insert.run({ ...pair, ...bar, final: final === true ? 1 : 0 });
    }
  }),
};

offer(offers);
