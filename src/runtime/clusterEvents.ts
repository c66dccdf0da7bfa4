/** What the program says about being one of several nodes; see events.ts. */
import type { Logger } from 'pino';
import type { Meters } from './meters.ts';

export function clusterEvents(logger: Logger, { counter, gauge }: Meters) {
  const leads = gauge('leader', '1 while this node leads');
  const connected = gauge('nats_connected', '1 while NATS is connected');
  const ends = counter('lead_ends', 'Times this node stopped leading');
  return {
    leadBegun(term: number): void {
      leads.set(1);
      logger.info({ event: 'leadBegun', term }, `this node leads in term ${term}`);
    },
    leadEnded(reason: string): void {
      leads.set(0);
      ends.inc();
      logger.info({ event: 'leadEnded', reason }, `this node does not lead: ${reason}`);
    },
    leadershipFailed(error: unknown): void {
      leads.set(0);
      logger.fatal(
        { event: 'leadershipFailed', err: error },
        'this node can neither lead nor follow: start it again',
      );
    },
    natsStatus(status: 'disconnected' | 'reconnected' | 'closed'): void {
      connected.set(status === 'reconnected' ? 1 : 0);
      logger.warn({ event: 'natsStatus', status }, `NATS: ${status}`);
    },
    natsConnected(): void {
      connected.set(1);
    },
    /** The copy of the leader's ledger is old until the log goes on. */
    ledgerWaits(error: unknown): void {
      logger.warn({ event: 'ledgerWaits', err: error }, "the copy of the leader's ledger waits");
    },
    /** What this node has is not what the log goes on from; it waits for the leader's epoch. */
    logDiverged(): void {
      logger.error({ event: 'logDiverged' }, 'the log does not go on from what this node has');
    },
  };
}
