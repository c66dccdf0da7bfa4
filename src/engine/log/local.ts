/**
 * The log of a single node: one SQLite file, synchronous=FULL. Appends of one turn of the event
 * loop are one transaction (group commit), so the disk is asked once for many entries.
 */
import { assert } from '../runtime/assert.ts';
import type { Clock, Timer } from '../runtime/clock.ts';
import { type Database, openDatabase } from '../store/database.ts';
import { NO_HASH, openEntry, type SealedEntry } from './entry.ts';
import type { AppendOutcome, Log, Tail } from './port.ts';

interface PendingAppend {
  readonly sealed: SealedEntry;
  readonly expectedSeq: number;
  resolve(outcome: AppendOutcome): void;
  reject(error: unknown): void;
}

/** Entries just appended are read back from memory, not parsed again: so many characters. */
const RECENT_CHARACTERS = 16 * 1024 * 1024;
const COMMITS_PER_CHECKPOINT = 64;
/** A read stops here even when more was asked for. */
const READ_CHARACTERS = 8 * 1024 * 1024;
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS entries (
    seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, hash TEXT NOT NULL, text TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS epochs ON entries (seq) WHERE kind = 'epoch';
`;

export class LocalLog implements Log {
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
    this.#clock = clock;
    this.#database = openDatabase(file, { synchronous: 'FULL', maxMb, exclusive: true });
    this.#database.exec(SCHEMA);
    this.#insert = this.#database.prepare<[number, string, string, string]>(
      'INSERT INTO entries (seq, kind, hash, text) VALUES (?, ?, ?, ?)',
    );
    this.#select = this.#database.prepare<[number], { hash: string; text: string }>(
      'SELECT hash, text FROM entries WHERE seq = ?',
    );
    this.#range = this.#database.prepare<[number, number], { text: string }>(
      'SELECT text FROM entries WHERE seq >= ? ORDER BY seq LIMIT ?',
    );
    this.#tail = this.#readTail();
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
    let characters = 0;
    for (const { text } of this.#range.iterate(fromSeq, limit)) {
      entries.push(openEntry(text));
      characters += text.length;
      if (characters > READ_CHARACTERS) break;
    }
    return entries;
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
    // The last entry stays: a log that has ever been written knows where it ended.
    const from = Math.min(seq, this.#tail.seq);
    this.#database.prepare<[number]>('DELETE FROM entries WHERE seq < ?').run(from);
    this.#recent = this.#recent.filter(({ entry }) => entry.seq >= from);
    this.#recentCharacters = this.#recent.reduce((sum, { text }) => sum + text.length, 0);
  }

  async restart(sealed: SealedEntry): Promise<void> {
    assert(sealed.entry.payload.kind === 'epoch', 'a log begins with an epoch entry');
    this.#commit();
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
    this.#database.pragma('wal_checkpoint(TRUNCATE)');
    this.#database.close();
  }

  /** Judges each append in order; all that fit are one transaction, acknowledged after it. */
  #commit(): void {
    this.#commitTimer?.cancel();
    this.#commitTimer = null;
    const pending = this.#pending;
    this.#pending = [];
    if (pending.length === 0) return;
    const outcomes: AppendOutcome[] = [];
    const appended: SealedEntry[] = [];
    try {
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
    this.#checkpointWhenLong();
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
    const row = this.#database
      .prepare<[], { text: string }>('SELECT text FROM entries ORDER BY seq DESC LIMIT 1')
      .get();
    if (row === undefined) return { seq: 0, hash: NO_HASH, epoch: null };
    const { entry, hash } = openEntry(row.text);
    return { seq: entry.seq, hash, epoch: entry.epoch };
  }

  /** wal_autocheckpoint is off; a passive checkpoint every so often keeps the WAL bounded. */
  #checkpointWhenLong(): void {
    this.#commitsSinceCheckpoint += 1;
    if (this.#commitsSinceCheckpoint < COMMITS_PER_CHECKPOINT) return;
    this.#commitsSinceCheckpoint = 0;
    this.#database.pragma('wal_checkpoint(PASSIVE)');
  }
}
