/** What a stream holds, looked at: each message an entry that goes on from the one before it. */

import { type Entry, openEntry, type SealedEntry } from '../../engine/log/entry.ts';
import { UnreadableEntry } from '../../engine/log/port.ts';
import type { MarketStream, StoredMessage } from '../nats/stream.ts';
import { textOf } from './jetstreamAppends.ts';

export function parseEntry({ seq, data }: StoredMessage): SealedEntry {
  const fault = `message ${seq} of the stream is no entry`;
  let sealed: SealedEntry;
  try {
    sealed = openEntry(textOf(data));
  } catch (cause) {
    throw new UnreadableEntry(fault, { cause });
  }
  if (!isEntry(sealed.entry)) throw new UnreadableEntry(fault);
  if (sealed.entry.seq === seq) return sealed;
  throw new UnreadableEntry(`message ${seq} of the stream says it is ${sealed.entry.seq}`);
}

/** Anybody with the right to publish may have written it: what all readers rely on is there. */
function isEntry(value: unknown): value is Entry {
  if (typeof value !== 'object' || value === null) return false;
  // trust: each field is looked at here
  const { epoch, seq, term, prevEntryHash, timeMs, payload } = value as Partial<Entry>;
  const areTexts = typeof epoch === 'string' && typeof prevEntryHash === 'string';
  const areNumbers = [seq, term, timeMs].every((number) => Number.isSafeInteger(number));
  return areTexts && areNumbers && typeof payload?.kind === 'string';
}

/** Those that go on from each other, from the first on. Throws when that is no entry. */
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

/** Seq of the first place, after that of the first message, whose entry is not the next one. */
export function brokenAt(messages: readonly StoredMessage[]): number | null {
  let before: SealedEntry | null = null;
  for (const [index, message] of messages.entries()) {
    const expected = (messages[0]?.seq ?? 0) + index;
    const next = message.seq === expected ? parseEntryOrNull(message) : null;
    if (next === null || (before !== null && !follows(next, before))) return expected;
    before = next;
  }
  return null;
}

/** null: it is no entry, or not at its place. */
export function parseEntryOrNull(message: StoredMessage): SealedEntry | null {
  try {
    return parseEntry(message);
  } catch {
    return null;
  }
}

function follows({ entry }: SealedEntry, before: SealedEntry): boolean {
  return entry.seq === before.entry.seq + 1 && entry.prevEntryHash === before.hash;
}

/**
 * The newest entry, where `last`, the stream's last message, is none: a stranger published it. Null
 * where there is none at all. Found by halving: a stream takes no entry behind such a message.
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
