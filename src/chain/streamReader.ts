/** The events of a stream one by one, and a word when none comes for a while. */
import type { Clock } from '../runtime/clock.ts';
import type { ChainEvent, ChainStream } from './port.ts';

export class StreamReader {
  readonly #stream: ChainStream;
  #pending: Promise<ChainEvent | null> | null = null;

  constructor(stream: ChainStream) {
    this.#stream = stream;
  }

  /** `quiet` after `waitMs` of `clock` without an event, which is then read by a later call. */
  async next(waitMs: number, clock: Clock | null): Promise<ChainEvent | null | 'quiet'> {
    const pending = this.#pending ?? this.#stream.next();
    this.#pending = pending;
    // Whoever reads it is told; until then it is nobody's.
    pending.catch(() => {});
    const isPatient = clock === null || waitMs === Number.POSITIVE_INFINITY;
    const event = isPatient ? await pending : await inTime(pending, waitMs, clock);
    if (event !== 'quiet') this.#pending = null;
    return event;
  }

  close(): Promise<void> {
    return this.#stream.close();
  }
}

async function inTime<T>(pending: Promise<T>, waitMs: number, clock: Clock): Promise<T | 'quiet'> {
  const quiet = Promise.withResolvers<'quiet'>();
  const timer = clock.after(waitMs, () => quiet.resolve('quiet'));
  try {
    return await Promise.race([pending, quiet.promise]);
  } finally {
    timer.cancel();
  }
}
