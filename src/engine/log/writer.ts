/**
 * The leader's log writer: seals entries into the chain and appends them. Only one writer is alive;
 * when another one wrote, `append` throws `writerConflict` and never tries a fresher number.
 */

import { Fault } from '../runtime/assert.ts';
import { backoffMs } from '../runtime/backoff.ts';
import { type Clock, nextTurn, pause } from '../runtime/clock.ts';
import type { PathObserver } from '../runtime/entryPath.ts';
import { ENTRY_VERSION, type Payload, type SealedEntry, sealEntry } from './entry.ts';
import type { Log, Tail } from './port.ts';

export interface EntryDraft {
  readonly timeMs: number;
  readonly payload: Payload;
}

/** Whether an entry must not be written, by a clock that all nodes agree on. */
export type TimeGuard = (draft: EntryDraft, beforeMs: number) => boolean;

const NO_GUARD = { fromMs: 0, isTooLate: () => false };

export interface WriterObserver {
  appendFailed(error: unknown, attempt: number, retryInMs: number): void;
  /** After `appendFailed`: it was appended, or is not tried any more. */
  appendSettled?(): void;
  readonly entryAt?: PathObserver;
}

/** About a millisecond of work. */
const CHARACTERS_A_TURN = 64 * 1024;
const RETRY = { firstMs: 100, maxMs: 5_000 };

export class LogWriter {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #observer: WriterObserver;
  readonly term: number;
  /** For one writer among several: whether it may write now. */
  readonly #mayWrite: () => boolean;
  readonly #isTooLate: TimeGuard;
  /** Time of the last appended entry. */
  #timeMs: number;
  #tail: Tail;
  /** The last entry that was sent, acknowledged or not. */
  #sent: Tail;
  readonly #stop = new AbortController();

  constructor(
    log: Log,
    tail: Tail,
    term: number,
    clock: Clock,
    observer: WriterObserver,
    mayWrite = () => true,
    guard: { readonly fromMs: number; readonly isTooLate: TimeGuard } = NO_GUARD,
  ) {
    this.#log = log;
    this.#mayWrite = mayWrite;
    this.#tail = tail;
    this.#sent = tail;
    this.term = term;
    this.#clock = clock;
    this.#observer = observer;
    this.#timeMs = guard.fromMs;
    this.#isTooLate = guard.isTooLate;
  }

  get tail(): Tail {
    return this.#tail;
  }

  /** Whether another one wrote this entry, the newest of the log that is known. */
  isOvertaken(seq: number, hash: string): boolean {
    return seq >= this.#sent.seq && hash !== this.#sent.hash;
  }

  /** Gives up retrying: a refused append rejects at once from now on. */
  stop(): void {
    this.#stop.abort();
  }

  /**
   * Appends all, in order; resolves with the last seq once all are acknowledged. A disk that
   * refuses is tried again with the same entries until it takes them.
   */
  async append(drafts: readonly EntryDraft[], epoch = this.#tail.epoch): Promise<number> {
    this.#checkTime(drafts);
    const sealed = await this.#seal(drafts, epoch ?? '');
    // Before it is sent: it may be applied before it is acknowledged.
    this.#sent = tailOf(sealed) ?? this.#tail;
    this.#observer.entryAt?.('appended', sealed.at(-1)?.entry.seq ?? 0);
    const refusals = { count: 0 };
    try {
      return await this.#appendSealed(sealed, refusals);
    } finally {
      if (refusals.count > 0) this.#observer.appendSettled?.();
    }
  }

  async #appendSealed(
    sealed: readonly SealedEntry[],
    refusals: { count: number },
  ): Promise<number> {
    for (let attempt = 1; ; attempt += 1) {
      if (!this.#mayWrite()) throw new Fault('writerConflict', 'this process no longer leads');
      const results = await Promise.allSettled(
        sealed.map((entry) => this.#log.append(entry, entry.entry.seq - 1)),
      );
      const refused = results.find((result) => result.status === 'rejected');
      if (refused === undefined) return this.#conclude(sealed, results);
      if (this.#stop.signal.aborted) throw refused.reason;
      const retryInMs = backoffMs(attempt - 1, RETRY);
      refusals.count = attempt;
      this.#observer.appendFailed(refused.reason, attempt, retryInMs);
      await pause(this.#clock, retryInMs, this.#stop.signal);
    }
  }

  #checkTime(drafts: readonly EntryDraft[]): void {
    let beforeMs = this.#timeMs;
    for (const draft of drafts) {
      if (this.#isTooLate(draft, beforeMs)) {
        const at = new Date(draft.timeMs).toISOString();
        throw new Fault(
          'writerConflict',
          `an entry at ${at} is later than the clocks of the others allow`,
        );
      }
      beforeMs = Math.max(beforeMs, draft.timeMs);
    }
    this.#timeMs = beforeMs;
  }

  /** In several turns of the loop where they are long. */
  async #seal(drafts: readonly EntryDraft[], epoch: string): Promise<SealedEntry[]> {
    let { seq, hash: prevEntryHash } = this.#tail;
    let characters = 0;
    const all: SealedEntry[] = [];
    for (const { timeMs, payload } of drafts) {
      if (characters >= CHARACTERS_A_TURN) {
        await nextTurn(this.#clock);
        characters = 0;
      }
      seq += 1;
      const version = ENTRY_VERSION;
      const entry = { version, epoch, seq, term: this.term, prevEntryHash, timeMs, payload };
      const sealed = sealEntry(entry);
      prevEntryHash = sealed.hash;
      characters += sealed.text.length;
      all.push(sealed);
    }
    return all;
  }

  #conclude(
    sealed: readonly SealedEntry[],
    results: readonly PromiseSettledResult<{ outcome: string }>[],
  ): number {
    for (const result of results) {
      if (result.status === 'fulfilled' && result.value.outcome === 'conflict') {
        throw new Fault('writerConflict', 'another writer appended to the log');
      }
    }
    const tail = tailOf(sealed);
    if (tail === null) return this.#tail.seq;
    this.#tail = tail;
    this.#observer.entryAt?.('synced', this.#tail.seq);
    return this.#tail.seq;
  }
}

function tailOf(sealed: readonly SealedEntry[]): Tail | null {
  const last = sealed.at(-1);
  return last === undefined
    ? null
    : { seq: last.entry.seq, hash: last.hash, epoch: last.entry.epoch };
}
