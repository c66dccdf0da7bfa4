/**
 * Appends to a stream: published at once, settled in the order of the calls.
 *
 * Safe because the stream compares its last sequence and the id of its last message, and an id
 * contains the hash of the entry: an entry is stored only right behind its predecessor. When the
 * first entry of a pipeline lost a race, none of the others is stored behind the winner's.
 *
 * A refusal or a lost acknowledgement is settled in order, by what the stream holds at the entry's
 * seq. Only when that seq is free and the predecessor is the last message, the same entry is
 * published again, with the same id and the same expected sequence; never a newer one.
 */
import { hash as hashText } from 'node:crypto';
import { NO_HASH, openEntry, type SealedEntry } from '../../engine/log/entry.ts';
import type { AppendOutcome } from '../../engine/log/port.ts';
import { isFault } from '../../engine/runtime/assert.ts';
import { type Clock, sleep } from '../../engine/runtime/clock.ts';
import type { NatsLink } from '../nats/connection.ts';
import {
  type Guards,
  Publisher,
  type PublishResult,
  WRONG_LAST_MESSAGE,
  WRONG_LAST_SEQUENCE,
} from '../nats/publisher.ts';
import type { MarketStream } from '../nats/stream.ts';

const AGAIN_MS = 20;
const MOST_REFUSALS = 8;

interface AppendLimits {
  /** After this time an append rejects. */
  readonly giveUpMs: number;
  /** How long a request waits for an answer. */
  readonly answerMs: number;
}

type Verdict =
  | AppendOutcome
  /** The entry's seq is free and its predecessor, with this id, is the last message. */
  | { readonly outcome: 'free'; readonly idBefore: string | undefined };

export class AppendPipeline {
  readonly #stream: MarketStream;
  readonly #clock: Clock;
  readonly #giveUpMs: number;
  readonly #publisher: Publisher;
  readonly #stopListening: () => void;
  #settled: Promise<unknown> = Promise.resolve();
  /**
   * nats-server before 2.10 miscounts its last sequence after a purge beyond its end, until it
   * restarts. The id alone is as strict; the sequence is left out while it is known to be wrong.
   */
  #sequenceIsRight = true;
  #asked = 0;
  /** The last entry that failed, and how many appends had been called then. */
  #givenUp: { readonly hash: string; readonly asked: number; readonly why: unknown } | null = null;
  #closed = false;

