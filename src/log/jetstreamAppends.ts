/**
 * Appends to a stream: published at once, acknowledged in the order they were asked.
 *
 * Safe because the stream itself compares both its last sequence and the id of its last message,
 * and an id holds the entry's hash: an entry is stored only right behind its own predecessor. Of a
 * pipeline whose first entry lost a race, none can slip in behind the winner's.
 *
 * A refusal or a lost acknowledgement is settled alone and in order: by what the stream holds at
 * the entry's seq. Only when that place is free and its predecessor is the last there is, the same
 * entry is published again, with the same id and the same expected sequence. Never a fresher one.
 */
import { Publisher, type Guards, type PublishResult, WRONG_LAST_SEQUENCE } from '../nats/publisher.ts';
import { type MarketStream, StreamMissing } from '../nats/stream.ts';
import type { NatsLink } from '../nats/connection.ts';
import { type Clock, sleep } from '../runtime/clock.ts';
import { NO_HASH, openEntry, type SealedEntry } from './entry.ts';
import type { AppendOutcome } from './port.ts';

/** Published and not acknowledged; further ones wait for those before them. */
const MOST_IN_FLIGHT = 2_048;
const AGAIN_MS = 50;
const MOST_REFUSALS = 8;

type Verdict = AppendOutcome | { readonly outcome: 'free' };

export class AppendPipeline {
  readonly #link: NatsLink;
  readonly #stream: MarketStream;
  readonly #clock: Clock;
  readonly #giveUpMs: number;
  readonly #publisher: Publisher;
  readonly #stopListening: () => void;
  #settled: Promise<unknown> = Promise.resolve();
  /**
   * nats-server before 2.10 miscounts its last sequence after a purge beyond its end, until it is
   * restarted. The id alone is as strict; the sequence is left out while it is known to be wrong.
   */
  #sequenceIsRight = true;
  #closed = false;

  constructor(link: NatsLink, stream: MarketStream, clock: Clock, giveUpMs: number) {
    this.#link = link;
    this.#stream = stream;
    this.#clock = clock;
    this.#giveUpMs = giveUpMs;
    this.#publisher = new Publisher(link, clock);
    this.#stopListening = link.onStatus(() => {
      this.#sequenceIsRight = true;
    });
  }

  append(sealed: SealedEntry, expectedSeq: number): Promise<AppendOutcome> {
    const isNow = this.#publisher.waiting < MOST_IN_FLIGHT && sealed.entry.seq === expectedSeq + 1;
    const first = isNow ? this.#publish(sealed, this.#guardsOf(sealed)) : null;
    const settled = this.#settled.then(() => this.#settle(sealed, expectedSeq, first));
    this.#settled = settled.catch(() => {});
    return settled;
  }

  /** Resolves when all that was asked so far is settled. */
  async idle(): Promise<void> {
    await this.#settled;
  }

  /** Publishes the first entry of a new log, where the stream has no epoch entry. */
  begin(sealed: SealedEntry): Promise<PublishResult> {
    return this.#publish(sealed, { lastOfSubject: 0 });
  }

  close(): void {
    this.#closed = true;
    this.#stopListening();
    this.#publisher.close();
  }

  async #settle(
    sealed: SealedEntry,
    expectedSeq: number,
    first: Promise<PublishResult> | null,
  ): Promise<AppendOutcome> {
    const { seq } = sealed.entry;
    if (seq !== expectedSeq + 1) {
      const { last } = await this.#stream.state();
      return { outcome: 'conflict', lastSeq: last };
    }
    const startMs = this.#clock.monotonicMs();
    let result = await (first ?? this.#publish(sealed, this.#guardsOf(sealed)));
    for (let refusals = 0; ; ) {
      if (result.result === 'stored' && !result.duplicate) return storedAs(sealed, result.seq);
      if (result.result === 'refused') refusals += 1;
      const verdict = await this.#judge(sealed).catch(rethrowMissing);
      if (verdict !== null && verdict.outcome !== 'free') return verdict;
      const isLate = this.#clock.monotonicMs() - startMs > this.#giveUpMs;
      if (isLate || this.#closed || refusals > MOST_REFUSALS) throw notAppended(seq, result);
      if (verdict === null || result.result === 'lost') await sleep(this.#clock, AGAIN_MS);
      if (verdict !== null) result = await this.#publish(sealed, this.#relaxed(sealed, result));
    }
  }

  /** By what the stream holds: whether the entry is in it, cannot be any more, or may still be. */
  async #judge({ entry, hash }: SealedEntry): Promise<Verdict> {
    const there = await this.#stream.at(entry.seq);
    const { last } = await this.#stream.state();
    const conflict = { outcome: 'conflict', lastSeq: last } as const;
    if (there !== null) {
      return hashOf(there.data) === hash ? { outcome: 'appended', seq: entry.seq } : conflict;
    }
    if (last !== entry.seq - 1) return conflict;
    const before = await this.#stream.at(last);
    const hashBefore = before === null ? NO_HASH : hashOf(before.data);
    return hashBefore === entry.prevEntryHash ? { outcome: 'free' } : conflict;
  }

  /** The stream is at the entry's predecessor, so a guard that refused it is one it has forgotten. */
  #relaxed(sealed: SealedEntry, result: PublishResult): Guards {
    const guards = this.#guardsOf(sealed);
    if (result.result !== 'refused') return guards;
    const { lastMessageId } = guards;
    if (result.code === WRONG_LAST_SEQUENCE && lastMessageId !== undefined) {
      this.#sequenceIsRight = false;
      return { lastMessageId };
    }
    return { lastSequence: sealed.entry.seq - 1 };
  }

  #guardsOf({ entry }: SealedEntry): Guards {
    const lastSequence = entry.seq - 1;
    if (lastSequence === 0) return { lastSequence };
    // Of an epoch's first entry the predecessor's epoch is not known here; such entries are rare
    // and appended alone, so the sequence is enough.
    if (entry.payload.kind === 'epoch') return { lastSequence };
    const lastMessageId = idOf(entry.epoch, lastSequence, entry.prevEntryHash);
    return this.#sequenceIsRight ? { lastSequence, lastMessageId } : { lastMessageId };
  }

  #publish(sealed: SealedEntry, guards: Guards): Promise<PublishResult> {
    const { epoch, seq } = sealed.entry;
    const subject = subjectOf(this.#stream.name, sealed.entry.payload.kind);
    return this.#publisher.publish(subject, sealed.text, idOf(epoch, seq, sealed.hash), guards);
  }
}

/** Epoch entries have a subject of their own, so that they are found without reading the others. */
export function subjectOf(stream: string, kind: string): string {
  return `${stream}.entry.${kind}`;
}

export function hashOf(data: Uint8Array): string {
  return openEntry(textOf(data)).hash;
}

export function textOf(data: Uint8Array): string {
  return new TextDecoder().decode(data);
}

function idOf(epoch: string, seq: number, hash: string): string {
  return `${epoch}/${seq}/${hash}`;
}

function storedAs({ entry }: SealedEntry, seq: number): AppendOutcome {
  return seq === entry.seq
    ? { outcome: 'appended', seq }
    : { outcome: 'conflict', lastSeq: seq };
}

/** null: no answer now. */
function rethrowMissing(error: unknown): null {
  if (error instanceof StreamMissing) throw error;
  return null;
}

function notAppended(seq: number, result: PublishResult): Error {
  const why = result.result === 'refused' ? result.description : '';
  return new Error(`entry ${seq} was not acknowledged: ${result.result === 'lost' ? result.why : why}`);
}
