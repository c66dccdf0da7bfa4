/**
 * The log of several nodes: a JetStream stream. One entry is one message, its seq the stream's.
 *
 * Assumes: one stream, made by `ensureLog`, with the name of the market. The newest entries are
 *          pushed into memory; older ones are read from the stream. Each reader checks the hash
 *          chain.
 * Never:   shows an entry that the stream has not acknowledged, or appends behind an entry that its
 *          new entry does not name.
 * Beyond the port: `check`, because a stream can be lost, shortened or replaced by others.
 */
import { NO_HASH, type SealedEntry } from '../../engine/log/entry.ts';
import type { AppendOutcome, Log, Tail } from '../../engine/log/port.ts';
import { assert, Fault, isFault } from '../../engine/runtime/assert.ts';
import { type Clock, sleep, sleepUnless } from '../../engine/runtime/clock.ts';
import { LAST_DATE_MS } from '../../engine/runtime/limits.ts';
import type { MarketIdentity } from '../../engine/runtime/marketIdentity.ts';
import type { NatsLink } from '../nats/connection.ts';
import { StreamFollower } from '../nats/follower.ts';
import { RangeFetcher } from '../nats/range.ts';
import {
  ANSWER_MS,
  ensureStream,
  type JetStreamManager,
  manager,
  NatsStream,
  type StoredMessage,
} from '../nats/stream.ts';
import { EntryWindow } from './entryWindow.ts';
import { AppendQueue, hashOf, subjectOf } from './jetstreamAppends.ts';
import {
  type Audited,
  audit,
  entriesOfLeader,
  inOrder,
  isDamaged,
  newestBefore,
  parseEntry,
  parseEntryOrNull,
} from './jetstreamEntries.ts';
import { earliestStart, startLog } from './jetstreamRestart.ts';
import { labelOf, setLabel } from './label.ts';

interface JetstreamOptions {
  /** Name of the stream: the name of the market. */
  readonly name: string;
  /** After this time an append or a restart rejects. */
  readonly giveUpMs?: number;
  /** How long a request waits for an answer. */
  readonly answerMs?: number;
  /** Called right before the log is started again. Absent: it may. */
  readonly mayRestart?: () => boolean;
  /** The latest time that a leader gives an entry without a block. Absent: any. */
  readonly latestMs?: (() => number) | undefined;
}

/** How the stream compares with a node's own log. */
export type LogCheck =
  /** It has our entry; more may follow. */
  | 'same'
  /** It ends before our entry: it was shortened or emptied. */
  | 'behind'
  /** It has another entry at our seq, or an unreadable one. */
  | 'different'
  /** It starts after our entry: load a snapshot. */
  | 'trimmed'
  /** There is no such stream. */
  | 'missing'
  | 'unreachable';

/** UTF-8; the server's limit of 1 MiB includes our headers. */
export const MAX_ENTRY_BYTES = 1_000_000;
/** Limits of the stream. */
export const LOG_LIMITS = { maxMessageBytes: 1024 * 1024, dedupeMs: 10 * 60_000 };
/** The last of these is the message at the end of the stream, whatever its subject; or none. */
const ANY_SUBJECT = '>';
const GIVE_UP_MS = 5_000;
const AGAIN_MS = 50;
const BARRIER_MS = 1_000;
/** At the end of a stream, one after the other. */
const MAX_DELETED = 100;
const EMPTY: Tail = { seq: 0, hash: NO_HASH, epoch: null };

/** Makes the market's stream where it is missing. */
export function ensureLog(
  link: NatsLink,
  { name, replicas }: { readonly name: string; readonly replicas: number },
  answerMs = ANSWER_MS,
): Promise<'made' | 'there'> {
  const shape = {
    name,
    subjects: [subjectOf(name, '*')],
    replicas,
    ...LOG_LIMITS,
  };
  return ensureStream(link, shape, answerMs);
}