  constructor(link: NatsLink, stream: MarketStream, clock: Clock, patience: AppendLimits) {
    this.#stream = stream;
    this.#clock = clock;
    this.#giveUpMs = patience.giveUpMs;
    this.#publisher = new Publisher(link, clock, patience.answerMs);
    this.#stopListening = link.onStatus(() => {
      this.#sequenceIsRight = true;
    });
  }

  append(sealed: SealedEntry, expectedSeq: number): Promise<AppendOutcome> {
    const isNow = sealed.entry.seq === expectedSeq + 1 && knowsBefore(sealed);
    const first = isNow ? this.#publish(sealed, this.#guardsOf(sealed)) : null;
    this.#asked += 1;
    const asked = this.#asked;
    const settled = this.#settled.then(() => this.#settle(sealed, expectedSeq, first, asked));
    this.#settled = settled.catch((why) => {
      this.#givenUp = { hash: sealed.hash, asked: this.#asked, why };
    });
    return settled;
  }

  /** Resolves when all appends so far are settled. */
  async idle(): Promise<void> {
    await this.#settled;
  }

  /** Publishes the first entry of a new log, once. */
  begin(sealed: SealedEntry, guards: Guards): Promise<PublishResult> {
    return this.#publish(sealed, guards);
  }

  /** Publishes a message that is no entry. */
  note(kind: string, text: string, id: string, guards: Guards): Promise<PublishResult> {
    return this.#publisher.publish(subjectOf(this.#stream.name, kind), text, id, guards);
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
    asked: number,
  ): Promise<AppendOutcome> {
    const { seq } = sealed.entry;
    if (seq !== expectedSeq + 1) {
      const { last } = await this.#stream.state();
      return { outcome: 'conflict', lastSeq: last };
    }
    // null: judged before it is published, because the stream alone could not judge it.
    let result = await first;
    const startMs = this.#clock.monotonicMs();
    for (let refusals = 0; ; ) {
      if (result?.result === 'stored' && !result.duplicate) return storedAs(sealed, result.seq);
      // The entries behind a failed one fail at once, and do not each wait as long again.
      const before = this.#givenUp;
      if (before?.hash === sealed.entry.prevEntryHash && asked <= before.asked) throw before.why;
      if (result?.result === 'refused') refusals += 1;
      const verdict = await this.#judge(sealed).catch(rethrowMissing);
      if (verdict !== null && verdict.outcome !== 'free') return verdict;
      const isLate = this.#clock.monotonicMs() - startMs > this.#giveUpMs;
      if (isLate || this.#closed || refusals > MOST_REFUSALS) throw notAppended(seq, result);
      if (verdict === null || result?.result === 'lost') await sleep(this.#clock, AGAIN_MS);
      if (verdict === null) continue;
      result = await this.#publish(sealed, this.#relaxed(seq, verdict.idBefore, result));
    }
  }

  /** By what the stream holds: the entry is stored, can no longer be, or may be published again. */
  async #judge({ entry, hash }: SealedEntry): Promise<Verdict> {
    const there = await this.#stream.at(entry.seq);
    const { last } = await this.#stream.state();
    const conflict = { outcome: 'conflict', lastSeq: last } as const;
    if (there !== null) {
      return hashOf(there.data) === hash ? { outcome: 'appended', seq: entry.seq } : conflict;
    }
    if (last !== entry.seq - 1) return conflict;
    const before = await this.#stream.at(last);
    if ((before === null ? NO_HASH : hashOf(before.data)) !== entry.prevEntryHash) return conflict;
    if (before === null) return { outcome: 'free', idBefore: undefined };
    const { epoch } = openEntry(textOf(before.data)).entry;
    return { outcome: 'free', idBefore: idOf(epoch, last, entry.prevEntryHash) };
  }

  /** The predecessor is the last message, so a guard that refused it is one the server lost. */
  #relaxed(seq: number, idBefore: string | undefined, result: PublishResult | null): Guards {
    const code = result?.result === 'refused' ? result.code : 0;
    if (code === WRONG_LAST_SEQUENCE && idBefore !== undefined) {
      this.#sequenceIsRight = false;
      return { lastMessageId: idBefore };
    }
    if (code === WRONG_LAST_MESSAGE) return { lastSequence: seq - 1 };
    return { lastSequence: seq - 1, lastMessageId: idBefore };
  }

  #guardsOf({ entry }: SealedEntry): Guards {
    const lastSequence = entry.seq - 1;
    if (lastSequence === 0) return { lastSequence };
    // Only an epoch's first entry follows one of another epoch.
    const lastMessageId = idOf(entry.epoch, lastSequence, entry.prevEntryHash);
    return this.#sequenceIsRight ? { lastSequence, lastMessageId } : { lastMessageId };
  }

  #publish(sealed: SealedEntry, guards: Guards): Promise<PublishResult> {
    const { epoch, seq } = sealed.entry;
    const subject = subjectOf(this.#stream.name, sealed.entry.payload.kind);
    return this.#publisher.publish(subject, sealed.text, idOf(epoch, seq, sealed.hash), guards);
  }
}

/** Epoch entries have another subject, which finds them without reading the others. */
export function subjectOf(stream: string, kind: string): string {
  return `${stream}.entry.${kind}`;
}

export function hashOf(data: Uint8Array): string {
  return hashText('sha256', data, 'hex');
}

export function textOf(data: Uint8Array): string {
  return new TextDecoder().decode(data);
}

function idOf(epoch: string, seq: number, hash: string): string {
  return `${epoch}/${seq}/${hash}`;
}

function storedAs({ entry }: SealedEntry, seq: number): AppendOutcome {
  return seq === entry.seq ? { outcome: 'appended', seq } : { outcome: 'conflict', lastSeq: seq };
}

/** null: no answer now. */
function rethrowMissing(error: unknown): null {
  if (isFault(error, 'streamMissing')) throw error;
  return null;
}

/** Whether the id of its predecessor, which the stream compares, follows from the entry. */
function knowsBefore({ entry }: SealedEntry): boolean {
  return entry.payload.kind !== 'epoch' || entry.seq === 1;
}

function notAppended(seq: number, result: PublishResult | null): Error {
  const why = {
    lost: result?.result === 'lost' ? result.why : '',
    refused: result?.result === 'refused' ? result.description : '',
    stored: 'said to be a duplicate, and not there',
    none: 'NATS gives no answer',
  };
  return new Error(`entry ${seq} was not acknowledged: ${why[result?.result ?? 'none']}`);
}
