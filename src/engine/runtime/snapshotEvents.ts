/** What the program says about snapshots, of one node or of several; see events.ts. */
import type { Logger } from 'pino';
import type { Meters } from './meters.ts';

export function snapshotEvents(logger: Logger, { counter }: Meters) {
  const snapshots = counter('snapshots', 'Snapshots of the state, by outcome', ['outcome']);
  return {
    /** The log holds what follows `trimmedTo`. */
    snapshotTaken(seq: number, trimmedTo: number, seconds: number): void {
      snapshots.inc({ outcome: 'taken' });
      const fields = { event: 'snapshotTaken', seq, trimmedTo, seconds };
      logger.info(fields, `snapshot of entry ${seq}; the log begins with entry ${trimmedTo}`);
    },
    /** The log keeps more than it needs to; it is tried again. */
    snapshotFailed(error: unknown, isRepeated = false): void {
      snapshots.inc({ outcome: 'failed' });
      const fields = { event: 'snapshotFailed', err: error };
      logger[isRepeated ? 'debug' : 'error'](
        fields,
        'no snapshot could be taken: it is tried again',
      );
    },
    /** `what` is the state or the ledger. */
    snapshotLoaded(what: string, seq: number): void {
      logger.info(
        { event: 'snapshotLoaded', what, seq },
        `${what} taken from a snapshot at ${seq}`,
      );
    },
    /** Damaged, gone, or of another version: an older one is tried. */
    snapshotUnusable(name: string, reason: string): void {
      logger.warn({ event: 'snapshotUnusable', name, reason }, `${name} is of no use: ${reason}`);
    },
  };
}