export class JetstreamLog implements Log {
  readonly #link: NatsLink;
  readonly #clock: Clock;
  readonly #giveUpMs: number;
  readonly #stream: NatsStream;
  readonly #window = new EntryWindow();
  readonly #appends: AppendQueue;
  readonly #follower: StreamFollower;
  readonly #range: RangeFetcher;
  readonly #auditor: RangeFetcher;
  readonly #mayRestart: () => boolean;
  readonly #latestMs: () => number;
  #closed = false;

  constructor(
    link: NatsLink,
    jsm: JetStreamManager,
    clock: Clock,
    { name, giveUpMs = GIVE_UP_MS, answerMs = ANSWER_MS, ...options }: JetstreamOptions,
  ) {
    this.#link = link;
    this.#clock = clock;
    this.#giveUpMs = giveUpMs;
    this.#stream = new NatsStream(link, jsm, name);
    this.#appends = new AppendQueue(link, this.#stream, clock, { giveUpMs, answerMs });
    this.#follower = new StreamFollower(link, jsm, name, clock, (message) => this.#heard(message));
    this.#range = new RangeFetcher(link, jsm, name, clock);
    this.#auditor = new RangeFetcher(link, jsm, name, clock);
    this.#mayRestart = options.mayRestart ?? (() => true);
    this.#latestMs = options.latestMs ?? (() => LAST_DATE_MS);
  }

  /** Throws `streamMissing` without a stream, another error when NATS gives no answer. */
  static async open(
    link: NatsLink,
    clock: Clock,
    options: JetstreamOptions,
  ): Promise<JetstreamLog> {
    const log = new JetstreamLog(link, await manager(link, options.answerMs), clock, options);
    try {
      await log.#startWindow(await log.#lastMessage());
      return log;
    } catch (error) {
      await log.close();
      throw error;
    }
  }

  async epoch(): Promise<string | null> {
    return (await this.last()).epoch;
  }

