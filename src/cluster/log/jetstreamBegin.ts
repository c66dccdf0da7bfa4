/**
 * Begins the log in a stream anew. Not one step: the stream is emptied up to the new seq, then the
 * entry comes as its first. A crash between leaves an empty stream, to be begun again.
 *
 * A seq that the stream has passed needs a new stream in its place, which everybody else may notice
 * as missing for a moment; of two who do that at once, both may believe it was theirs until they
 * compare (`check`). Who can choose takes a seq beyond the stream's end: there only one succeeds.
 * An entry that came to lie elsewhere than at its seq is taken out: nobody could fold over it.
 */

import type { SealedEntry } from '../../engine/log/entry.ts';
import type { MarketStream } from '../nats/stream.ts';
import { type AppendPipeline, hashOf } from './jetstreamAppends.ts';
import { readable } from './jetstreamOrder.ts';

/** Somebody else's entry is in the new log: read it. */
export class RestartRefused extends Error {}

/** May be tried again after any other rejection than `RestartRefused`. */
export async function beginLog(
  sealed: SealedEntry,
  stream: MarketStream,
  appends: AppendPipeline,
): Promise<void> {
  const { seq } = sealed.entry;
  const { first, last, messages } = await stream.state();
  const there = await stream.at(seq);
  if (there !== null && hashOf(there.data) === sealed.hash) return;
  // A log that begins right here is the one that somebody else has just begun.
  if (there !== null && first === seq && readable(there) !== null) throw refusedAt(seq);
  const isPassed = last >= seq;
  if (isPassed) await stream.remake();
  if (isPassed ? seq > 1 : messages > 0 || last < seq - 1) await stream.purgeBelow(seq);
  const result = await appends.begin(sealed);
  if (result.result === 'stored' && result.seq === seq) return;
  if (result.result === 'lost') throw new Error(`the new log has no answer: ${result.why}`);
  const isMisplaced = result.result === 'stored' && !result.duplicate;
  if (isMisplaced) await takeOut(result.seq, sealed, stream);
  throw refusedAt(seq);
}

async function takeOut(at: number, sealed: SealedEntry, stream: MarketStream): Promise<void> {
  const there = await stream.at(at);
  if (there !== null && hashOf(there.data) === sealed.hash) await stream.remove(at);
}

function refusedAt(seq: number): RestartRefused {
  return new RestartRefused(`another writer was at work when the log was to begin at ${seq}`);
}
