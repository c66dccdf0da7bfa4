/**
 * The log of a single node: one SQLite file, synchronous=FULL. Appends of one turn of the event
 * loop are one transaction (group commit), so many entries share one disk sync.
 */
import { rmSync } from 'node:fs';
import { assert, Fault, isFault } from '../runtime/assert.ts';
import { type Clock, nextTurn, type Timer } from '../runtime/clock.ts';
import { isDamage } from '../store/damage.ts';
import { type Database, openDatabase } from '../store/database.ts';
import { boundWal, checkpointWithSums, isWalLong } from '../store/pageSums.ts';
import { NO_HASH, openEntry, type SealedEntry } from './entry.ts';
import { type AppendOutcome, LOG_REMEDY, type Log, type Tail } from './port.ts';

interface StoredEntry {
  readonly seq: number;
  readonly hash: string;
  readonly text: string;
}

interface PendingAppend {
  readonly sealed: SealedEntry;
  readonly expectedSeq: number;
  resolve(outcome: AppendOutcome): void;
  reject(error: unknown): void;
}

/** Size of the cache of recent entries: readers take these from memory and skip parsing. */
const RECENT_CHARACTERS = 16 * 1024 * 1024;
const COMMITS_PER_CHECKPOINT = 64;
/** Entries that one transaction of a trim deletes; appends run between two transactions. */
const TRIMMED_AT_ONCE = 512;
/** A read stops here even when more was asked for. */
const READ_CHARACTERS = 8 * 1024 * 1024;
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS entries (
    seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, hash TEXT NOT NULL, text TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS epochs ON entries (seq) WHERE kind = 'epoch';
`;

export class LocalLog implements Log {
  readonly #file: string;
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #insert;
  readonly #select;
  readonly #range;
  #tail: Tail;
  #recent: SealedEntry[] = [];
  #recentCharacters = 0;
  #pending: PendingAppend[] = [];
  #commitTimer: Timer | null = null;
  #waiting: { seq: number; resolve: () => void }[] = [];
  #closed = false;
  #commitsSinceCheckpoint = 0;

  constructor(file: string, clock: Clock, maxMb: number) {
    this.#file = file;
    this.#clock = clock;
    this.#database = openDatabase(file, { synchronous: 'FULL', maxMb, exclusive: true });
    try {
      this.#database.exec(SCHEMA);
    } catch (error) {
      this.#database.close();
      throw unreadable(file, 'its first page', error);
    }
    this.#insert = this.#database.prepare<[number, string, string, string]>(
      'INSERT INTO entries (seq, kind, hash, text) VALUES (?, ?, ?, ?)',
    );
    this.#select = this.#database.prepare<[number], { hash: string; text: string }>(
      'SELECT hash, text FROM entries WHERE seq = ?',
    );
    this.#range = this.#database.prepare<[number, number], StoredEntry>(
      'SELECT seq, hash, text FROM entries WHERE seq >= ? ORDER BY seq LIMIT ?',
    );
    try {
      this.#tail = this.#readTail();
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  async epoch(): Promise<string | null> {
    return this.#tail.epoch;
  }

  async first(): Promise<number> {
    const row = this.#database
      .prepare<[], { seq: number | null }>('SELECT min(seq) AS seq FROM entries')
      .get();
    return row?.seq ?? 0;
  }

  async last(): Promise<Tail> {
    return this.#tail;
  }

  append(sealed: SealedEntry, expectedSeq: number): Promise<AppendOutcome> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ sealed, expectedSeq, resolve, reject });
      this.#commitTimer ??= this.#clock.soon(() => this.#commit());
    });
  }

  async read(fromSeq: number, limit: number): Promise<readonly SealedEntry[]> {
    const oldest = this.#recent[0]?.entry.seq;
    if (oldest !== undefined && fromSeq >= oldest) {
      return this.#recent.slice(fromSeq - oldest, fromSeq - oldest + limit);
    }
    const entries: SealedEntry[] = [];
    // Below the first entry, reading begins with it.
    const from = Math.max(fromSeq, await this.first());
    let before: SealedEntry | null = null;
    let characters = 0;
    try {
      for (const stored of this.#range.iterate(from, limit)) {
        const sealed = openStored(stored, from + entries.length, before);
        entries.push(sealed);
        before = sealed;
        characters += stored.text.length;
        if (characters > READ_CHARACTERS) break;
      }
      const isMissing = entries.length === 0 && from <= this.#tail.seq && limit > 0;
      if (isMissing) throw new Error('it is missing');
    } catch (error) {
      if (entries.length > 0) return entries;
      throw unreadable(this.#database.name, `entry ${from}`, error);
    }
    return entries;
  }

  /** Reads the whole file: SQLite's own structures, indexes included; null: they are sound. */
  structureFault(): string | null {
    const found = this.#database.pragma('integrity_check(1)', { simple: true });
    return found === 'ok' ? null : String(found);
  }

  reached(seq: number): Promise<void> {
    if (this.#closed || this.#tail.seq >= seq) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push({ seq, resolve });
    });
  }

  async epochs(): Promise<readonly number[]> {
    return this.#database
      .prepare<[], { seq: number }>("SELECT seq FROM entries WHERE kind = 'epoch' ORDER BY seq")
      .all()
      .map((row) => row.seq);
  }

  async trim(seq: number): Promise<void> {
    // Keeps the last entry, so that a log that was ever written still has its tail.
    const from = Math.min(seq, this.#tail.seq);
    const forget = this.#database.prepare<[number]>('DELETE FROM entries WHERE seq < ?');
    for (let first = await this.first(); first < from && !this.#closed; ) {
      first = Math.min(from, first + TRIMMED_AT_ONCE);
      this.#checkpointWhenLong();
      forget.run(first);
      this.#commitsSinceCheckpoint += 1;
      await nextTurn(this.#clock);
    }
    this.#recent = this.#recent.filter(({ entry }) => entry.seq >= from);
    this.#recentCharacters = this.#recent.reduce((sum, { text }) => sum + text.length, 0);
  }

  async restart(sealed: SealedEntry): Promise<void> {
    assert(sealed.entry.payload.kind === 'epoch', 'a log begins with an epoch entry');
    this.#commit();
    if (this.#tail.seq > 0) this.#keepCopy();
    this.#database.transaction(() => {
      this.#database.exec('DELETE FROM entries');
      this.#insertEntry(sealed);
    })();
    this.#recent = [];
    this.#recentCharacters = 0;
    this.#advance([sealed]);
  }

  async close(): Promise<void> {
    this.#commit();
    this.#closed = true;
    this.#wake();
    try {
      checkpointWithSums(this.#database);
      this.#database.pragma('wal_checkpoint(TRUNCATE)');
    } catch {
      // The disk may be full. The write-ahead log has everything, and the next start reads it.
    }
    this.#database.close();
  }

  /** Copies the log to `*.replaced` beside it; the next copy overwrites this one. */
  #keepCopy(): void {
    const kept = `${this.#file}.replaced`;
    rmSync(kept, { force: true });
    this.#database.prepare('VACUUM INTO ?').run(kept);
  }

  /** Checks each append in order, commits the valid ones in one transaction, then answers them. */
  #commit(): void {
    this.#commitTimer?.cancel();
    this.#commitTimer = null;
    const pending = this.#pending;
    this.#pending = [];
    if (pending.length === 0) return;
    const outcomes: AppendOutcome[] = [];
    const appended: SealedEntry[] = [];
    try {
      this.#checkpointWhenLong();
      this.#database.transaction(() => {
        let tail = this.#tail;
        for (const { sealed, expectedSeq } of pending) {
          const outcome = this.#judge(sealed, expectedSeq, tail);
          if (outcome.outcome === 'appended' && sealed.entry.seq > tail.seq) {
            this.#insertEntry(sealed);
            appended.push(sealed);
            tail = { seq: sealed.entry.seq, hash: sealed.hash, epoch: sealed.entry.epoch };
          }
          outcomes.push(outcome);
        }
      })();
    } catch (error) {
      for (const { reject } of pending) reject(error);
      return;
    }
    this.#advance(appended);
    pending.forEach(({ resolve }, index) => {
      const outcome = outcomes[index];
      assert(outcome !== undefined, 'every append has an outcome');
      resolve(outcome);
    });
    this.#commitsSinceCheckpoint += 1;
  }

  #judge({ entry, hash }: SealedEntry, expectedSeq: number, tail: Tail): AppendOutcome {
    if (entry.seq === expectedSeq + 1 && entry.seq <= tail.seq) {
      const stored = entry.seq === tail.seq ? tail.hash : this.#select.get(entry.seq)?.hash;
      if (stored === hash) return { outcome: 'appended', seq: entry.seq };
    }
    const fits =
      expectedSeq === tail.seq && entry.seq === tail.seq + 1 && entry.prevEntryHash === tail.hash;
    return fits
      ? { outcome: 'appended', seq: entry.seq }
      : { outcome: 'conflict', lastSeq: tail.seq };
  }

  #insertEntry({ entry, hash, text }: SealedEntry): void {
    this.#insert.run(entry.seq, entry.payload.kind, hash, text);
  }

  #advance(appended: readonly SealedEntry[]): void {
    const last = appended[appended.length - 1];
    if (last === undefined) return;
    this.#tail = { seq: last.entry.seq, hash: last.hash, epoch: last.entry.epoch };
    for (const sealed of appended) {
      this.#recent.push(sealed);
      this.#recentCharacters += sealed.text.length;
    }
    if (this.#recentCharacters > 2 * RECENT_CHARACTERS) this.#forgetOldest();
    this.#wake();
  }

  #forgetOldest(): void {
    let index = 0;
    while (this.#recentCharacters > RECENT_CHARACTERS) {
      this.#recentCharacters -= this.#recent[index]?.text.length ?? 0;
      index += 1;
    }
    this.#recent = this.#recent.slice(index);
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = waiting.filter(({ seq }) => !this.#closed && seq > this.#tail.seq);
    for (const { seq, resolve } of waiting) if (this.#closed || seq <= this.#tail.seq) resolve();
  }

  #readTail(): Tail {
    try {
      const row = this.#database
        .prepare<[], StoredEntry>('SELECT seq, hash, text FROM entries ORDER BY seq DESC LIMIT 1')
        .get();
      if (row === undefined) return { seq: 0, hash: NO_HASH, epoch: null };
      const { entry, hash } = openStored(row, row.seq, null);
      return { seq: entry.seq, hash, epoch: entry.epoch };
    } catch (error) {
      throw unreadable(this.#database.name, 'its last entry', error);
    }
  }

  /**
   * wal_autocheckpoint is off; a passive checkpoint every so often keeps the WAL bounded. Before a
   * commit, so that a disk that refuses it refuses the append.
   */
  #checkpointWhenLong(): void {
    const isDue = this.#commitsSinceCheckpoint >= COMMITS_PER_CHECKPOINT || isWalLong(this.#file);
    if (!isDue) return;
    boundWal(this.#database);
    this.#commitsSinceCheckpoint = 0;
  }
}

/** An entry as it was sealed, at its place and behind the one before it. */
function openStored(
  { seq, hash, text }: StoredEntry,
  expectedSeq: number,
  before: SealedEntry | null,
): SealedEntry {
  if (seq !== expectedSeq) throw new Error('it is missing');
  const sealed = openEntry(text);
  const isRight = sealed.hash === hash && sealed.entry.seq === seq;
  if (!isRight) throw new Error('its text does not match its hash');
  const isNext = before === null || sealed.entry.prevEntryHash === before.hash;
  if (!isNext) throw new Error('it does not continue the entry before it');
  return sealed;
}

function unreadable(file: string, what: string, error: unknown): unknown {
  if (isFault(error, 'unreadableEntry')) return error;
  const isReadable = !(error instanceof Error) || !('code' in error) || isDamage(error);
  // A file is not damaged if another process uses it or the disk refuses access.
  if (!isReadable) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new Fault(
    'unreadableEntry',
    `${file} is damaged: ${what} cannot be read (${why}): ${LOG_REMEDY}`,
  );
}
