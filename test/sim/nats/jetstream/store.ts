/**
 * The messages of one copy of a stream, with their sequences, subjects and limits. A function of
 * the operations that were applied to it, and of their times.
 */
import type { MsgHdrs } from '@nats-io/transport-node';
import { matches } from '../interest.ts';
import { NANOS_PER_MS, type StreamConfig } from './config.ts';

export interface StoredMessage {
  readonly seq: number;
  readonly subject: string;
  readonly headers: MsgHdrs | undefined;
  readonly data: Uint8Array;
  readonly timeMs: number;
  /** With subject and headers. */
  readonly bytes: number;
  /** By its own header; beside the age that the stream gives all. */
  readonly expiresMs: number | null;
  /** Index of the operation that stored it. */
  readonly index: number;
}

interface StoreState {
  readonly messages: number;
  readonly bytes: number;
  readonly first_seq: number;
  readonly last_seq: number;
  readonly num_subjects: number;
}

export class StreamStore {
  config: StreamConfig;
  #messages = new Map<number, StoredMessage>();
  /** Sequences, ascending. */
  #bySubject = new Map<string, number[]>();
  #bytes = 0;
  #first = 0;
  #last = 0;
  #lastMs = 0;
  #withTtl = new Set<number>();
  /** Where its file is broken: nothing from this sequence on is found. */
  #brokenFrom = Number.POSITIVE_INFINITY;
  #unreadable = new Set<number>();
  /** Subjects whose last message was deleted, where that is not noticed: its sequence. */
  #stale = new Map<string, number>();
  readonly #noticesDeletedLast: boolean;

  /** 2.9 does not find the last message of a subject after the one behind it was deleted. */
  constructor(config: StreamConfig, noticesDeletedLast = true) {
    this.config = config;
    this.#noticesDeletedLast = noticesDeletedLast;
  }

  /** false: its file is broken, and what it stores next is not found. */
  get findsNext(): boolean {
    return this.#last < this.#brokenFrom;
  }

  get last(): number {
    return this.#last;
  }

  /** Sequence of the oldest message, or of the next one if the stream is empty. */
  get first(): number {
    return this.#first;
  }

  get lastMs(): number {
    return this.#lastMs;
  }

  get size(): number {
    return this.#messages.size;
  }

  get state(): StoreState {
    return {
      messages: this.#messages.size,
      bytes: this.#bytes,
      first_seq: this.#first,
      last_seq: this.#last,
      num_subjects: this.#bySubject.size,
    };
  }

