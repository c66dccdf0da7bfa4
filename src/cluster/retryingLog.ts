/**
 * A log for who only reads on: where NATS gives no answer, it asks again until it does, because a
 * fold that has failed once never goes on. What is damaged is still refused; who gives up hears of
 * that with `Interrupted`.
 */
import { Interrupted } from '../engine/actors/rebuild.ts';
import { type Log, UnreadableEntry } from '../engine/log/port.ts';
import { type Clock, pause } from '../engine/runtime/clock.ts';
import { LogRestartRefused } from './log/jetstreamRestart.ts';

export interface RetryOptions {
  /** Gives up what waits. */
  readonly signal?: AbortSignal;
  /** Each time that there is no answer. */
  noAnswer?(error: unknown): void;
}

const RETRY_MS = 200;
const REPORT_EVERY_MS = 5_000;
const NEVER = new AbortController().signal;

/** What `ask` answers, as soon as it does. `isFinal` errors are its answer. */
export async function retryUntilAnswered<T>(
  ask: () => Promise<T>,
  isFinal: (error: unknown) => boolean,
  clock: Clock,
  { signal = NEVER, noAnswer: waits = () => {} }: RetryOptions,
): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (isFinal(error)) throw error;
      waits(error);
    }
    await pauseOrInterrupt(clock, signal);
  }
}

/** Before the next look; throws `Interrupted` when that is given up. */
export async function pauseOrInterrupt(
  clock: Clock,
  signal: AbortSignal,
  delayMs = RETRY_MS,
): Promise<void> {
  await pause(clock, delayMs, signal);
  if (signal.aborted) throw new Interrupted('stopped while it waited for NATS or the other nodes');
}

/** What is told again and again is said at once, and then every few seconds. */
export function rateLimited<T>(clock: Clock, say: (what: T) => void): (what: T) => void {
  let nextMs = 0;
  return (what) => {
    const nowMs = clock.monotonicMs();
    if (nowMs < nextMs) return;
    nextMs = nowMs + REPORT_EVERY_MS;
    say(what);
  };
}

export function retryingLog(log: Log, clock: Clock, patience: RetryOptions = {}): Log {
  let isClosed = false;
  const isFinal = (error: unknown) =>
    isClosed || error instanceof UnreadableEntry || error instanceof LogRestartRefused;
  const answered = <T>(ask: () => Promise<T>) => retryUntilAnswered(ask, isFinal, clock, patience);
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
