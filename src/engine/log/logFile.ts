/**
 * The file of a single node's log: SQLite, one owner. Every call waits for the disk, so a node that
 * serves runs it in a thread (`logThread.ts`).
 *
 * A commit is on the disk when its call returns. SQLite leaves that to us (synchronous=NORMAL): it
 * would call fsync, which also writes the file's times, and waits five times as long one time in
 * ten (decision 0107).
 */

import { hash } from 'node:crypto';
import { closeSync, fdatasyncSync, openSync, rmSync } from 'node:fs';
import { Fault, isFault } from '../runtime/assert.ts';
import { messageOf, systemCode } from '../runtime/errors.ts';
import { isDamage } from '../store/damage.ts';
import { type Database, openDatabase } from '../store/database.ts';
import {
  boundWal,
  checkpointWithChecksums,
  isWalLong,
  keepLocked,
  releaseLocked,
} from '../store/pageChecksums.ts';
import { NO_HASH } from './entry.ts';
import { type AppendOutcome, LOG_REMEDY } from './port.ts';

export interface LogFileOptions {
  readonly file: string;
  readonly maxMb: number;
}

export interface StoredEntry {
  readonly seq: number;
  readonly hash: string;
  readonly text: string;
}

/** An append, as it goes to the thread. */
export interface AppendRow extends StoredEntry {
  readonly expectedSeq: number;
  readonly prevEntryHash: string;
  readonly kind: string;
}

export interface Span {
  readonly first: number;
  readonly last: StoredEntry | null;
}

