/** Opening a source that may wait for its node for ever; who stops does not. */
import { unlessAborted } from '../engine/runtime/abort.ts';
import type { ChainSource, ChainStream, Point } from './port.ts';

/** null also when `signal` was given; a stream that comes later is closed. */
export async function openUnless(
  source: ChainSource,
  points: readonly Point[],
  signal: AbortSignal,
): Promise<ChainStream | null> {
  if (signal.aborted) return null;
  return unlessAborted(source.open(points), signal, (late) => late?.close());
}
