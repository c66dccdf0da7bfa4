/**
 * The two ways in which a process ends without being asked to serve on: its start is given up, or
 * something in it died that only a new process can bring back.
 */
import { Interrupted } from '../../engine/actors/rebuild.ts';
import type { Events } from '../../engine/runtime/events.ts';
import type { World } from './world.ts';

/** What waits in a start ends by itself in this time; what hangs is left behind. */
const GRACE_MS = 1_000;

/** `starting`, or `Interrupted` a moment after `signal` was given. */
export async function rejectWhenAborted<T>(
  starting: Promise<T>,
  { signal, clock }: Pick<World, 'signal' | 'clock'>,
): Promise<T> {
  if (signal === undefined) return starting;
  const over = Promise.withResolvers<never>();
  const end = () => over.reject(new Interrupted('stopped before it had started'));
  const giveUp = () => void clock.after(GRACE_MS, end);
  if (signal.aborted) giveUp();
  else signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await Promise.race([starting, over.promise]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

/** `events`, and the first of them after which this process is of no use any more. */
export function detectFatal(events: Events): {
  readonly events: Events;
  readonly failed: Promise<string>;
} {
  const { promise: failed, resolve } = Promise.withResolvers<string>();
  const fatal = {
    devnetFailed(error: unknown) {
      events.devnetFailed(error);
      resolve('the devnet of this process stopped');
    },
    otherDevnet(message: string) {
      events.otherDevnet(message);
      resolve(message);
    },
    ogmiosFailed(error: unknown) {
      events.ogmiosFailed(error);
      resolve('the thread that follows the node stopped');
    },
    nodeNameTaken(message: string) {
      events.nodeNameTaken(message);
      resolve(message);
    },
    otherMarket(error: Error) {
      events.otherMarket(error);
      resolve(error.message);
    },
    leadershipFailed(error: unknown) {
      events.leadershipFailed(error);
      resolve('this node can neither lead nor follow');
    },
    nodeStuck(reason: string) {
      events.nodeStuck(reason);
      resolve(`this node could not go on for STALE_MAX_MS (${reason})`);
    },
  };
  return { events: { ...events, ...fatal }, failed };
}
