/**
 * The log of a single node. Its file has an owner who waits for the disk; this keeps the tail and
 * the newest entries. Appends that are requested during a commit of the owner make up the next
 * commit (group commit), so many entries share one disk sync, without a timer.
 *
 * With `acksFromMemory` an append is acknowledged before it is written, so a crash loses the end of
 * what was acknowledged (decision 0108); while the disk refuses, or is far behind, it waits again.
 */
import { assert } from '../runtime/assert.ts';
import { releaseLocked } from '../store/pageChecksums.ts';
import { NO_HASH, openEntry, type SealedEntry } from './entry.ts';
import { type AppendRow, type LogFileOptions, type StoredEntry, unreadable } from './logFile.ts';
import { type LogOwner, type OpenLogFile, threadLogFile } from './logOwner.ts';
import type { AppendOutcome, Log, Tail } from './port.ts';

interface PendingAppend extends PromiseWithResolvers<AppendOutcome> {
  readonly sealed: SealedEntry;
  readonly expectedSeq: number;
  /** It is answered already, and stays until it is written. */
  readonly isAcknowledged: boolean;
}

export interface LocalLogOptions extends LogFileOptions {
  readonly acksFromMemory?: boolean;
  /** All that was acknowledged is in the file, which is closed. */
  readonly closedWhole?: () => void;
}

/**
 * Size of the cache of recent entries: who follows takes them from memory and skips parsing. More
 * would only grow old in memory, and what grows old there is copied by the collector.
 */
const RECENT_CHARACTERS = 1024 * 1024;
/** Less than the newest entries that are kept, so what is not written yet is read from there. */
const UNWRITTEN_CHARACTERS = RECENT_CHARACTERS / 2;
/** Entries that one transaction of a trim deletes; appends run between two transactions. */
const TRIMMED_AT_ONCE = 512;

export class LocalLog implements Log {
  readonly #options: LocalLogOptions;
  readonly #owner: LogOwner;
  #tail: Tail;
  #first: number;
  #recent: SealedEntry[] = [];
  #recentCharacters = 0;
  #pending: PendingAppend[] = [];
  /** Acknowledged, and not written. */
  #unwrittenCharacters = 0;
  #diskRefuses = false;
  /** Commits pending appends until none is left; null: nothing is. */
  #committing: Promise<void> | null = null;
  #waiting: { seq: number; resolve: () => void }[] = [];
  #closed = false;

  private constructor(options: LocalLogOptions, owner: LogOwner, tail: Tail, first: number) {
    this.#options = options;
    this.#owner = owner;
    this.#tail = tail;
    this.#first = first;
  }

  /** Rejects where another process has the file, and where its last entry cannot be read. */
  static async open(
    options: LocalLogOptions,
    openFile: OpenLogFile = threadLogFile,
  ): Promise<LocalLog> {
    const { file, maxMb } = options;
    const owner = openFile({ file, maxMb });
    try {
      const { first, last } = await owner.call('span', []);
      if (last === null) {
        return new LocalLog(options, owner, { seq: 0, hash: NO_HASH, epoch: null }, 0);
      }
      const { entry, hash } = openStored(file, last);
      const tail = { seq: entry.seq, hash, epoch: entry.epoch };
      return new LocalLog(options, owner, tail, first);
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
    const isAcknowledged = this.#acknowledgesNow(sealed, expectedSeq);
    const append = Promise.withResolvers<AppendOutcome>();
    this.#pending.push({ ...append, sealed, expectedSeq, isAcknowledged });
    if (isAcknowledged) {
      this.#unwrittenCharacters += sealed.text.length;
      this.#advance([sealed]);
      append.resolve({ outcome: 'appended', seq: sealed.entry.seq });
    }
    this.#committing ??= this.#commitAll();
    return append.promise;
  }

  #acknowledgesNow({ entry, text }: SealedEntry, expectedSeq: number): boolean {
    if (this.#options.acksFromMemory !== true || this.#diskRefuses) return false;
    if (this.#unwrittenCharacters + text.length > UNWRITTEN_CHARACTERS) return false;
    // Waiting appends come first.
    if (this.#pending.at(-1)?.isAcknowledged === false) return false;
    const { seq, hash } = this.#tail;
    return expectedSeq === seq && entry.seq === seq + 1 && entry.prevEntryHash === hash;
  }

  async read(fromSeq: number, limit: number): Promise<readonly SealedEntry[]> {
    const oldest = this.#recent[0]?.entry.seq;
    if (oldest !== undefined && fromSeq >= oldest) {
      return this.#recent.slice(fromSeq - oldest, fromSeq - oldest + limit);
    }
    // Unacknowledged entries may be in the file already.
    const from = Math.max(fromSeq, this.#first);
    const wanted = Math.min(limit, this.#tail.seq - from + 1);
    if (wanted <= 0) return [];
    const entries: SealedEntry[] = [];
    for (const stored of await this.#owner.call('read', [from, wanted])) {
      const before = entries.at(-1);
      try {
        entries.push(openStored(this.#options.file, stored, before));
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

  async epochs(): Promise<readonly number[]> {
    await this.#committing;
    return await this.#owner.call('epochs', []);
  }

  async trim(seq: number): Promise<void> {
    await this.#committing;
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
    this.#pending = [];
    this.#unwrittenCharacters = 0;
    await this.#owner.call('restart', [rowOf(sealed, sealed.entry.seq - 1)]);
    this.#recent = [];
    this.#recentCharacters = 0;
    this.#first = sealed.entry.seq;
    this.#advance([sealed]);
  }

  async close(): Promise<void> {
    if (this.#pending.length > 0) this.#committing ??= this.#commitAll();
    await this.#committing;
    this.#closed = true;
    this.#wake();
    await this.#owner.close();
    releaseLocked(this.#options.file);
    if (this.#pending.length === 0) this.#options.closedWhole?.();
  }

  async #commitAll(): Promise<void> {
    // Takes all appends of this turn of the event loop, before its next input.
    await Promise.resolve();
    while (this.#pending.length > 0) {
      const pending = this.#pending;
      this.#pending = [];
      try {
        this.#conclude(pending, await this.#owner.call('append', [pending.map(rowOfAppend)]));
        this.#diskRefuses = false;
      } catch (error) {
        for (const { reject } of pending) reject(error);
        this.#diskRefuses = true;
        const kept = pending.filter(({ isAcknowledged }) => isAcknowledged);
        this.#pending = [...kept, ...this.#pending];
        // The next append, or the end, tries them again.
        if (kept.length === this.#pending.length) break;
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
    pending.forEach(({ resolve, sealed, isAcknowledged }, index) => {
      if (isAcknowledged) this.#unwrittenCharacters -= sealed.text.length;
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
