/**
 * A log for who only reads on: where NATS gives no answer, it asks again until it does, because a
 * fold that has failed once never goes on. What is damaged is still refused; who gives up hears of
 * that with `Interrupted`.
 */
import { Interrupted } from '../engine/actors/rebuild.ts';
import { type Log, UnreadableEntry } from '../engine/log/port.ts';
import { type Clock, pause } from '../engine/runtime/clock.ts';
import { RestartRefused } from './log/jetstreamBegin.ts';

export interface Patience {
  /** Gives up what waits. */
  readonly signal?: AbortSignal;
  /** Each time that there is no answer. */
  waits?(error: unknown): void;
}

const AGAIN_MS = 200;
const SAY_EVERY_MS = 5_000;
const NEVER = new AbortController().signal;

/** What `ask` answers, as soon as it does. `isFinal` errors are its answer. */
export async function untilAnswered<T>(
  ask: () => Promise<T>,
  isFinal: (error: unknown) => boolean,
  clock: Clock,
  { signal = NEVER, waits = () => {} }: Patience,
): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (isFinal(error)) throw error;
      waits(error);
    }
    await pauseOrGiveUp(clock, signal);
  }
}

/** Before the next look; throws `Interrupted` when that is given up. */
export async function pauseOrGiveUp(
  clock: Clock,
  signal: AbortSignal,
  delayMs = AGAIN_MS,
): Promise<void> {
  await pause(clock, delayMs, signal);
  if (signal.aborted) throw new Interrupted('stopped while it waited for NATS or the other nodes');
}

/** What is told again and again is said at once, and then every few seconds. */
export function nowAndThen<T>(clock: Clock, say: (what: T) => void): (what: T) => void {
  let nextMs = 0;
  return (what) => {
    const nowMs = clock.monotonicMs();
    if (nowMs < nextMs) return;
    nextMs = nowMs + SAY_EVERY_MS;
    say(what);
  };
}

export function patientLog(log: Log, clock: Clock, patience: Patience = {}): Log {
  let isClosed = false;
  const isFinal = (error: unknown) =>
    isClosed || error instanceof UnreadableEntry || error instanceof RestartRefused;
  const answered = <T>(ask: () => Promise<T>) => untilAnswered(ask, isFinal, clock, patience);
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
