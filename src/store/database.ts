/** The only import of better-sqlite3: how a database file of ours is opened. */
import Database from 'better-sqlite3';

export type { Database, Statement } from 'better-sqlite3';

export interface DatabaseOptions {
  /** FULL: a commit survives a power cut. NORMAL: it may be lost, but never torn. */
  readonly synchronous: 'FULL' | 'NORMAL';
  /** Upper bound of the file in MiB; 0 is none. Reaching it looks like a full disk. */
  readonly maxMb: number;
}

const PAGE_BYTES = 4096;

export function openDatabase(file: string, options: DatabaseOptions): Database.Database {
  const database = new Database(file);
  database.pragma(`page_size = ${PAGE_BYTES}`);
  database.pragma('journal_mode = WAL');
  database.pragma(`synchronous = ${options.synchronous}`);
  database.pragma('wal_autocheckpoint = 0');
  database.pragma('cache_size = -65536');
  database.pragma('temp_store = MEMORY');
  if (options.maxMb > 0) {
    database.pragma(`max_page_count = ${Math.floor((options.maxMb * 1024 * 1024) / PAGE_BYTES)}`);
  }
  return database;
}