  async first(): Promise<number> {
    return (await this.#stream.state()).first;
  }

  /**
   * Waits until the push has brought the last entry, so that `read` has it too. Messages behind the
   * newest entry that are no entries do not count; `read` rejects there.
   */
  async last(): Promise<Tail> {
    const hadEnd = this.#window.end;
    const message = await this.#lastMessage();
    if (message === null) {
      if (hadEnd > 0) await this.#restartWindow(1);
      return EMPTY;
    }
    if (hadEnd > message.seq) await this.#startWindow(message);
    const end = parseEntryOrNull(message, this.#latestMs());
    if (end !== null) await this.#catchUp(end);
    const newest = end ?? (await newestBefore(message, this.#stream, this.#latestMs()));
    if (newest === null) return EMPTY;
    return { seq: newest.entry.seq, hash: newest.hash, epoch: newest.entry.epoch };
  }

  async append(sealed: SealedEntry, expectedSeq: number): Promise<AppendOutcome> {
    if (this.#closed) throw new Error('the log is closed');
    const bytes = Buffer.byteLength(sealed.text);
    if (bytes > MAX_ENTRY_BYTES) throw tooLarge(sealed.entry.seq, bytes);
    const outcome = await this.#appends.append(sealed, expectedSeq);
    if (outcome.outcome === 'appended') this.#window.takeOwn(sealed);
    return outcome;
  }

  async read(fromSeq: number, limit: number): Promise<readonly SealedEntry[]> {
    const recent = this.#window.slice(fromSeq, limit);
    if (recent !== null) return recent;
    const hadEnd = this.#window.end;
    const entries = await this.#readStream(fromSeq, limit);
    // The stream ends before the pushed entries: `reached` must not resolve for them.
    if (entries.length === 0 && hadEnd >= fromSeq) await this.#restartWindow(fromSeq);
    return entries;
  }

  reached(seq: number): Promise<void> {
    return this.#window.reached(seq);
  }

  async epochs(): Promise<readonly number[]> {
    const subject = subjectOf(this.#stream.name, 'epoch');
    /** By name: a stranger may write the first entry of an epoch again. */
    const seqs = new Map<string, number>();
    for (let next = 1; ; ) {
      const message = await this.#stream.nextOf(subject, next);
      if (message === null) return [...seqs.values()];
      const epoch = parseEntryOrNull(message, this.#latestMs())?.entry.epoch;
      if (epoch !== undefined && !seqs.has(epoch)) seqs.set(epoch, message.seq);
      next = message.seq + 1;
    }
  }

  async trim(seq: number): Promise<void> {
    const { last } = await this.#stream.state();
    const from = Math.min(seq, last);
    if (from <= 1) return;
    await this.#stream.purgeBelow(from);
    this.#window.forgetBelow(from);
  }

  beginsAt(seq: number): Promise<number> {
    return earliestStart(seq, this.#stream);
  }

  /** Rejects with `logRestartRefused` when another node did it, or may do it now. */
  async restart(sealed: SealedEntry): Promise<void> {
    assert(sealed.entry.payload.kind === 'epoch', 'a log begins with an epoch entry');
    await this.#appends.idle();
    const startMs = this.#clock.monotonicMs();
    for (;;) {
      if (!this.#mayRestart())
        throw new Fault('logRestartRefused', 'another node may begin the log now');
      try {
        await startLog(sealed, this.#stream, this.#appends, this.#mayRestart);
        break;
      } catch (error) {
        const isLate = this.#clock.monotonicMs() - startMs > this.#giveUpMs;
        if (isLate || this.#closed || isFault(error, 'logRestartRefused')) throw error;
        await sleep(this.#clock, AGAIN_MS);
      }
    }
    await this.#startWindowWith(sealed);
  }

  /** Our entry is the last message of the stream. One request; false may mean anything else. */
  async endsWith(own: Tail): Promise<boolean> {
    const hadEnd = this.#window.end;
    const message = await this.#endMessage();
    if (message?.seq !== own.seq || hashOf(message.data) !== own.hash) return false;
    if (hadEnd > own.seq) await this.#startWindow(message);
    else if (!this.#hasInWindow(own)) await this.#catchUp(parseEntry(message, this.#latestMs()));
    return true;
  }

  async check(own: Tail): Promise<LogCheck> {
    if (!this.#link.connected) return 'unreachable';
    const hadEnd = this.#window.end;
    try {
      const { first, last, messages } = await this.#stream.state();
      if (hadEnd > last) await this.#restartWindow(Math.max(1, last));
      if (own.seq === 0) return 'same';
      if (messages === 0 || last < own.seq) return 'behind';
      // Nothing can be appended behind an entry that was deleted or lost.
      if (last > own.seq && (await this.#stream.at(last)) === null) return 'different';
      if (own.seq >= first) {
        const message = await this.#stream.at(own.seq);
        return message !== null && hashOf(message.data) === own.hash ? 'same' : 'different';
      }
      const oldest = own.seq === first - 1 ? await this.#stream.at(first) : null;
      if (oldest === null) return 'trimmed';
      return parseEntry(oldest).entry.prevEntryHash === own.hash ? 'same' : 'trimmed';
    } catch (error) {
      if (isFault(error, 'streamMissing')) return 'missing';
      if (isFault(error, 'unreadableEntry')) return 'different';
      if (isFault(error, 'natsSilent')) return 'unreachable';
      throw error;
    }
  }

  label(): Promise<MarketIdentity | null> {
    return labelOf(this.#link, this.#stream.name);
  }

  setLabel(market: MarketIdentity): Promise<void> {
    return setLabel(this.#link, this.#stream.name, market);
  }

  audit(fromSeq: number, limit: number): Promise<Audited> {
    return audit(this.#auditor, this.#stream, fromSeq, limit, this.#latestMs());
  }

  /** As the stream's leader has it; an audit reads any copy. */
  isDamaged(seq: number): Promise<boolean> {
    return isDamaged(this.#stream, seq, this.#latestMs());
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#appends.close();
    await this.#appends.idle();
    this.#follower.stop();
    this.#window.close();
  }

  /**
   * From the stream. A consumer reads the copy on its server, which may lack an entry, or have
   * another one than the other copies. Each entry names the hash of the one before, so the last
   * one, as the stream's leader has it, verifies all. Where they differ, the leader is read.
   */
  async #readStream(fromSeq: number, limit: number): Promise<readonly SealedEntry[]> {
    const messages = await this.#range.read(fromSeq, limit);
    const [first] = messages;
    if (first === undefined) return [];
    const entries = inOrder(messages, this.#latestMs());
    const last = first.seq === fromSeq ? entries.at(-1) : undefined;
    const there = last === undefined ? null : await this.#stream.at(last.entry.seq);
    if (there !== null && hashOf(there.data) === last?.hash) return entries;
    const ofLeader = await this.#range.readLeader(fromSeq, limit);
    const odd = ofLeader.find(({ seq, data }, at) => {
      const read = messages[at];
      return read !== undefined && (read.seq !== seq || hashOf(read.data) !== hashOf(data));
    });
    if (odd !== undefined) {
      const why = 'a copy of the log has no entry, or another one than its leader, at';
      this.#link.messages.dropped('entry', `${why} ${odd.seq}`);
    }
    return entriesOfLeader(ofLeader, this.#latestMs());
  }

  /** With the message at the stream's end as its leader has it. A consumer's copy may differ. */
  async #startWindow(end: StoredMessage | null): Promise<void> {
    const entry = end === null ? null : parseEntryOrNull(end, this.#latestMs());
    if (entry === null) await this.#restartWindow(end?.seq ?? 1);
    else await this.#startWindowWith(entry);
  }

  async #startWindowWith(end: SealedEntry): Promise<void> {
    this.#window.startWith(end);
    await this.#follower.follow(end.entry.seq + 1);
  }

  /** The window was filled from another stream. */
  async #restartWindow(seq: number): Promise<void> {
    this.#window.clear();
    await this.#follower.follow(seq);
  }

  /**
   * nats-server before 2.10 finds no last message while the one behind it is deleted; a restart
   * that lost a race deletes its own.
   */
  async #lastMessage(): Promise<StoredMessage | null> {
    const message = await this.#stream.lastOf(subjectOf(this.#stream.name, '*'));
    if (message !== null) return message;
    const { last, messages } = await this.#stream.state();
    if (messages === 0) return null;
    for (let back = 0; back < MAX_DELETED; back += 1) {
      const before = await this.#stream.at(last - back);
      if (before !== null) return before;
    }
    throw new Error(`the last ${MAX_DELETED} messages of ${this.#stream.name} are deleted`);
  }

  /** null: the message at the end is deleted, or there is none, or no stream. */
  async #endMessage(): Promise<StoredMessage | null> {
    try {
      return await this.#stream.lastOf(ANY_SUBJECT);
    } catch (error) {
      if (isFault(error, 'streamMissing')) return null;
      throw error;
    }
  }

  /**
   * Waits until the window ends with the stream's last entry. A push that is late, or comes from a
   * replica that lags, is restarted behind the entry that the stream's leader has.
   */
  async #catchUp(end: SealedEntry): Promise<void> {
    const { seq } = end.entry;
    await sleepUnless(this.#clock, BARRIER_MS, this.#window.reached(seq));
    if (this.#hasInWindow({ seq, hash: end.hash })) return;
    await this.#startWindowWith(end);
  }

  #hasInWindow({ seq, hash }: Pick<Tail, 'seq' | 'hash'>): boolean {
    return this.#window.slice(seq, 1)?.[0]?.hash === hash;
  }

  #heard(message: StoredMessage): void {
    // Our own entries are in the window since their acknowledgement.
    if (message.seq <= this.#window.end) return;
    try {
      this.#window.append(parseEntry(message, this.#latestMs()));
    } catch (error) {
      this.#link.messages.dropped('entry', String(error));
      // `read` rejects there, with the reason.
      this.#window.takeUnreadable(message.seq);
    }
  }
}

function tooLarge(seq: number, bytes: number): Error {
  return new Error(`entry ${seq} has ${bytes} bytes, at most ${MAX_ENTRY_BYTES} go into the log`);
}
