/** What a stream holds, looked at: each message an entry that goes on from the one before it. */

import { openEntry, type SealedEntry } from '../../engine/log/entry.ts';
import { UnreadableEntry } from '../../engine/log/port.ts';
import type { StoredMessage } from '../nats/stream.ts';
import { textOf } from './jetstreamAppends.ts';

export function opened({ seq, data }: StoredMessage): SealedEntry {
  let sealed: SealedEntry;
  try {
    sealed = openEntry(textOf(data));
  } catch (cause) {
    throw new UnreadableEntry(`message ${seq} of the stream is no entry`, { cause });
  }
  if (sealed.entry.seq === seq) return sealed;
  throw new UnreadableEntry(`message ${seq} of the stream says it is ${sealed.entry.seq}`);
}

/** Those that go on from each other, from the first on. Throws when that is no entry. */
export function inOrder(messages: readonly StoredMessage[]): SealedEntry[] {
  const entries: SealedEntry[] = [];
  for (const message of messages) {
    const before = entries.at(-1);
    if (before === undefined) entries.push(opened(message));
    else {
      const next = readable(message);
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
    const next = message.seq === expected ? readable(message) : null;
    if (next === null || (before !== null && !follows(next, before))) return expected;
    before = next;
  }
  return null;
}

function readable(message: StoredMessage): SealedEntry | null {
  try {
    return opened(message);
  } catch {
    return null;
  }
}

function follows({ entry }: SealedEntry, before: SealedEntry): boolean {
  return entry.seq === before.entry.seq + 1 && entry.prevEntryHash === before.hash;
}
