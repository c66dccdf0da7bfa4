/** Opening a source that may wait for its node for ever; who stops does not. */
import type { ChainSource, ChainStream, Point } from './port.ts';

/** null also when `signal` was given; a stream that comes later is closed. */
export async function openUnless(
  source: ChainSource,
  points: readonly Point[],
  signal: AbortSignal,
): Promise<ChainStream | null> {
  if (signal.aborted) return null;
  const stopped = Promise.withResolvers<null>();
  const stop = () => stopped.resolve(null);
  signal.addEventListener('abort', stop, { once: true });
  const opening = source.open(points);
  try {
    const stream = await Promise.race([opening, stopped.promise]);
    if (!signal.aborted) return stream;
    opening.then((late) => late?.close()).catch(() => {});
    return null;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
