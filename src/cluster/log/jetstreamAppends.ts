/**
 * Appends to a stream, one unacknowledged entry at a time, in the order of the calls.
 *
 * The server itself refuses the successor of an entry that was lost. Each append states the
 * expected last sequence of the stream and of the entry's subject. A writer's consecutive entries
 * are a run. Each run has its own subject, named by the hash of the run's first entry: if another
 * entry took the place of our last one, our subject ends before it. The first entry of a run is
 * published only after its predecessor was read and compared.
 *
 * After a refusal or a lost acknowledgement, the message at the entry's seq decides. Only when that
 * seq is free and the predecessor is the last message, the same entry is published again.
 */
import { hash as hashText } from 'node:crypto';
import { NO_HASH, type SealedEntry } from '../../engine/log/entry.ts';
import type { AppendOutcome } from '../../engine/log/port.ts';
import { isFault } from '../../engine/runtime/assert.ts';
import { type Clock, sleep } from '../../engine/runtime/clock.ts';
import type { NatsLink } from '../nats/connection.ts';
import {
  type Guards,
  Publisher,
  type PublishResult,
  WRONG_LAST_SEQUENCE,
} from '../nats/publisher.ts';
import type { NatsStream } from '../nats/stream.ts';

const AGAIN_MS = 20;
const MAX_REFUSALS = 8;

interface AppendLimits {
  /** After this time an append rejects. */
  readonly giveUpMs: number;
  /** How long a request waits for an answer. */
  readonly answerMs: number;
}

/** Entries of this writer that follow each other in the stream. */
interface Run {
  readonly subject: string;
  /** Seq and hash of the last entry. 0 and empty: there is none yet. */
  readonly seq: number;
  readonly hash: string;
}

type Verdict =
  | (AppendOutcome & { readonly outcome: 'appended'; readonly subject: string })
  | (AppendOutcome & { readonly outcome: 'conflict' })
  /** The entry's seq is free, and its predecessor is the last message. */
  | { readonly outcome: 'free' };

export class AppendQueue {
  readonly #link: NatsLink;
  readonly #stream: NatsStream;
  readonly #clock: Clock;
  readonly #giveUpMs: number;
  readonly #publisher: Publisher;
  readonly #stopListening: () => void;
  #settled: Promise<unknown> = Promise.resolve();
  #run: Run | null = null;
  /**
   * How much nats-server 2.9 expects less than the last sequence: until a restart, that version
   * does not count sequences that a purge beyond the end skipped.
   */
  #uncounted = 0;
  #asked = 0;
  /** The last entry that failed, and how many appends had been called then. */
  #givenUp: { readonly hash: string; readonly asked: number; readonly why: unknown } | null = null;
  #closed = false;

