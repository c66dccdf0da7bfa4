/** The only import of better-sqlite3: how a database file of ours is opened. */
import Database from 'better-sqlite3';

export type { Database, Statement } from 'better-sqlite3';

interface DatabaseOptions {
  /** FULL: a commit survives a power cut. NORMAL: it may be lost, but never torn. */
  readonly synchronous: 'FULL' | 'NORMAL';
  /** Upper bound of the file in MiB; 0 is none. Reaching it looks like a full disk. */
  readonly maxMb: number;
  /** No other process may open the file while this one has it; throws if another has it. */
  readonly exclusive?: boolean;
  /** Pages kept in memory, in MiB; `CACHE_MB` where absent. */
  readonly cacheMb?: number;
}

const LOCK_WAIT_MS = 1_000;
/** When SQLite starts a write-ahead log again, it cuts larger files to this size. */
const WAL_KEPT_BYTES = 4 * 1024 * 1024;
/** The system keeps pages too: in a state of 166 MB a row is read as fast with 8 MiB as with 64. */
const CACHE_MB = 8;
const KIB_PER_MIB = 1024;

export const PAGE_BYTES = 4096;

export function openDatabase(file: string, options: DatabaseOptions): Database.Database {
  const database = new Database(file, options.exclusive === true ? { timeout: LOCK_WAIT_MS } : {});
  if (options.exclusive === true) lock(database, file);
  database.pragma(`page_size = ${PAGE_BYTES}`);
  database.pragma('journal_mode = WAL');
  database.pragma(`synchronous = ${options.synchronous}`);
  database.pragma('wal_autocheckpoint = 0');
  database.pragma(`journal_size_limit = ${WAL_KEPT_BYTES}`);
  database.pragma(`cache_size = -${(options.cacheMb ?? CACHE_MB) * KIB_PER_MIB}`);
  database.pragma('temp_store = MEMORY');
  if (options.maxMb > 0) {
    database.pragma(`max_page_count = ${Math.floor((options.maxMb * 1024 * 1024) / PAGE_BYTES)}`);
  }
  return database;
}

/** All reads of `run` see one state of the file: a commit may arrive between two reads. */
export type AtOnce = <T>(run: () => T) => T;

/** A single read would lock and unlock the file, which is most of its cost. */
export function readsAtOnce(database: Database.Database): AtOnce {
  const begin = database.prepare<[]>('BEGIN');
  const end = database.prepare<[]>('COMMIT');
  return (run) => {
    if (database.inTransaction) return run();
    begin.run();
    try {
      return run();
    } finally {
      // Some errors of the database end it.
      if (database.inTransaction) end.run();
    }
  };
}

/** Nothing is written; a file that is not there is an error. */
export function readOnlyDatabase(file: string): Database.Database {
  return new Database(file, { readonly: true, fileMustExist: true });
}

/**
 * Opened only to keep others from an exclusive file until it is closed; changes nothing in it.
 * Throws when another process has it. A file that is damaged can be guarded as well.
 */
export function guardDatabase(file: string): Database.Database {
  const database = new Database(file, { readonly: true, timeout: LOCK_WAIT_MS });
  try {
    database.prepare('SELECT name FROM sqlite_schema LIMIT 1').get();
  } catch (error) {
    if (!isBusy(error)) return database;
    database.close();
    throw inUse(file);
  }
  return database;
}

function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code === 'SQLITE_BUSY';
}

function inUse(file: string): Error {
  return new Error(`${file} is in use by another upcurve process: stop it, or set DATA_DIR`);
}

function lock(database: Database.Database, file: string): void {
  try {
    database.pragma('locking_mode = EXCLUSIVE');
    database.exec('BEGIN EXCLUSIVE; COMMIT');
  } catch (error) {
    database.close();
    throw isBusy(error) ? inUse(file) : error;
  }
}
