/**
 * Begins the log in a stream again, behind all that ever was in it: one entry is appended, and only
 * then what is before it is forgotten. The server compares where the entry comes to lie, so of
 * several who begin at once one succeeds, and whoever was frozen between two steps changes nothing.
 *
 * A stream that ends far before the entry (NATS lost its data) is emptied up to the entry's seq
 * first, which the server does not compare with anything. So a notice of that seq is appended
 * before: no log begins below the seq of a notice, and a request to empty the stream that comes
 * late finds nothing there. That holds as long as the stream is not lost once more in between.
 *
 * An entry that came to lie elsewhere than at its seq is removed: no reader could go on from it.
 */

import type { SealedEntry } from '../../engine/log/entry.ts';
import { type Guards, type PublishResult, WRONG_LAST_SEQUENCE } from '../nats/publisher.ts';
import type { MarketStream, StoredMessage, StreamState } from '../nats/stream.ts';
import { type AppendPipeline, hashOf, subjectOf, textOf } from './jetstreamAppends.ts';
import { parseEntryOrNull } from './jetstreamEntries.ts';

/** Messages of strangers in an unused stream that are looked at. */
const MOST_STRANGE = 100;
const NOTICE = 'notice';

/** Somebody else's entry is in the new log: read it. */
export class LogRestartRefused extends Error {}

/** The least seq, `wanted` or later, at which a log can begin in this stream. */
export async function earliestStart(wanted: number, stream: MarketStream): Promise<number> {
  const { first, last } = await stream.state();
  const noticed = noticeIn(await stream.at(last))?.beginsAt ?? 0;
  if (wanted > last) return Math.max(wanted, noticed);
  // A stranger wrote into the stream of a market that has not begun.
  const isUnused = wanted === 1 && (await holdsNoEntry(first, last, stream));
  return isUnused ? 1 : Math.max(last + 1, noticed);
}

/**
 * May be tried again after any other rejection than `RestartRefused`. `mayBegin`: this node holds
 * the lease.
 */
export async function startLog(
  sealed: SealedEntry,
  stream: MarketStream,
  appends: AppendPipeline,
  mayBegin: () => boolean = () => true,
): Promise<void> {
  const { seq } = sealed.entry;
  const before = await stream.state();
  const there = await stream.at(seq);
  const isOurs = there !== null && hashOf(there.data) === sealed.hash;
  if (!isOurs) {
    // Asked after the look at the stream: what others began before it is seen, or forbids this.
    if (!mayBegin()) throw refusedAt(seq);
    if (before.last !== seq - 1) await makeRoom(sealed, before, stream, appends, mayBegin);
    await publish(sealed, stream, appends);
  }
  if (before.first > 0 && before.first < seq) await stream.purgeBelow(seq);
}

/** So that `seq` is what comes next. */
async function makeRoom(
  { entry: { seq }, hash }: SealedEntry,
  { first, last }: StreamState,
  stream: MarketStream,
  appends: AppendPipeline,
  mayBegin: () => boolean,
): Promise<void> {
  const isPassed = last >= seq;
  const isUnused = isPassed && seq === 1 && (await holdsNoEntry(first, last, stream));
  if (isPassed && !isUnused) throw refusedAt(seq);
  if (!isUnused) {
    const there = noticeIn(await stream.at(last));
    if (there !== null && there.beginsAt > seq) throw refusedAt(seq);
    if (there?.hash !== hash) await giveNotice({ beginsAt: seq, hash }, last, stream, appends);
  }
  if (!mayBegin()) throw refusedAt(seq);
  if (isUnused) await stream.remake();
  else await stream.purgeBelow(seq);
}

/** That a log is to begin, as the last message of a stream that is about to be emptied. */
interface Notice {
  readonly beginsAt: number;
  /** Of the entry that it begins with. */
  readonly hash: string;
}

async function giveNotice(
  notice: Notice,
  last: number,
  stream: MarketStream,
  appends: AppendPipeline,
): Promise<void> {
  const { beginsAt, hash } = notice;
  const id = `notice/${beginsAt}/${hash}`;
  const text = JSON.stringify(notice);
  const put = (guards: Guards) => appends.note(NOTICE, text, id, guards);
  const result = await behind(last, NOTICE, stream, put);
  if (result.result === 'lost') throw new Error(`the notice has no answer: ${result.why}`);
  if (result.result === 'stored' && result.seq === last + 1) return;
  if (result.result === 'stored' && !result.duplicate) await stream.remove(result.seq);
  throw refusedAt(beginsAt);
}

/** Puts a message behind `last`, the end of the stream, where nothing else came in between. */
async function behind(
  last: number,
  kind: string,
  stream: MarketStream,
  put: (guards: Guards) => Promise<PublishResult>,
): Promise<PublishResult> {
  const result = await put({ lastSequence: last });
  const isRefused = result.result === 'refused' && result.code === WRONG_LAST_SEQUENCE;
  if (!isRefused || (await stream.state()).last !== last) return result;
  // See AppendPipeline: the server miscounts. Then the newest message of this kind is compared.
  const newest = await stream.lastOf(subjectOf(stream.name, kind));
  return put({ lastOfSubject: newest?.seq ?? 0 });
}

function noticeIn(message: StoredMessage | null): Notice | null {
  if (message === null) return null;
  try {
    // trust: whoever may publish here wrote it; both fields are looked at
    const { beginsAt, hash } = JSON.parse(textOf(message.data)) as Partial<Notice>;
    if (typeof hash !== 'string' || !Number.isSafeInteger(beginsAt)) return null;
    return { beginsAt: beginsAt ?? 0, hash };
  } catch {
    return null;
  }
}

async function publish(
  sealed: SealedEntry,
  stream: MarketStream,
  appends: AppendPipeline,
): Promise<void> {
  const { seq } = sealed.entry;
  const put = (guards: Guards) => appends.begin(sealed, guards);
  const result = await behind(seq - 1, sealed.entry.payload.kind, stream, put);
  if (result.result === 'stored' && result.seq === seq) return;
  if (result.result === 'lost') throw new Error(`the new log has no answer: ${result.why}`);
  if (result.result === 'stored' && !result.duplicate) await remove(result.seq, sealed, stream);
  throw refusedAt(seq);
}

async function remove(at: number, sealed: SealedEntry, stream: MarketStream): Promise<void> {
  const there = await stream.at(at);
  if (there !== null && hashOf(there.data) === sealed.hash) await stream.remove(at);
}

async function holdsNoEntry(first: number, last: number, stream: MarketStream): Promise<boolean> {
  if (first !== 1 || last > MOST_STRANGE) return false;
  for (let seq = first; seq <= last; seq += 1) {
    const message = await stream.at(seq);
    if (message !== null && parseEntryOrNull(message) !== null) return false;
  }
  return true;
}

function refusedAt(seq: number): LogRestartRefused {
  return new LogRestartRefused(`another writer was at work when the log was to begin at ${seq}`);
}
