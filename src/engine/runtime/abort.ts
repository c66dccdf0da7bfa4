/** Promises that an AbortSignal or a deadline cuts short. Browsers load this too. */

/** As much of a `Clock` as a deadline needs. */
interface Timers {
  after(delayMs: number, run: () => void): { cancel(): void };
}

/**
 * The value of `promise`; null as soon as `signal` is aborted. A value that comes after that goes
 * to `discard`; a rejection after that is dropped.
 */
export async function unlessAborted<T>(
  promise: Promise<T>,
  signal: AbortSignal,
  discard: (late: T) => unknown = () => {},
): Promise<T | null> {
  const aborted = Promise.withResolvers<null>();
  const abort = () => aborted.resolve(null);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  try {
    const value = await Promise.race([aborted.promise, promise]);
    if (!signal.aborted) return value;
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
  // The caller has left, so nothing waits for this result.
  promise.then(discard).catch(() => {});
  return null;
}

/**
 * Runs `work` with a signal that is aborted after `limitMs`, or together with a signal of `outer`.
 */
export async function withDeadline<T>(
  clock: Timers,
  limitMs: number,
  work: (signal: AbortSignal) => Promise<T>,
  ...outer: readonly AbortSignal[]
): Promise<T> {
  const ending = new AbortController();
  const end = () => ending.abort();
  const timer = clock.after(limitMs, end);
  for (const signal of outer) {
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
  }
  try {
    return await work(ending.signal);
  } finally {
    timer.cancel();
    for (const signal of outer) signal.removeEventListener('abort', end);
  }
}
