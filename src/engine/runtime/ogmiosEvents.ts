/** What the program says about the node that it follows through Ogmios; see events.ts. */
import type { Logger } from 'pino';
import type { Meters } from './meters.ts';

export function ogmiosEvents(logger: Logger, { counter }: Meters) {
  const labels = ['connection'];
  const connected = counter('node_connected', 'Connections made to the node', labels);
  const lost = counter('node_lost', 'Connections to the node that ended or failed, by cause', [
    ...labels,
    'cause',
  ]);
  return {
    /** `connection` is chain, mempool or questions. */
    nodeConnected(connection: string): void {
      connected.inc({ connection });
      logger.info({ event: 'nodeConnected', connection }, `connected to the node (${connection})`);
    },
    nodeLost(connection: string, cause: string, message: string, retryInMs: number | null): void {
      lost.inc({ connection, cause });
      const next = retryInMs === null ? 'when it is needed' : `in ${Math.round(retryInMs)} ms`;
      const fields = { event: 'nodeLost', connection, cause, retryInMs };
      logger.warn(fields, `no connection to the node (${connection}): ${message}; again ${next}`);
    },
    ogmiosFailed(error: unknown): void {
      logger.fatal({ event: 'ogmiosFailed', err: error }, 'the node is no longer followed');
    },
  };
}
