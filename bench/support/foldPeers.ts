/** Beside the fold: reading the same lines, and writing the tables that a user would write. */
import { join } from 'node:path';
import type { SealedEntry } from '../../src/engine/log/entry.ts';
import { intervalStart, RESOLUTIONS } from '../../src/engine/market/resolution.ts';
import { openDatabase } from '../../src/engine/store/database.ts';
import type { Timed } from './trades.ts';

/** Seconds to parse the text of every entry, one after the other. */
export function parseSeconds(entries: readonly SealedEntry[]): number {
  const startMs = performance.now();
  for (const { text } of entries) JSON.parse(text);
  return (performance.now() - startMs) / 1000;
}

const TABLES = `
  CREATE TABLE trades (pair TEXT, id TEXT, at_ms INTEGER, base INTEGER, quote INTEGER,
    PRIMARY KEY (pair, id)) WITHOUT ROWID;
  CREATE TABLE bars (pair TEXT, resolution INTEGER, start INTEGER, open REAL, high REAL, low REAL,
    close REAL, base INTEGER, quote INTEGER, trades INTEGER,
    PRIMARY KEY (pair, resolution, start)) WITHOUT ROWID;`;
const UPSERT = `
  INSERT INTO bars VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET
  high = max(high, excluded.high), low = min(low, excluded.low), close = excluded.close,
  base = base + excluded.base, quote = quote + excluded.quote, trades = trades + 1`;

/**
 * Seconds to insert every trade and to upsert its six bars, `perTransaction` trades a transaction,
 * each on the disk before the next (WAL, FULL). Prices are floating-point numbers, nothing can be
 * undone, no client receives anything.
 */
export function sqliteSeconds(
  directory: string,
  trades: readonly Timed[],
  perTransaction: number,
): number {
  const database = openDatabase(join(directory, 'peer.sqlite'), { synchronous: 'FULL', maxMb: 0 });
  database.pragma('wal_autocheckpoint = 1000');
  database.exec(TABLES);
  const insert = database.prepare('INSERT INTO trades VALUES (?, ?, ?, ?, ?)');
  const upsert = database.prepare(UPSERT);
  const write = database.transaction((some: readonly Timed[]) => {
    for (const { atMs, trade } of some) {
      const [base, quote] = [Number(trade.baseAmount), Number(trade.quoteAmount)];
      const price = quote / base;
      insert.run(trade.base, trade.id, atMs, base, quote);
      for (const [index, resolution] of RESOLUTIONS.entries()) {
        const start = intervalStart(resolution, atMs);
        upsert.run(trade.base, index, start, price, price, price, price, base, quote);
      }
    }
  });
  const startMs = performance.now();
  for (let index = 0; index < trades.length; index += perTransaction) {
    write(trades.slice(index, index + perTransaction));
  }
  const seconds = (performance.now() - startMs) / 1000;
  database.close();
  return seconds;
}
