/**
 * One stream and each node's way to it, as NATS is on a bad day: appends get lost, or only their
 * acknowledgements; answers come late, in small portions or not at all; the stream loses its end,
 * or everything, or has an entry that no node may follow.
 */

import type { LogCheck } from '../../../src/cluster/log/jetstream.ts';
import { NO_HASH, type SealedEntry, sealEntry } from '../../../src/engine/log/entry.ts';
import type { AppendOutcome, Log, Tail } from '../../../src/engine/log/port.ts';
import { Fault } from '../../../src/engine/runtime/assert.ts';
import { systemClock as clock } from '../../../src/engine/runtime/clock.ts';
import type { Rng } from '../../../src/engine/runtime/rng.ts';

export class FaultyStream {
  entries: SealedEntry[] = [];
  /** Every entry that was ever stored. */
  readonly history: SealedEntry[] = [];
  backMs: number | null = null;
  /** Broken rules of writers. */
  readonly faults: unknown[] = [];
  readonly rng: Rng;
  /** Share of calls that go wrong. */
  trouble = 0;
  readonly #listeners = new Set<() => void>();

  constructor(rng: Rng) {
    this.rng = rng;
  }

  get last(): SealedEntry | undefined {
    return this.entries.at(-1);
  }

  get end(): number {
    return this.last?.entry.seq ?? 0;
  }

  at(seq: number): SealedEntry | undefined {
    return this.entries.find(({ entry }) => entry.seq === seq);
  }

  store(sealed: SealedEntry): void {
    this.entries.push(sealed);
    this.history.push(sealed);
    this.tell();
  }

  /** An entry that no leader would write: of an old term, or with another predecessor. */
  forge(what: 'term' | 'hash'): void {
    const { last } = this;
    if (last === undefined) return;
    const { entry, hash } = last;
    const seq = entry.seq + 1;
    const prevEntryHash = what === 'hash' ? 'of another state' : hash;
    const term = what === 'term' ? entry.term - 1 : entry.term;
    const payload = { kind: 'leader', node: 'a stranger' } as const;
    this.store(sealEntry({ ...entry, seq, term, prevEntryHash, payload }));
  }

  /** As after a restart from an older copy, which all see as a silence that ends. */
  truncate(count: number): void {
    this.backMs = clock.monotonicMs();
    this.entries = this.entries.slice(0, Math.max(0, this.entries.length - count));
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  tell(): void {
    for (const listener of this.#listeners) listener();
  }

  chance(share: number): boolean {
    return this.rng.unit() < share;
  }

  async delay(): Promise<void> {
    const turns = this.chance(this.trouble) ? 1 + Math.floor(this.rng.unit() * 20) : 1;
    for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
  }
}

export class FaultyLog implements Log {
  readonly #stream: FaultyStream;
  isCut = false;
  /** The last entry that this node has read, which it may apply much later. */
  lastRead: SealedEntry | null = null;
  /** Called right before the log is restarted. */
  mayRestart = () => true;
  #isClosed = false;
  #waiting: { seq: number; resolve: () => void }[] = [];

  constructor(stream: FaultyStream) {
    this.#stream = stream;
    stream.onChange(() => this.#wake());
  }

  async #answer<T>(what: () => T): Promise<T> {
    await this.#stream.delay();
    if (this.isCut || this.#stream.chance(this.#stream.trouble / 4)) throw silent('no answer');
    return what();
  }

  epoch() {
    return this.#answer(() => this.#stream.last?.entry.epoch ?? null);
  }

  first() {
    return this.#answer(() => this.#stream.entries[0]?.entry.seq ?? 0);
  }

  last(): Promise<Tail> {
    return this.#answer(() => {
      const { last } = this.#stream;
      if (last === undefined) return { seq: 0, hash: NO_HASH, epoch: null };
      return { seq: last.entry.seq, hash: last.hash, epoch: last.entry.epoch };
    });
  }

  async append(sealed: SealedEntry, expectedSeq: number): Promise<AppendOutcome> {
    const stream = this.#stream;
    // In the order of the calls, as one connection has it.
    const isLost = this.isCut || stream.chance(stream.trouble / 4);
    const outcome = isLost ? null : this.#store(sealed, expectedSeq);
    await stream.delay();
    const isUnheard = this.isCut || stream.chance(stream.trouble / 4);
    if (outcome === null || isUnheard) throw silent('no acknowledgement');
    return outcome;
  }

  #store(sealed: SealedEntry, expectedSeq: number): AppendOutcome {
    const stream = this.#stream;
    const { seq, prevEntryHash } = sealed.entry;
    if (stream.at(seq)?.hash === sealed.hash) return { outcome: 'appended', seq };
    const follows = stream.last === undefined || stream.last.hash === prevEntryHash;
    if (seq !== expectedSeq + 1 || stream.end !== expectedSeq || !follows) {
      return { outcome: 'conflict', lastSeq: stream.end };
    }
    // Only `restart` writes to an empty stream.
    if (stream.last === undefined) return { outcome: 'conflict', lastSeq: 0 };
    const { term } = sealed.entry;
    const newest = stream.last.entry.term;
    if (term < newest) stream.faults.push(new Error(`written in term ${term} after ${newest}`));
    stream.store(sealed);
    return { outcome: 'appended', seq };
  }

  read(fromSeq: number, limit: number) {
    const stream = this.#stream;
    return this.#answer(() => {
      const most = stream.chance(stream.trouble) ? 1 + Math.floor(stream.rng.unit() * 3) : limit;
      const found = stream.entries.filter(({ entry }) => entry.seq >= fromSeq).slice(0, most);
      this.lastRead = found.at(-1) ?? this.lastRead;
      return found;
    });
  }

  reached(seq: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ seq, resolve });
      this.#wake();
    });
  }

  epochs() {
    const isEpoch = ({ entry }: SealedEntry) => entry.payload.kind === 'epoch';
    return this.#answer(() => this.#stream.entries.filter(isEpoch).map(({ entry }) => entry.seq));
  }

  async trim(): Promise<void> {}

  async restart(sealed: SealedEntry): Promise<void> {
    await this.#answer(() => {
      if (!this.mayRestart()) throw new Error('another node may begin the log now');
      const stream = this.#stream;
      const there = stream.at(sealed.entry.seq);
      if (there?.hash === sealed.hash) return;
      const isBegun = there !== undefined && stream.entries[0] === there;
      if (isBegun || this.#isClosed) throw new Error('another one began it');
      stream.entries = [];
      stream.store(sealed);
    });
  }

  async check({ seq, hash }: Tail): Promise<LogCheck> {
    try {
      return await this.#answer(() => {
        const stream = this.#stream;
        const first = stream.entries[0];
        if (seq === 0) return 'same';
        if (first === undefined || stream.end < seq) return 'behind';
        const there = stream.at(seq);
        if (there !== undefined) return there.hash === hash ? 'same' : 'different';
        return 'trimmed';
      });
    } catch {
      return 'unreachable';
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake();
  }

  #wake(): void {
    const isDone = ({ seq }: { seq: number }) => this.#isClosed || seq <= this.#stream.end;
    for (const { resolve } of this.#waiting.filter(isDone)) resolve();
    this.#waiting = this.#waiting.filter((one) => !isDone(one));
  }

  /** Pushes come again. */
  mend(): void {
    this.isCut = false;
    this.#wake();
  }
}

function silent(message: string): Fault {
  return new Fault('natsSilent', message);
}
