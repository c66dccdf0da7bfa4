/**
 * Entries as a stream holds them: one message is one entry, and each entry names the hash of the
 * one before it. `audit` checks that in the stream and not in memory: a stream may lose what every
 * node has read, and no new node could get past the gap.
 */
import { openEntry, type SealedEntry } from '../../engine/log/entry.ts';
import { Fault, isFault } from '../../engine/runtime/assert.ts';
import type { RangeReader } from '../nats/range.ts';
import type { MarketStream, StoredMessage } from '../nats/stream.ts';
import { isEntry } from './entrySchema.ts';
import { textOf } from './jetstreamAppends.ts';

export function parseEntry({ seq, data }: StoredMessage): SealedEntry {
  const fault = `message ${seq} of the stream is no entry`;
  let sealed: SealedEntry;
  try {
    sealed = openEntry(textOf(data));
  } catch (cause) {
    throw new Fault('unreadableEntry', fault, { cause });
  }
  if (!isEntry(sealed.entry)) throw new Fault('unreadableEntry', fault);
  if (sealed.entry.seq === seq) return sealed;
  throw new Fault('unreadableEntry', `message ${seq} of the stream says it is ${sealed.entry.seq}`);
}

/** null: the message is no entry, or not the entry of its seq. */
export function parseEntryOrNull(message: StoredMessage): SealedEntry | null {
  try {
    return parseEntry(message);
  } catch (error) {
    if (isFault(error, 'unreadableEntry')) return null;
    throw error;
  }
}

/** The first entries that follow each other. Throws when the first message is no entry. */
export function inOrder(messages: readonly StoredMessage[]): SealedEntry[] {
  const entries: SealedEntry[] = [];
  for (const message of messages) {
    const before = entries.at(-1);
    if (before === undefined) entries.push(parseEntry(message));
    else {
      const next = parseEntryOrNull(message);
      if (next === null || !follows(next, before)) break;
      entries.push(next);
    }
  }
  return entries;
}

function follows({ entry }: SealedEntry, before: SealedEntry): boolean {
  return entry.seq === before.entry.seq + 1 && entry.prevEntryHash === before.hash;
}

/**
 * The newest entry of a stream whose last message, `last`, is none: another program published it.
 * null: the stream has no entry. A binary search: a stream takes no entry behind such a message.
 */
export async function newestBefore(
  last: StoredMessage,
  stream: MarketStream,
): Promise<SealedEntry | null> {
  let newest: SealedEntry | null = null;
  let [low, high] = [(await stream.state()).first, last.seq - 1];
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const message = await stream.at(middle);
    const found = message === null ? null : parseEntryOrNull(message);
    newest = found ?? newest;
    if (found === null) high = middle - 1;
    else low = middle + 1;
  }
  return newest;
}

/** `sound` up to `nextSeq`, where the next audit starts, or the seq of the damage. */
export type Audited =
  | { readonly audited: 'sound'; readonly nextSeq: number; readonly atEnd: boolean }
  | { readonly audited: 'damaged'; readonly seq: number };

/** Checks at most `limit` entries from `fromSeq` on. */
export async function audit(
  reader: RangeReader,
  stream: MarketStream,
  fromSeq: number,
  limit: number,
): Promise<Audited> {
  const messages = await reader.read(fromSeq, limit);
  const { first, last } = await stream.state();
  // Entries that were trimmed meanwhile are not missing.
  const from = Math.max(fromSeq, first);
  const there = messages.filter(({ seq }) => seq >= from);
  const isMissing = there[0] === undefined ? from <= last : there[0].seq > from;
  const suspect = isMissing ? from : brokenAt(there);
  if (suspect === null) {
    const nextSeq = there.at(-1)?.seq ?? from;
    return { audited: 'sound', nextSeq, atEnd: nextSeq >= last };
  }
  // A consumer gets an entry later than the stream has it: read the entry itself.
  if (await isDamaged(stream, suspect, first)) return { audited: 'damaged', seq: suspect };
  return { audited: 'sound', nextSeq: suspect, atEnd: false };
}

async function isDamaged(stream: MarketStream, seq: number, first: number): Promise<boolean> {
  const message = await stream.at(seq);
  if (message === null) return true;
  const before = seq > first ? await stream.at(seq - 1) : null;
  return brokenAt(before === null ? [message] : [before, message]) !== null;
}

/** The first seq after the first message at which the next entry is not found. */
function brokenAt(messages: readonly StoredMessage[]): number | null {
  let before: SealedEntry | null = null;
  for (const [index, message] of messages.entries()) {
    const expected = (messages[0]?.seq ?? 0) + index;
    const next = message.seq === expected ? parseEntryOrNull(message) : null;
    if (next === null || (before !== null && !follows(next, before))) return expected;
    before = next;
  }
  return null;
}
