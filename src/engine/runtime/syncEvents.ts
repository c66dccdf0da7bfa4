/** What the program says while it catches up with a real chain; see events.ts. */
import type { Logger } from 'pino';
import type { Meters } from './meters.ts';

interface Progress {
  readonly slot: number | null;
  readonly tipSlot: number | null;
  readonly blocksBehind: number | null;
  readonly percent: number | null;
  readonly blocksPerSecond: number;
  readonly secondsLeft: number | null;
}

export function syncEvents(logger: Logger, { counter }: Meters) {
  const interrupted = counter('chain_interrupted', 'Times that following ended and was begun anew');
  return {
    syncProgress(progress: Progress): void {
      logger.info({ event: 'syncProgress', ...progress }, textOf(progress));
    },
    syncFinished(progress: Progress): void {
      const message = `caught up with the chain at slot ${progress.slot}`;
      logger.info({ event: 'syncFinished', ...progress }, message);
    },
    /** What is served meanwhile is right, and older with every block. */
    followingInterrupted(error: unknown, retryInMs: number): void {
      interrupted.inc();
      const fields = { event: 'followingInterrupted', retryInMs, err: error };
      const why = error instanceof Error ? error.message : String(error);
      logger.error(fields, `the chain is not followed: ${why}; again in ${retryInMs} ms`);
    },
    /** Of several nodes: the log has what our Cardano node does not have yet. */
    nodeBehind(height: number, loggedHeight: number): void {
      const message = `our node has block ${height}, the log ${loggedHeight}: it is waited for`;
      logger.warn({ event: 'nodeBehind', height, loggedHeight }, message);
    },
    /** Another node follows the chain, if one can. */
    nodeAwayTooLong(seconds: number): void {
      const message = `our Cardano node is away or behind for ${seconds} s: another one may lead`;
      logger.warn({ event: 'nodeAwayTooLong', seconds }, message);
    },
    parametersChanged(): void {
      const message = 'transactions are built by the parameters that the node says';
      logger.info({ event: 'parametersChanged' }, message);
    },
    /** Asked for again soon; why it has no connection, the node's own lines say. */
    parametersFailed(error: unknown): void {
      logger.debug({ event: 'parametersFailed', err: error }, 'no protocol parameters');
    },
    executorIdle(why: string): void {
      logger.warn({ event: 'executorIdle', why }, `no order is filled here: ${why}`);
    },
    startPointUnused(slot: number): void {
      const why = `the state in DATA_DIR goes on from slot ${slot}`;
      logger.warn({ event: 'startPointUnused', slot }, `START_POINT counts for nothing: ${why}`);
    },
  };
}

function textOf({ slot, tipSlot, percent, blocksPerSecond, secondsLeft }: Progress): string {
  const known = slot === null ? 'nothing is known yet' : `the state ends with slot ${slot}`;
  if (tipSlot === null) return `waiting for the node; ${known}`;
  const left = secondsLeft === null ? 'time left unknown' : `${durationOf(secondsLeft)} left`;
  return `slot ${slot ?? 0} of ${tipSlot}, ${percent} %, ${blocksPerSecond} blocks/s, ${left}`;
}

function durationOf(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}
