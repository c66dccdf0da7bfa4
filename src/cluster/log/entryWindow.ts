/**
 * The newest entries of a stream in memory, in order, for readers that are up to date. Bounded by
 * characters; older entries are read from the stream.
 */
import type { SealedEntry } from '../../engine/log/entry.ts';

const KEPT_CHARACTERS = 16 * 1024 * 1024;

/** The number and the hash fit. */
export function follows({ entry }: SealedEntry, before: SealedEntry): boolean {
  return entry.seq === before.entry.seq + 1 && entry.prevEntryHash === before.hash;
}

export class EntryWindow {
  #entries: SealedEntry[] = [];
  #characters = 0;
  /** Seq of the last message of the stream, readable or not. */
  #end = 0;
  #waiting: { readonly seq: number; resolve(): void }[] = [];
  #closed = false;

  get end(): number {
    return this.#end;
  }

  /** Adds an acknowledged entry of ours if it follows the tail; else the stream brings it. */
  takeOwn(sealed: SealedEntry): void {
    const tail = this.#entries.at(-1);
    if (tail !== undefined && follows(sealed, tail)) this.#push(sealed);
  }

  /**
   * Adds an entry that the stream brings. If an entry does not follow the last one, the window
   * starts again with it.
   */
  append(sealed: SealedEntry): void {
    const tail = this.#entries.at(-1);
    if (tail !== undefined && sealed.entry.seq <= tail.entry.seq) return;
    if (tail !== undefined && !follows(sealed, tail)) this.#drop();
    this.#push(sealed);
  }

  /** The message at `seq` is no entry: a reader has to read it from the stream. */
  takeUnreadable(seq: number): void {
    this.#drop();
    this.#end = Math.max(this.#end, seq);
    this.#wake();
  }

  startWith(sealed: SealedEntry): void {
    this.clear();
    this.#push(sealed);
  }

  /** null: not in memory. */
  slice(fromSeq: number, limit: number): readonly SealedEntry[] | null {
    const oldest = this.#entries[0]?.entry.seq;
    if (oldest === undefined || fromSeq < oldest) return null;
    return this.#entries.slice(fromSeq - oldest, fromSeq - oldest + limit);
  }

  forgetBelow(seq: number): void {
    const kept = this.#entries.filter(({ entry }) => entry.seq >= seq);
    this.#entries = kept;
    this.#characters = kept.reduce((sum, { text }) => sum + text.length, 0);
  }

  clear(): void {
    this.#drop();
    this.#end = 0;
  }

  /** Resolves once the stream has a message at or past `seq`, or the window is closed. */
  reached(seq: number): Promise<void> {
    if (this.#closed || this.#end >= seq) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push({ seq, resolve });
    });
  }

  close(): void {
    this.#closed = true;
    this.#wake();
  }

  #push(sealed: SealedEntry): void {
    this.#entries.push(sealed);
    this.#characters += sealed.text.length;
    this.#end = sealed.entry.seq;
    if (this.#characters > 2 * KEPT_CHARACTERS) this.#forgetOldest();
    this.#wake();
  }

  #forgetOldest(): void {
    let index = 0;
    while (this.#characters > KEPT_CHARACTERS && index < this.#entries.length - 1) {
      this.#characters -= this.#entries[index]?.text.length ?? 0;
      index += 1;
    }
    this.#entries = this.#entries.slice(index);
  }

  #drop(): void {
    this.#entries = [];
    this.#characters = 0;
  }

  #wake(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = waiting.filter(({ seq }) => !this.#closed && seq > this.#end);
    for (const { seq, resolve } of waiting) if (this.#closed || seq <= this.#end) resolve();
  }
}
