/**
 * Retries while NATS gives no answer. A fold that has failed once cannot continue, so it reads a
 * log that waits instead. Damage is an answer, and is passed on; stopping throws `interrupted`.
 */
import type { Log } from '../engine/log/port.ts';
import { Fault, isFault } from '../engine/runtime/assert.ts';
import { type Clock, pause } from '../engine/runtime/clock.ts';

interface RetryOptions {
  /** Ends the retries. */
  readonly signal?: AbortSignal;
  /** Called at every try without an answer. */
  noAnswer?(error: unknown): void;
}

const RETRY_MS = 200;
const REPORT_EVERY_MS = 5_000;
const NEVER = new AbortController().signal;

/** The first answer of `ask`; errors that are `isFinal` count as answers. */
export async function retryUntilAnswered<T>(
  ask: () => Promise<T>,
  isFinal: (error: unknown) => boolean,
  clock: Clock,
  { signal = NEVER, noAnswer = () => {} }: RetryOptions,
): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (isFinal(error)) throw error;
      noAnswer(error);
    }
    await pauseOrInterrupt(clock, signal);
  }
}

/** NATS servers may be forming a cluster, or several nodes creating the stream at once. */
export async function retryWhileNatsForms<T>(
  clock: Clock,
  maxMs: number,
  natsWaits: (error: unknown) => void,
  again: () => Promise<void>,
  work: () => Promise<T>,
): Promise<T> {
  const endMs = clock.monotonicMs() + maxMs;
  const waits = rateLimited(clock, natsWaits);
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (clock.monotonicMs() > endMs) {
        throw new Error('NATS does not make the stream of this market', { cause: error });
      }
      waits(error);
      await again();
    }
  }
}

/** Throws `interrupted` once `signal` is aborted. */
export async function pauseOrInterrupt(
  clock: Clock,
  signal: AbortSignal,
  delayMs = RETRY_MS,
): Promise<void> {
  await pause(clock, delayMs, signal);
  if (signal.aborted)
    throw new Fault('interrupted', 'stopped while it waited for NATS or the other nodes');
}

/** Passes on the first report at once, then one every few seconds. */
export function rateLimited<T>(clock: Clock, report: (what: T) => void): (what: T) => void {
  let nextMs = 0;
  return (what) => {
    const nowMs = clock.monotonicMs();
    if (nowMs < nextMs) return;
    nextMs = nowMs + REPORT_EVERY_MS;
    report(what);
  };
}

/** A log that retries reads; appends and trims are passed on as they are. */
export function retryingLog(log: Log, clock: Clock, options: RetryOptions = {}): Log {
  let isClosed = false;
  const isFinal = (error: unknown) =>
    isClosed || isFault(error, 'unreadableEntry') || isFault(error, 'logRestartRefused');
  const answered = <T>(ask: () => Promise<T>) => retryUntilAnswered(ask, isFinal, clock, options);
  return {
    epoch: () => answered(() => log.epoch()),
    first: () => answered(() => log.first()),
    last: () => answered(() => log.last()),
    read: (fromSeq, limit) => answered(() => log.read(fromSeq, limit)),
    epochs: () => answered(() => log.epochs()),
    append: (entry, expectedSeq) => log.append(entry, expectedSeq),
    reached: (seq) => log.reached(seq),
    trim: (seq) => log.trim(seq),
    restart: (entry) => answered(() => log.restart(entry)),
    label: () => answered(async () => (await log.label?.()) ?? null),
    beginsAt: (seq) => answered(async () => (await log.beginsAt?.(seq)) ?? seq),
    close() {
      isClosed = true;
      return log.close();
    },
  };
}
