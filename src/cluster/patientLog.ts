/**
 * A log for who only reads on: where NATS gives no answer, it asks again until it does, because a
 * fold that has failed once never goes on. What is damaged is still refused.
 */
import { UnreadableEntry } from '../log/jetstream.ts';
import type { Log } from '../log/port.ts';
import { type Clock, sleep } from '../runtime/clock.ts';

const AGAIN_MS = 200;

export function patientLog(log: Log, clock: Clock): Log {
  let isClosed = false;
  const untilAnswered = async <T>(ask: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (isClosed || error instanceof UnreadableEntry) throw error;
        await sleep(clock, AGAIN_MS);
      }
    }
  };
  return {
    epoch: () => untilAnswered(() => log.epoch()),
    first: () => untilAnswered(() => log.first()),
    last: () => untilAnswered(() => log.last()),
    read: (fromSeq, limit) => untilAnswered(() => log.read(fromSeq, limit)),
    epochs: () => untilAnswered(() => log.epochs()),
    append: (entry, expectedSeq) => log.append(entry, expectedSeq),
    reached: (seq) => log.reached(seq),
    trim: (seq) => log.trim(seq),
    restart: (entry) => log.restart(entry),
    close() {
      isClosed = true;
      return log.close();
    },
  };
}