  constructor(link: NatsLink, stream: NatsStream, clock: Clock, patience: AppendLimits) {
    this.#link = link;
    this.#stream = stream;
    this.#clock = clock;
    this.#giveUpMs = patience.giveUpMs;
    this.#publisher = new Publisher(link, clock, patience.answerMs);
    this.#stopListening = link.onStatus(() => {
      this.#uncounted = 0;
    });
  }

  append(sealed: SealedEntry, expectedSeq: number): Promise<AppendOutcome> {
    this.#asked += 1;
    const asked = this.#asked;
    const settled = this.#settled.then(() => this.#append(sealed, expectedSeq, asked));
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
  publishFirst(sealed: SealedEntry, guards: Guards): Promise<PublishResult> {
    const subject = subjectOf(this.#stream.name, sealed.entry.payload.kind);
    return this.#publish(sealed, subject, guards);
  }

  /** Publishes a message that is no entry. */
  publishNotice(kind: string, text: string, id: string, guards: Guards): Promise<PublishResult> {
    return this.#publisher.publish(subjectOf(this.#stream.name, kind), text, id, guards);
  }

  close(): void {
    this.#closed = true;
    this.#stopListening();
    this.#publisher.close();
  }

  async #append(sealed: SealedEntry, expectedSeq: number, asked: number): Promise<AppendOutcome> {
    const { seq, prevEntryHash } = sealed.entry;
    if (seq !== expectedSeq + 1) {
      const { last } = await this.#stream.state();
      return { outcome: 'conflict', lastSeq: last };
    }
    // The entries behind a failed one fail at once, and do not each wait as long again.
    const before = this.#givenUp;
    if (before?.hash === prevEntryHash && asked <= before.asked) throw before.why;
    const last = isRun(sealed) ? this.#run : null;
    const run = last?.seq === seq - 1 && last.hash === prevEntryHash ? last : this.#newRun(sealed);
    this.#run = null;
    const said = await this.#publishUntilSettled(sealed, run);
    if (said.outcome === 'appended' && said.subject === run.subject && isRun(sealed)) {
      this.#run = { subject: run.subject, seq, hash: sealed.hash };
    }
    return said.outcome === 'appended' ? { outcome: 'appended', seq } : said;
  }

  async #publishUntilSettled(
    sealed: SealedEntry,
    run: Run,
  ): Promise<Exclude<Verdict, { readonly outcome: 'free' }>> {
    const { seq } = sealed.entry;
    const startMs = this.#clock.monotonicMs();
    // Only behind an entry of the same run can the server judge it alone.
    let result = run.seq === 0 ? null : await this.#publishIn(run, sealed);
    for (let refusals = 0; ; ) {
      if (result?.result === 'stored' && !result.duplicate) {
        if (result.seq !== seq) return { outcome: 'conflict', lastSeq: result.seq };
        return { outcome: 'appended', seq, subject: run.subject };
      }
      if (result?.result === 'refused') refusals += 1;
      const verdict = await this.#outcomeInStream(sealed, run).catch(rethrowMissing);
      if (verdict !== null && verdict.outcome !== 'free') return verdict;
      const isLate = this.#clock.monotonicMs() - startMs > this.#giveUpMs;
      if (isLate || this.#closed || refusals > MAX_REFUSALS) throw notAppended(seq, result);
      const isAgain = result?.result === 'lost' || refusals > 1;
      if (verdict === null || isAgain) await sleep(this.#clock, AGAIN_MS);
      if (verdict === null) continue;
      this.#learnCount(result, seq - 1);
      result = await this.#publishIn(run, sealed);
    }
  }

  /** Reads the stream to decide; null: not clear yet. */
  async #outcomeInStream({ entry, hash }: SealedEntry, run: Run): Promise<Verdict | null> {
    const { seq } = entry;
    const there = await this.#stream.at(seq);
    const { last } = await this.#stream.state();
    const conflict = { outcome: 'conflict', lastSeq: last } as const;
    if (there !== null) {
      const { subject } = there;
      return hashOf(there.data) === hash ? { outcome: 'appended', seq, subject } : conflict;
    }
    // A new leader of the stream may not have applied our acknowledged message yet.
    if (last < seq - 1 && run.seq === seq - 1) return null;
    if (last !== seq - 1) return conflict;
    const before = await this.#stream.at(last);
    const isBefore = (before === null ? NO_HASH : hashOf(before.data)) === entry.prevEntryHash;
    return isBefore ? { outcome: 'free' } : conflict;
  }

  /** The predecessor is the last message, so a server of 2.9 that refused its seq miscounts. */
  #learnCount(result: PublishResult | null, last: number): void {
    if (result?.result !== 'refused' || result.code !== WRONG_LAST_SEQUENCE) return;
    if (!MISCOUNTS.test(this.#link.connection.info?.version ?? '')) return;
    const [, counted] = COUNTED.exec(result.description) ?? [];
    if (counted !== undefined) this.#uncounted = last - Number(counted);
  }

  #newRun({ entry, hash }: SealedEntry): Run {
    const { term, payload } = entry;
    const kind = payload.kind === 'epoch' ? 'epoch' : `t${term}-${hash.slice(0, RUN_LETTERS)}`;
    return { subject: subjectOf(this.#stream.name, kind), seq: 0, hash: '' };
  }

  #publishIn({ subject, seq }: Run, sealed: SealedEntry): Promise<PublishResult> {
    const lastSequence = sealed.entry.seq - 1 - this.#uncounted;
    const guards = isRun(sealed) ? { lastSequence, lastOfSubject: seq } : { lastSequence };
    return this.#publish(sealed, subject, guards);
  }

  #publish(sealed: SealedEntry, subject: string, guards: Guards): Promise<PublishResult> {
    const { epoch, seq } = sealed.entry;
    // Nodes of version 0.4 expect this id of the entry before theirs.
    const id = `${epoch}/${seq}/${sealed.hash}`;
    return this.#publisher.publish(subject, sealed.text, id, guards);
  }
}

const MISCOUNTS = /^2\.\d\./;
const COUNTED = /wrong last sequence: (\d+)/;
/** Letters of a hash that name a run: no two runs of a log have the same. */
const RUN_LETTERS = 16;

/** Epoch entries share a subject, which finds them without reading the others. */
function isRun({ entry }: SealedEntry): boolean {
  return entry.payload.kind !== 'epoch';
}

/** One token behind the market's: stream and permissions of older versions have room for it. */
export function subjectOf(stream: string, kind: string): string {
  return `${stream}.entry.${kind}`;
}

export function hashOf(data: Uint8Array): string {
  return hashText('sha256', data, 'hex');
}

export function textOf(data: Uint8Array): string {
  return new TextDecoder().decode(data);
}

/** null: no answer now. */
function rethrowMissing(error: unknown): null {
  if (isFault(error, 'streamMissing')) throw error;
  return null;
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