  subjects(filter: string): [subject: string, messages: number][] {
    return [...this.#bySubject]
      .filter(([subject]) => matches(filter, subject))
      .map(([subject, { length }]) => [subject, length]);
  }

  at(seq: number): StoredMessage | null {
    const isReadable = seq < this.#brokenFrom && !this.#unreadable.has(seq);
    return isReadable ? (this.#messages.get(seq) ?? null) : null;
  }

  /** As the servers do: of all subjects it is the message at the last sequence, if it is there. */
  lastOf(filter: string): StoredMessage | null {
    if (filter === '>') return this.at(this.#last);
    let last = 0;
    for (const seqs of this.#seqsOf(filter)) last = Math.max(last, seqs.at(-1) ?? 0);
    for (const [subject, seq] of this.#stale) {
      if (matches(filter, subject)) last = Math.max(last, seq);
    }
    return this.at(last);
  }

  /** The first one at or behind `seq`. */
  nextOf(filter: string, seq: number): StoredMessage | null {
    if (filter === '>') {
      const there = this.at(Math.max(seq, this.#first));
      if (there !== null) return there;
    }
    let next = Number.POSITIVE_INFINITY;
    for (const seqs of this.#seqsOf(filter)) {
      next = Math.min(next, seqs[lowestAtLeast(seqs, seq)] ?? next);
    }
    return this.#unreadable.has(next) ? this.nextOf(filter, next + 1) : this.at(next);
  }

  countFrom(filter: string, seq: number): number {
    const isWhole = filter === '>' && this.size === this.#last - this.#first + 1;
    if (isWhole) return this.#last + 1 - Math.min(this.#last + 1, Math.max(seq, this.#first));
    let count = 0;
    for (const seqs of this.#seqsOf(filter)) count += seqs.length - lowestAtLeast(seqs, seq);
    return count;
  }

  /** Why the limits do not take it; null: they do. */
  refusalOf(subject: string, bytes: number): string | null {
    const { discard, max_msgs, max_bytes, max_msgs_per_subject } = this.config;
    if (discard !== 'new') return null;
    const ofSubject = this.#bySubject.get(subject)?.length ?? 0;
    const replaces = max_msgs_per_subject > 0 && ofSubject >= max_msgs_per_subject;
    if (replaces) return null;
    if (max_msgs > 0 && this.size >= max_msgs) return 'maximum messages exceeded';
    if (max_bytes > 0 && this.#bytes + bytes > max_bytes) return 'maximum bytes exceeded';
    return null;
  }

  add(message: Omit<StoredMessage, 'seq'>): StoredMessage {
    const stored = { ...message, seq: this.#last + 1 };
    this.#put(stored);
    this.#limit(stored.subject);
    return stored;
  }

  remove(seq: number): boolean {
    const message = this.#messages.get(seq);
    if (message === undefined) return false;
    this.#messages.delete(seq);
    this.#withTtl.delete(seq);
    this.#bytes -= message.bytes;
    this.#removeOfSubject(message.subject, seq);
    if (seq === this.#first) this.#moveFirst();
    return true;
  }

  /** Below `seq`; beyond the end: everything, and the next message gets `seq`. */
  removeBelow(seq: number): number {
    if (seq > this.#last) {
      const removed = this.clear();
      this.#last = seq - 1;
      this.#first = seq;
      return removed;
    }
    let removed = 0;
    for (const [at] of this.#messages) {
      if (at >= seq) break;
      this.remove(at);
      removed += 1;
    }
    return removed;
  }

  /** With this subject, below `seq` where one is given, but the newest `keep`. */
  removeOf(filter: string, seq: number, keep: number): number {
    const all = this.#seqsOf(filter)
      .flat()
      .sort((a, b) => a - b);
    const below = seq > 0 ? all.filter((one) => one < seq) : all;
    const gone = keep > 0 ? below.slice(0, Math.max(0, below.length - keep)) : below;
    for (const one of gone) this.remove(one);
    return gone.length;
  }

  clear(): number {
    const { size } = this;
    this.#messages.clear();
    this.#bySubject.clear();
    this.#withTtl.clear();
    this.#stale.clear();
    this.#unreadable.clear();
    this.#brokenFrom = Number.POSITIVE_INFINITY;
    this.#bytes = 0;
    this.#first = this.#last + 1;
    return size;
  }

  /** Removes messages that are too old at `nowMs`. */
  expire(nowMs: number): void {
    const { max_age } = this.config;
    if (max_age > 0 && this.size > 0) {
      const oldestMs = nowMs - max_age / NANOS_PER_MS;
      for (const [seq, { timeMs }] of this.#messages) {
        if (timeMs > oldestMs) break;
        this.remove(seq);
      }
    }
    for (const seq of this.#withTtl) {
      if ((this.at(seq)?.expiresMs ?? 0) <= nowMs) this.remove(seq);
    }
  }

  /** Read from the disk again. */
  reopen(): void {
    this.#stale.clear();
  }

  /** Replaces the bytes of a message by other ones that are as well stored. */
  damage(seq: number, data: Uint8Array): void {
    const message = this.#messages.get(seq);
    if (message !== undefined) this.#messages.set(seq, { ...message, data });
  }

  /** Takes back the newest ones, as a crash does that loses what was not synced. */
  truncate(last: number): void {
    for (let seq = this.#last; seq > last; seq -= 1) this.remove(seq);
    this.#last = Math.min(this.#last, last);
    this.#lastMs = this.at(this.#last)?.timeMs ?? 0;
    if (this.size === 0) this.#first = this.#last === 0 ? 0 : this.#last + 1;
  }

  /**
   * The sum of a message on the disk is wrong. Where the server reads the whole file, what is
   * behind it is gone; 2.9 counts on from it, and does not find what it stores there.
   */
  breakAt(seq: number, isFileRead: boolean): void {
    if (!isFileRead) {
      this.#unreadable.add(seq);
      return;
    }
    this.truncate(this.#noticesDeletedLast ? seq - 1 : seq);
    if (this.#noticesDeletedLast) return;
    this.remove(seq);
    this.#brokenFrom = Math.min(this.#brokenFrom, seq);
  }

  /** Takes what it lacks of another copy. A message at an existing sequence is not compared. */
  adopt(other: StreamStore): void {
    for (const [seq] of this.#messages) {
      const isGone = seq < other.#first || (seq <= other.#last && !other.#messages.has(seq));
      if (isGone) this.remove(seq);
    }
    for (const [seq, message] of other.#messages) if (seq > this.#last) this.#put(message);
    this.#last = Math.max(this.#last, other.#last);
    this.#lastMs = Math.max(this.#lastMs, other.#lastMs);
    if (this.size === 0) this.#first = Math.max(this.#first, other.#first);
  }

  copy(): StreamStore {
    const copy = new StreamStore(this.config, this.#noticesDeletedLast);
    copy.#messages = new Map(this.#messages);
    copy.#bySubject = new Map([...this.#bySubject].map(([name, seqs]) => [name, [...seqs]]));
    copy.#withTtl = new Set(this.#withTtl);
    copy.#stale = new Map(this.#stale);
    copy.#bytes = this.#bytes;
    copy.#first = this.#first;
    copy.#last = this.#last;
    copy.#lastMs = this.#lastMs;
    copy.#brokenFrom = this.#brokenFrom;
    copy.#unreadable = new Set(this.#unreadable);
    return copy;
  }

  /** Messages from the newest to the oldest. */
  *newest(): Generator<StoredMessage> {
    for (let seq = this.#last; seq >= this.#first && seq > 0; seq -= 1) {
      const message = this.#messages.get(seq);
      if (message !== undefined) yield message;
    }
  }

  /** The newest one. */
  #put(stored: StoredMessage): void {
    this.#last = stored.seq;
    this.#lastMs = stored.timeMs;
    if (this.size === 0) this.#first = stored.seq;
    this.#messages.set(stored.seq, stored);
    this.#bytes += stored.bytes;
    if (stored.expiresMs !== null) this.#withTtl.add(stored.seq);
    this.#stale.delete(stored.subject);
    const seqs = this.#bySubject.get(stored.subject);
    if (seqs === undefined) this.#bySubject.set(stored.subject, [stored.seq]);
    else seqs.push(stored.seq);
  }

  #seqsOf(filter: string): number[][] {
    const exact = this.#bySubject.get(filter);
    if (exact !== undefined) return [exact];
    if (filter === '>') return [...this.#bySubject.values()];
    const found: number[][] = [];
    for (const [subject, seqs] of this.#bySubject) if (matches(filter, subject)) found.push(seqs);
    return found;
  }

  #limit(subject: string): void {
    const { max_msgs_per_subject, max_msgs, max_bytes } = this.config;
    const seqs = this.#bySubject.get(subject);
    while (seqs !== undefined && max_msgs_per_subject > 0 && seqs.length > max_msgs_per_subject) {
      this.remove(seqs[0] ?? 0);
    }
    while (max_msgs > 0 && this.size > max_msgs) this.remove(this.#first);
    while (max_bytes > 0 && this.#bytes > max_bytes) this.remove(this.#first);
  }

  #removeOfSubject(subject: string, seq: number): void {
    const seqs = this.#bySubject.get(subject) ?? [];
    if (seqs[0] === seq) seqs.shift();
    else seqs.splice(lowestAtLeast(seqs, seq), 1);
    const last = seqs.at(-1);
    if (last === undefined) {
      this.#bySubject.delete(subject);
      this.#stale.delete(subject);
    } else if (seq > last && !this.#noticesDeletedLast) this.#stale.set(subject, seq);
  }

  #moveFirst(): void {
    const [next] = this.#messages.keys();
    this.#first = next ?? this.#last + 1;
  }
}

/** The index of the first of `sorted` that is at least `value`. */
function lowestAtLeast(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? value) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
