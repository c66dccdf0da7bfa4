/**
 * Whether a piece of what a stream holds is sound: each entry goes on from the one before it. Not
 * compared with what is in memory: a stream may lose what all have read, and nobody new gets past.
 */
import type { RangeReader } from '../nats/range.ts';
import type { MarketStream } from '../nats/stream.ts';
import { brokenAt } from './jetstreamEntries.ts';

/** All is well up to `nextSeq`, where the next one begins, or something is not. */
export type Audited =
  | { readonly audited: 'sound'; readonly nextSeq: number; readonly atEnd: boolean }
  | { readonly audited: 'damaged'; readonly seq: number };

/** From `fromSeq` on, at most `limit` entries. */
export async function audit(
  reader: RangeReader,
  stream: MarketStream,
  fromSeq: number,
  limit: number,
): Promise<Audited> {
  const messages = await reader.read(fromSeq, limit);
  const { first, last } = await stream.state();
  const from = Math.max(fromSeq, first);
  // What was trimmed meanwhile is nobody's business.
  const there = messages.filter(({ seq }) => seq >= from);
  const missing = there[0] === undefined ? from <= last : there[0].seq > from;
  const suspect = missing ? from : brokenAt(there);
  if (suspect === null) {
    const nextSeq = there.at(-1)?.seq ?? from;
    return { audited: 'sound', nextSeq, atEnd: nextSeq >= last };
  }
  // A consumer hears of an entry later than the stream has it: the entry itself is asked for.
  if (await isDamaged(stream, suspect, first)) return { audited: 'damaged', seq: suspect };
  return { audited: 'sound', nextSeq: suspect, atEnd: false };
}

async function isDamaged(stream: MarketStream, seq: number, first: number): Promise<boolean> {
  const message = await stream.at(seq);
  if (message === null) return true;
  const before = seq > first ? await stream.at(seq - 1) : null;
  return brokenAt(before === null ? [message] : [before, message]) !== null;
}
