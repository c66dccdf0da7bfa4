/**
 * Time as an argument. The only file that touches the wall clock and timers; everything else is
 * handed a Clock, so that a test or a simulation decides what time it is.
 */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Wall clock, Unix milliseconds. Never part of the fold. */
  nowMs(): number;
  /** Monotonic milliseconds with a fraction, for durations. */
  monotonicMs(): number;
  after(delayMs: number, run: () => void): Timer;
  /** Runs in the next turn of the event loop, after pending input and output. */
  soon(run: () => void): Timer;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
  soon(run) {
    const timer = setImmediate(run);
    return { cancel: () => clearImmediate(timer) };
  },
};

/** Resolves after `delayMs` of `clock`. */
export function sleep(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(delayMs, resolve);
  });
}

/** The same, but sooner when `stop` resolves. */
export async function sleepUnless(
  clock: Clock,
  delayMs: number,
  stop: Promise<unknown>,
): Promise<void> {
  const slept = Promise.withResolvers<void>();
  const timer = clock.after(delayMs, slept.resolve);
  await Promise.race([slept.promise, stop]);
  timer.cancel();
}

/**
 * The same for a loop that pauses again and again: a finished pause leaves no listener on `signal`.
 */
export async function pause(
  clock: Pick<Clock, 'after'>,
  delayMs: number,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const over = Promise.withResolvers<void>();
  const end = () => over.resolve();
  const timer = clock.after(delayMs, end);
  signal.addEventListener('abort', end, { once: true });
  await over.promise;
  timer.cancel();
  signal.removeEventListener('abort', end);
}

/** Resolves in the next turn of the event loop: lets requests and timers run in between. */
export function nextTurn(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    clock.soon(resolve);
  });
}