const COMMITS_PER_CHECKPOINT = 512;
/** Below this the write-ahead log of so many commits cannot be too long. */
const SHORT_CHARACTERS = 1024 * 1024;
/** Entries are written at the end, and hardly ever read again. */
const CACHE_MB = 4;
/** A read stops here even when more was asked for. */
const READ_CHARACTERS = 512 * 1024;
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS entries (
    seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, hash TEXT NOT NULL, text TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS epochs ON entries (seq) WHERE kind = 'epoch';
`;

export class LogFile {
  readonly #file: string;
  readonly #database: Database;
  readonly #insert;
  readonly #select;
  readonly #range;
  readonly #insertAll;
  #tail: { readonly seq: number; readonly hash: string };
  #commitsSinceCheckpoint = 0;
  #charactersSinceCheckpoint = 0;
  /** Descriptor of the write-ahead log; null before the first `#sync`. */
  #wal: number | null = null;
  /** The disk refused to sync: pages may be lost, though a later call works. */
  #syncFailed = false;

  /** Throws where the file or its last entry cannot be read. */
  constructor({ file, maxMb }: LogFileOptions) {
    this.#file = file;
    this.#database = openDatabase(file, {
      ...{ synchronous: 'NORMAL', maxMb, exclusive: true },
      cacheMb: CACHE_MB,
    });
    keepLocked(file);
    try {
      this.#prepareSchema();
      this.#insert = this.#database.prepare<[number, string, string, string]>(
        'INSERT INTO entries (seq, kind, hash, text) VALUES (?, ?, ?, ?)',
      );
      this.#select = this.#database.prepare<[number], StoredEntry>(
        'SELECT seq, hash, text FROM entries WHERE seq = ?',
      );
      this.#range = this.#database.prepare<[number, number], StoredEntry>(
        'SELECT seq, hash, text FROM entries WHERE seq >= ? ORDER BY seq LIMIT +?',
      );
      this.#insertAll = this.#database.transaction((rows: readonly AppendRow[]) => {
        return this.#insertValid(rows);
      });
      this.#tail = this.#readLast() ?? { seq: 0, hash: NO_HASH };
      // A process that was killed may have left entries that are not on the disk yet.
      this.#sync();
    } catch (error) {
      this.#close();
      throw error;
    }
  }

  span(): Span {
    return { first: this.#first(), last: this.#readLast() };
  }

  /** Checks each append in order and commits the valid ones in one transaction. */
  append(rows: readonly AppendRow[]): readonly AppendOutcome[] {
    this.#checkpointWhenLong();
    const { outcomes, tail } = this.#insertAll(rows);
    this.#tail = tail;
    this.#committed();
    return outcomes;
  }

  #insertValid(rows: readonly AppendRow[]) {
    const outcomes: AppendOutcome[] = [];
    let tail = this.#tail;
    for (const row of rows) {
      const outcome = this.#outcomeOf(row, tail);
      if (outcome.outcome === 'appended' && row.seq > tail.seq) {
        this.#insert.run(row.seq, row.kind, row.hash, row.text);
        tail = { seq: row.seq, hash: row.hash };
        this.#charactersSinceCheckpoint += row.text.length;
      }
      outcomes.push(outcome);
    }
    return { outcomes, tail };
  }

  /** Where this throws, the same entries are appended again. */
  #committed(): void {
    this.#commitsSinceCheckpoint += 1;
    this.#sync();
  }

  #sync(): void {
    this.#wal ??= openSync(`${this.#file}-wal`, 'r');
    try {
      fdatasyncSync(this.#wal);
    } catch (error) {
      this.#syncFailed = true;
      throw error;
    }
  }

  /** From `fromSeq` on, or from the first one after it; throws where that one cannot be read. */
  read(fromSeq: number, limit: number): readonly StoredEntry[] {
    const entries: StoredEntry[] = [];
    // Below the first entry, reading begins with it.
    const from = Math.max(fromSeq, this.#first());
    let characters = 0;
    try {
      for (const stored of this.#range.iterate(from, limit)) {
        checkStored(stored, from + entries.length);
        entries.push(stored);
        characters += stored.text.length;
        if (characters > READ_CHARACTERS) break;
      }
      const isMissing = entries.length === 0 && from <= this.#tail.seq && limit > 0;
      if (isMissing) throw new Error('it is missing');
    } catch (error) {
      if (entries.length === 0) throw unreadable(this.#file, `entry ${from}`, error);
    }
    return entries;
  }

  epochs(): readonly number[] {
    return this.#database
      .prepare<[], { seq: number }>("SELECT seq FROM entries WHERE kind = 'epoch' ORDER BY seq")
      .all()
      .map((row) => row.seq);
  }

  /** Deletes at most `most` entries below `seq`; the first that is left. */
  forget(seq: number, most: number): number {
    const upTo = Math.min(seq, this.#first() + most);
    this.#checkpointWhenLong();
    this.#database.prepare<[number]>('DELETE FROM entries WHERE seq < ?').run(upTo);
    this.#committed();
    return this.#first();
  }

  /** Keeps the old file as `*.replaced`; the next copy overwrites this one. */
  restart({ seq, kind, hash: its, text }: AppendRow): void {
    if (this.#tail.seq > 0) {
      const kept = `${this.#file}.replaced`;
      rmSync(kept, { force: true });
      this.#database.prepare('VACUUM INTO ?').run(kept);
    }
    this.#database.transaction(() => {
      this.#database.exec('DELETE FROM entries');
      this.#insert.run(seq, kind, its, text);
    })();
    this.#tail = { seq, hash: its };
    this.#committed();
  }

  /** Reads the whole file: SQLite's own structures, indexes included; null: they are sound. */
  structureFault(): string | null {
    const found = this.#database.pragma('integrity_check(1)', { simple: true });
    return found === 'ok' ? null : String(found);
  }

  close(): void {
    try {
      checkpointWithChecksums(this.#database);
      this.#database.pragma('wal_checkpoint(TRUNCATE)');
    } catch {
      // The disk may be full. The write-ahead log has everything, and the next start reads it.
    }
    this.#close();
  }

  #close(): void {
    if (this.#wal !== null) closeSync(this.#wal);
    this.#database.close();
    releaseLocked(this.#file);
  }

  #prepareSchema(): void {
    try {
      this.#database.exec(SCHEMA);
    } catch (error) {
      throw unreadable(this.#file, 'its first page', error);
    }
  }

  #first(): number {
    const row = this.#database
      .prepare<[], { seq: number | null }>('SELECT min(seq) AS seq FROM entries')
      .get();
    return row?.seq ?? 0;
  }

  #readLast(): StoredEntry | null {
    try {
      const row = this.#database
        .prepare<[], StoredEntry>('SELECT seq, hash, text FROM entries ORDER BY seq DESC LIMIT 1')
        .get();
      if (row === undefined) return null;
      checkStored(row, row.seq);
      JSON.parse(row.text);
      return row;
    } catch (error) {
      throw unreadable(this.#file, 'its last entry', error);
    }
  }

  #outcomeOf(row: AppendRow, tail: { readonly seq: number; readonly hash: string }): AppendOutcome {
    const { seq, expectedSeq, prevEntryHash } = row;
    if (seq === expectedSeq + 1 && seq <= tail.seq) {
      const stored = seq === tail.seq ? tail.hash : this.#select.get(seq)?.hash;
      if (stored === row.hash) return { outcome: 'appended', seq };
    }
    const fits = expectedSeq === tail.seq && seq === tail.seq + 1 && prevEntryHash === tail.hash;
    return fits ? { outcome: 'appended', seq } : { outcome: 'conflict', lastSeq: tail.seq };
  }

  /**
   * wal_autocheckpoint is off; a passive checkpoint every so often keeps the WAL bounded. Before a
   * commit, so that a disk that refuses it refuses the append.
   */
  #checkpointWhenLong(): void {
    const isMany = this.#commitsSinceCheckpoint >= COMMITS_PER_CHECKPOINT;
    const isLong = this.#charactersSinceCheckpoint >= SHORT_CHARACTERS && isWalLong(this.#file);
    if (!isMany && !isLong && !this.#syncFailed) return;
    // It writes what is in the write-ahead log into the file and syncs that.
    boundWal(this.#database);
    this.#commitsSinceCheckpoint = 0;
    this.#charactersSinceCheckpoint = 0;
    this.#syncFailed = false;
  }
}

/** Throws unless the text is as it was sealed, and in its place. */
function checkStored({ seq, hash: its, text }: StoredEntry, expectedSeq: number): void {
  if (seq !== expectedSeq) throw new Error('it is missing');
  if (hash('sha256', text, 'hex') !== its) throw new Error('its text does not match its hash');
}

export function unreadable(file: string, what: string, error: unknown): unknown {
  if (isFault(error, 'unreadableEntry')) return error;
  const isReadable = systemCode(error) === null || isDamage(error);
  // A file is not damaged if another process uses it or the disk refuses access.
  if (!isReadable) return error;
  const why = messageOf(error);
  return new Fault(
    'unreadableEntry',
    `${file} is damaged: ${what} cannot be read (${why}): ${LOG_REMEDY}`,
  );
}
