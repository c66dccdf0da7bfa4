/** The usual alternative: node:http, better-sqlite3, a row for each bar or order. */
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

export interface ShownOrder {
  readonly entityId: string;
  readonly worstPrice: { readonly numerator: string; readonly denominator: string };
  readonly [field: string]: unknown;
}

const ORDER_FIELDS = [
  ...['entityId', 'beacon', '"from"', 'fromAmount', '"to"', 'toAmount', 'filledAmount'],
  ...['remaining', 'address', 'numerator', 'denominator', 'pendingTransactionId'],
  ...['evaluatedTransactionId', 'timestamp', 'status', 'orderType', 'pkh', 'venue'],
  ...['evaluatedAt', 'expiresAt', 'refundReason'],
];

/** Behind every place. */
const END = Number.MAX_SAFE_INTEGER;
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
   WHERE base = ? AND quote = ? AND time >= ? AND time < ? ORDER BY time DESC LIMIT 5000`,
);

database.exec(
  `CREATE TABLE orders (asset TEXT, place INTEGER, ${ORDER_FIELDS.join(', ')});
   CREATE UNIQUE INDEX order_places ON orders (asset, place);
   CREATE UNIQUE INDEX order_ids ON orders (entityId);
   CREATE TABLE counts (asset TEXT PRIMARY KEY, orders INTEGER) WITHOUT ROWID`,
);
const insertOrder = database.prepare(
  `INSERT INTO orders VALUES (@asset, @place, ${ORDER_FIELDS.map(parameterOf).join(', ')})`,
);
const countOrder = database.prepare(
  `INSERT INTO counts VALUES (?, 1) ON CONFLICT DO UPDATE SET orders = orders + 1`,
);
const findCount = database.prepare<[string | null], number>(
  'SELECT orders FROM counts WHERE asset = ?',
);
const findPlace = database.prepare<[string], number>('SELECT place FROM orders WHERE entityId = ?');
const findOrders = database.prepare<unknown[], Record<string, unknown>>(
  `SELECT ${ORDER_FIELDS.join(', ')} FROM orders WHERE asset = ? AND place < ?
   ORDER BY place DESC LIMIT ? OFFSET ?`,
);

function parameterOf(field: string): string {
  return `@${field.replaceAll('"', '')}`;
}

function historyOf(query: URLSearchParams): unknown {
  const [base, quote] = [query.get('base'), query.get('quote')];
  const rows = find.all(base, quote, Number(query.get('from')), Number(query.get('to')));
  const bars = rows.reverse().map(({ final, ...bar }) => {
    return { pair: { base, quote }, ...bar, final: final === 1 };
  });
  return bars;
}

function ordersOf(query: URLSearchParams): unknown {
  const [asset, before] = [query.get('asset'), query.get('before')];
  const place = before === null ? END : findPlace.pluck().get(before);
  const [limit, offset] = [Number(query.get('limit')), Number(query.get('offset') ?? 0)];
  const items = findOrders.all(asset, place, limit, offset).map((row) => {
    const { entityId, beacon, from, fromAmount, to, toAmount, filledAmount, ...others } = row;
    const { remaining, address, numerator, denominator, ...end } = others;
    const first = { entityId, beacon, from, fromAmount, to, toAmount, filledAmount };
    return { ...first, remaining, address, worstPrice: { numerator, denominator }, ...end };
  });
  return { ledger: { count: findCount.pluck().get(asset), items }, mempool: [] };
}

const server = createServer((request, response) => {
  const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://peer');
  request.resume();
  const answer = pathname.includes('orders') ? ordersOf(query) : historyOf(query);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(answer));
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
  /** The oldest first, from the place `first` on. */
  keepOrders: database.transaction(
    (kept: { asset: string; first: number; orders: readonly ShownOrder[] }): void => {
      for (const [at, { worstPrice, ...order }] of kept.orders.entries()) {
        insertOrder.run({ asset: kept.asset, place: kept.first + at, ...order, ...worstPrice });
        countOrder.run(kept.asset);
      }
    },
  ),
};

offer(offers);
