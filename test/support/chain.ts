/** Sealed entries that follow each other, as a writer would append them. */
import { NO_HASH, type Payload, type SealedEntry, sealEntry } from '../../src/engine/log/entry.ts';
import type { Tail } from '../../src/engine/log/port.ts';

export const EMPTY_TAIL: Tail = { seq: 0, hash: NO_HASH, epoch: null };

/** The entry that follows `tail`; `mark` makes it another one than its rival. */
export function nextEntry(tail: Tail, mark = 0, payload?: Payload): SealedEntry {
  const seq = tail.seq + 1;
  return sealEntry({
    version: 1,
    epoch: tail.epoch ?? '1-test',
    seq,
    term: 1,
    prevEntryHash: tail.hash,
    timeMs: seq * 1000 + mark,
    payload: payload ?? (seq === 1 ? { kind: 'epoch', reason: 'new' } : timeEnd),
  });
}

const timeEnd: Payload = { kind: 'time', phase: 'end' };

export function tailAfter({ entry, hash }: SealedEntry): Tail {
  return { seq: entry.seq, hash, epoch: entry.epoch };
}

/** `count` entries in a row after `tail`; the first of an empty log begins an epoch. */
export function chainAfter(tail: Tail, count: number, mark = 0): SealedEntry[] {
  const entries: SealedEntry[] = [];
  for (let last = tail; entries.length < count; ) {
    const next = nextEntry(last, mark);
    entries.push(next);
    last = tailAfter(next);
  }
  return entries;
}
