/**
 * A log whose reads wait while NATS gives no answer, for a reader that has nothing better to do:
 * the fold. What is no entry is not waited for.
 */
import { UnreadableEntry } from '../log/jetstream.ts';
import type { Log } from '../log/port.ts';
import { type Clock, sleep } from '../runtime/clock.ts';

const AGAIN_MS = 200;

export function patientLog(log: Log, clock: Clock): Log {
  let isClosed = false;
  const patiently = async <T>(ask: () => Promise<T>, atTheEnd: T): Promise<T> => {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (error instanceof UnreadableEntry) throw error;
        if (isClosed) return atTheEnd;
        await sleep(clock, AGAIN_MS);
      }
    }
  };
  return {
    epoch: () => log.epoch(),
    first: () => patiently(() => log.first(), 0),
    last: () => log.last(),
    append: (entry, expectedSeq) => log.append(entry, expectedSeq),
    read: (fromSeq, limit) => patiently(() => log.read(fromSeq, limit), []),
    reached: (seq) => log.reached(seq),
    epochs: () => patiently(() => log.epochs(), []),
    trim: (seq) => log.trim(seq),
    restart: (entry) => log.restart(entry),
    async close() {
      isClosed = true;
      await log.close();
    },
  };
}
