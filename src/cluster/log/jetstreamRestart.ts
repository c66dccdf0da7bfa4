/**
 * Starts the log in a stream again, behind all its messages: appends one entry, and only then
 * purges the messages before it. The server checks the seq of the entry, so if several nodes start
 * at once one succeeds, and a node that was frozen between two steps changes nothing.
 *
 * A stream that ends far before the entry (NATS lost its data) is purged up to the entry's seq
 * first, and the server cannot check a purge. So a notice with that seq is appended before: no log
 * starts below the seq of a notice, and a purge that arrives late finds nothing to remove. This
 * holds unless the stream is lost again in between.
 *
 * An entry that was stored at a wrong seq is deleted, because no reader could follow it.
 */
import type { SealedEntry } from '../../engine/log/entry.ts';
import { Fault } from '../../engine/runtime/assert.ts';
import { type Guards, type PublishResult, WRONG_LAST_SEQUENCE } from '../nats/publisher.ts';
import type { NatsStream, StreamState } from '../nats/stream.ts';
import { type AppendQueue, hashOf, subjectOf } from './jetstreamAppends.ts';
import { parseEntryOrNull } from './jetstreamEntries.ts';

/** Messages of other programs that are read in an unused stream. */
const MAX_FOREIGN = 100;
const NOTICE = 'notice';
/** How many entries more than the newest state a node that gave notice may have. */
const MAX_AHEAD = 100_000;

/** The lowest seq, `wanted` or later, at which a log can start in this stream. */
export async function earliestStart(wanted: number, stream: NatsStream): Promise<number> {
  const { first, last } = await stream.state();
  const noticed = (await noticeAt(last, Math.max(wanted, last), stream))?.beginsAt ?? 0;
  if (wanted > last) return Math.max(wanted, noticed);
  // Another program wrote to the stream before the market started.
  const isUnused = wanted === 1 && (await holdsNoEntry(first, last, stream));
  return isUnused ? 1 : Math.max(last + 1, noticed);
}

/**
 * May be repeated after any rejection except `logRestartRefused`. `mayStart`: this node holds the
 * lease.
 */
export async function startLog(
  sealed: SealedEntry,
  stream: NatsStream,
  appends: AppendQueue,
  mayStart: () => boolean = () => true,
): Promise<void> {
  const { seq } = sealed.entry;
  const before = await stream.state();
  const there = await stream.at(seq);
  const isOurs = there !== null && hashOf(there.data) === sealed.hash;
  if (!isOurs) {
    // Called after the stream was read: what other nodes started before is in it, or forbids this.
    if (!mayStart()) throw refusedAt(seq);
    if (before.last !== seq - 1) await makeRoom(sealed, before, stream, appends, mayStart);
    await publish(sealed, stream, appends);
  }
  if (before.first > 0 && before.first < seq) await stream.purgeBelow(seq);
}

/** Makes `seq` the next sequence of the stream. */
async function makeRoom(
  { entry: { seq }, hash }: SealedEntry,
  { first, last }: StreamState,
  stream: NatsStream,
  appends: AppendQueue,
  mayStart: () => boolean,
): Promise<void> {
  const isBeyond = last >= seq;
  const isUnused = isBeyond && seq === 1 && (await holdsNoEntry(first, last, stream));
  if (isBeyond && !isUnused) throw refusedAt(seq);
  if (!isUnused) {
    const there = await noticeAt(last, Math.max(seq, last), stream);
    if (there !== null && there.beginsAt > seq) throw refusedAt(seq);
    if (there?.hash !== hash) await giveNotice({ beginsAt: seq, hash }, last, stream, appends);
  }
  if (!mayStart()) throw refusedAt(seq);
  if (isUnused) await stream.remake();
  else await stream.purgeBelow(seq);
}

/** Says that a log is about to start: the last message of a stream that will be purged. */
interface Notice {
  readonly beginsAt: number;
  /** Hash of its first entry. */
  readonly hash: string;
}

async function giveNotice(
  notice: Notice,
  last: number,
  stream: NatsStream,
  appends: AppendQueue,
): Promise<void> {
  const { beginsAt, hash } = notice;
  const id = `notice/${beginsAt}/${hash}`;
  const text = JSON.stringify(notice);
  const put = (guards: Guards) => appends.publishNotice(NOTICE, text, id, guards);
  const result = await behind(last, NOTICE, stream, put);
  if (result.result === 'lost') throw new Error(`the notice has no answer: ${result.why}`);
  if (result.result === 'stored' && result.seq === last + 1) return;
  if (result.result === 'stored' && !result.duplicate) await stream.remove(result.seq);
  throw refusedAt(beginsAt);
}

/** Publishes a message behind `last`, unless something else was stored there meanwhile. */
async function behind(
  last: number,
  kind: string,
  stream: NatsStream,
  put: (guards: Guards) => Promise<PublishResult>,
): Promise<PublishResult> {
  const result = await put({ lastSequence: last });
  const isRefused = result.result === 'refused' && result.code === WRONG_LAST_SEQUENCE;
  if (!isRefused || (await stream.state()).last !== last) return result;
  // See AppendQueue: the server miscounts. Then the newest message of this kind is compared.
  const newest = await stream.lastOf(subjectOf(stream.name, kind));
  return put({ lastOfSubject: newest?.seq ?? 0 });
}

/**
 * The notice at `seq`. A notice far ahead of `end`, the newest seq that this node knows, is
 * ignored: no running node is that far ahead, and a stranger could use up all sequences with it.
 */
async function noticeAt(seq: number, end: number, stream: NatsStream): Promise<Notice | null> {
  const { name, messages } = stream;
  const message = await stream.at(seq);
  if (message?.subject !== subjectOf(name, NOTICE)) return null;
  const notice = messages.read('notice', message.data);
  if (notice === null || notice.beginsAt <= end + MAX_AHEAD) return notice;
  messages.dropped('notice', `it would begin the log more than ${MAX_AHEAD} entries ahead`);
  return null;
}

async function publish(
  sealed: SealedEntry,
  stream: NatsStream,
  appends: AppendQueue,
): Promise<void> {
  const { seq } = sealed.entry;
  const put = (guards: Guards) => appends.publishFirst(sealed, guards);
  const result = await behind(seq - 1, sealed.entry.payload.kind, stream, put);
  if (result.result === 'stored' && result.seq === seq) return;
  if (result.result === 'lost') throw new Error(`the new log has no answer: ${result.why}`);
  if (result.result === 'stored' && !result.duplicate) await remove(result.seq, sealed, stream);
  throw refusedAt(seq);
}

async function remove(at: number, sealed: SealedEntry, stream: NatsStream): Promise<void> {
  const there = await stream.at(at);
  if (there !== null && hashOf(there.data) === sealed.hash) await stream.remove(at);
}

async function holdsNoEntry(first: number, last: number, stream: NatsStream): Promise<boolean> {
  if (first !== 1 || last > MAX_FOREIGN) return false;
  for (let seq = first; seq <= last; seq += 1) {
    const message = await stream.at(seq);
    if (message !== null && parseEntryOrNull(message) !== null) return false;
  }
  return true;
}

function refusedAt(seq: number): Fault {
  return new Fault(
    'logRestartRefused',
    `another writer was at work when the log was to begin at ${seq}`,
  );
}
