/**
 * The log of a single node. Its file has an owner who waits for the disk; this keeps the tail and
 * the newest entries. What is asked to be appended while the owner has a commit in hand makes up
 * the next one (group commit), so many entries share one disk sync, without a timer.
 */
import { assert } from '../runtime/assert.ts';
import { releaseLocked } from '../store/pageSums.ts';
import { NO_HASH, openEntry, type SealedEntry } from './entry.ts';
import { type AppendRow, type LogFileOptions, type StoredEntry, unreadable } from './logFile.ts';
import { type LogOwner, type OpenLogFile, threadLogFile } from './logOwner.ts';
import type { AppendOutcome, Log, Tail } from './port.ts';

interface PendingAppend extends PromiseWithResolvers<AppendOutcome> {
  readonly sealed: SealedEntry;
  readonly expectedSeq: number;
}

/**
 * Size of the cache of recent entries: who follows takes them from memory and skips parsing. More
 * would only grow old in memory, and what grows old there is copied by the collector.
 */
const RECENT_CHARACTERS = 1024 * 1024;
/** Entries that one transaction of a trim deletes; appends run between two transactions. */
const TRIMMED_AT_ONCE = 512;

export class LocalLog implements Log {
  readonly #file: string;
  readonly #owner: LogOwner;
  #tail: Tail;
  #first: number;
  #recent: SealedEntry[] = [];
  #recentCharacters = 0;
  #pending: PendingAppend[] = [];
  /** Commits what is pending until nothing is; null: nothing is. */
  #committing: Promise<void> | null = null;
  #waiting: { seq: number; resolve: () => void }[] = [];
  #closed = false;

  private constructor(file: string, owner: LogOwner, tail: Tail, first: number) {
    this.#file = file;
    this.#owner = owner;
    this.#tail = tail;
    this.#first = first;
  }

  /** Rejects where another process has the file, and where its last entry cannot be read. */
  static async open(
    options: LogFileOptions,
    openFile: OpenLogFile = threadLogFile,
  ): Promise<LocalLog> {
    const owner = openFile(options);
    try {
      const { first, last } = await owner.call('span', []);
      if (last === null) {
        return new LocalLog(options.file, owner, { seq: 0, hash: NO_HASH, epoch: null }, 0);
      }
      const { entry, hash } = openStored(options.file, last);
      const tail = { seq: entry.seq, hash, epoch: entry.epoch };
      return new LocalLog(options.file, owner, tail, first);
    } catch (error) {
      await owner.close();
      throw error;
    }
  }

  async epoch(): Promise<string | null> {
    return this.#tail.epoch;
  }

  async first(): Promise<number> {
    return this.#first;
  }

  async last(): Promise<Tail> {
    return this.#tail;
  }

  append(sealed: SealedEntry, expectedSeq: number): Promise<AppendOutcome> {
    const append = { ...Promise.withResolvers<AppendOutcome>(), sealed, expectedSeq };
    this.#pending.push(append);
    this.#committing ??= this.#commitAll();
    return append.promise;
  }

  async read(fromSeq: number, limit: number): Promise<readonly SealedEntry[]> {
    const oldest = this.#recent[0]?.entry.seq;
    if (oldest !== undefined && fromSeq >= oldest) {
      return this.#recent.slice(fromSeq - oldest, fromSeq - oldest + limit);
    }
    // What is not acknowledged yet may be in the file already.
    const from = Math.max(fromSeq, this.#first);
    const wanted = Math.min(limit, this.#tail.seq - from + 1);
    if (wanted <= 0) return [];
    const entries: SealedEntry[] = [];
    for (const stored of await this.#owner.call('read', [from, wanted])) {
      const before = entries.at(-1);
      try {
        entries.push(openStored(this.#file, stored, before));
      } catch (error) {
        if (before === undefined) throw error;
        break;
      }
    }
    return entries;
  }

  /** Reads the whole file: SQLite's own structures, indexes included; null: they are sound. */
  structureFault(): Promise<string | null> {
    return this.#owner.call('structureFault', []);
  }

  reached(seq: number): Promise<void> {
    if (this.#closed || this.#tail.seq >= seq) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push({ seq, resolve });
    });
  }

  epochs(): Promise<readonly number[]> {
    return this.#owner.call('epochs', []);
  }

  async trim(seq: number): Promise<void> {
    // Keeps the last entry, so that a log that was ever written still has its tail.
    const from = Math.min(seq, this.#tail.seq);
    while (this.#first < from && !this.#closed) {
      this.#first = await this.#owner.call('forget', [from, TRIMMED_AT_ONCE]);
    }
    this.#recent = this.#recent.filter(({ entry }) => entry.seq >= from);
    this.#recentCharacters = this.#recent.reduce((sum, { text }) => sum + text.length, 0);
  }

  async restart(sealed: SealedEntry): Promise<void> {
    assert(sealed.entry.payload.kind === 'epoch', 'a log begins with an epoch entry');
    await this.#committing;
    await this.#owner.call('restart', [rowOf(sealed, sealed.entry.seq - 1)]);
    this.#recent = [];
    this.#recentCharacters = 0;
    this.#first = sealed.entry.seq;
    this.#advance([sealed]);
  }

  async close(): Promise<void> {
    await this.#committing;
    this.#closed = true;
    this.#wake();
    await this.#owner.close();
    releaseLocked(this.#file);
  }

  async #commitAll(): Promise<void> {
    // All that is asked for in this turn of the event loop, before its next input.
    await Promise.resolve();
    while (this.#pending.length > 0) {
      const pending = this.#pending;
      this.#pending = [];
      try {
        this.#conclude(pending, await this.#owner.call('append', [pending.map(rowOfAppend)]));
      } catch (error) {
        for (const { reject } of pending) reject(error);
      }
    }
    this.#committing = null;
  }

  #conclude(pending: readonly PendingAppend[], outcomes: readonly AppendOutcome[]): void {
    const appended: SealedEntry[] = [];
    let { seq } = this.#tail;
    pending.forEach(({ sealed }, index) => {
      if (outcomes[index]?.outcome !== 'appended' || sealed.entry.seq <= seq) return;
      appended.push(sealed);
      ({ seq } = sealed.entry);
    });
    this.#advance(appended);
    pending.forEach(({ resolve }, index) => {
      const outcome = outcomes[index];
      assert(outcome !== undefined, 'every append has an outcome');
      resolve(outcome);
    });
  }

  #advance(appended: readonly SealedEntry[]): void {
    const last = appended[appended.length - 1];
    if (last === undefined) return;
    if (this.#first === 0) this.#first = appended[0]?.entry.seq ?? 0;
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
}

function rowOfAppend({ sealed, expectedSeq }: PendingAppend): AppendRow {
  return rowOf(sealed, expectedSeq);
}

function rowOf({ entry, hash, text }: SealedEntry, expectedSeq: number): AppendRow {
  const { seq, prevEntryHash, payload } = entry;
  return { seq, expectedSeq, prevEntryHash, kind: payload.kind, hash, text };
}

/** An entry as it was sealed, behind the one before it; the owner compared text and hash. */
function openStored(
  file: string,
  { seq, hash, text }: StoredEntry,
  before?: SealedEntry,
): SealedEntry {
  try {
    const sealed = openEntry(text, hash);
    if (sealed.entry.seq !== seq) throw new Error('its text does not match its hash');
    const isNext = before === undefined || sealed.entry.prevEntryHash === before.hash;
    if (!isNext) throw new Error('it does not continue the entry before it');
    return sealed;
  } catch (error) {
    throw unreadable(file, `entry ${seq}`, error);
  }
}
