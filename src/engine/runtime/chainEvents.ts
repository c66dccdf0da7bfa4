/** What the program says about the chain and all that works on it; see events.ts. */
import type { Logger } from 'pino';
import { kupoEvents } from './kupoEvents.ts';
import { DEPTHS, LATENCY_S, type Meters } from './meters.ts';
import { ogmiosEvents } from './ogmiosEvents.ts';
import { syncEvents } from './syncEvents.ts';

export function chainEvents(logger: Logger, meters: Meters) {
  return {
    ...followingEvents(logger, meters),
    ...syncEvents(logger, meters),
    ...kupoEvents(logger, meters),
    ...ogmiosEvents(logger, meters),
    ...executorEvents(logger, meters),
    ...traderEvents(logger, meters),
  };
}

function followingEvents(logger: Logger, { counter, gauge, histogram }: Meters) {
  const height = gauge('chain_height', 'Height of the newest block in the log');
  const transactions = counter('chain_transactions', 'Transactions in blocks that were followed');
  const rolledBack = histogram('chain_rollback_blocks', 'Blocks that a fork undid', DEPTHS);
  return {
    chainFollowed(newest: number, count: number): void {
      height.set(newest);
      transactions.inc(count);
    },
    chainRolledBack(toHeight: number, blocks: number): void {
      height.set(toHeight);
      rolledBack.observe(blocks);
      const message = `the chain went back ${blocks} blocks to height ${toHeight}`;
      logger.info({ event: 'chainRolledBack', toHeight, blocks }, message);
    },
    /** A fault of the program: the chain is not followed any more. */
    followerFailed(error: unknown): void {
      logger.fatal({ event: 'followerFailed', err: error }, 'the chain is no longer followed');
    },
    /** Blocks wait for the disk; nothing is lost, it is tried again. */
    devnetStalled(message: string): void {
      logger.error({ event: 'devnetStalled' }, `the devnet cannot write blocks: ${message}`);
    },
    otherDevnet(message: string): void {
      logger.fatal({ event: 'otherDevnet' }, message);
    },
    devnetFailed(error: unknown): void {
      logger.fatal({ event: 'devnetFailed', err: error }, 'the devnet of this process stopped');
    },
  };
}

function executorEvents(logger: Logger, { counter, histogram }: Meters) {
  const batches = counter('executor_transactions', 'Transactions of the executor', ['kind']);
  const rejected = counter('executor_rejected', 'Transactions of the executor that were refused');
  const builds = histogram('build_seconds', 'Time to build one transaction', LATENCY_S);
  return {
    /** `kind` is batch, graduation or collect. */
    executorSubmitted(kind: string, token: string, txHash: string, orders: number): void {
      batches.inc({ kind });
      const fields = { event: 'executorSubmitted', kind, token, txHash, orders };
      logger.debug(fields, `${kind} of ${orders} orders submitted`);
    },
    /** Ordinary: a cancel won the race, the chain went back. It looks again. */
    executorRejected(kind: string, token: string, reason: string, message: string): void {
      rejected.inc();
      const fields = { event: 'executorRejected', kind, token, reason };
      logger.info(fields, `${kind} was refused: ${message}`);
    },
    poolStuck(token: string, reason: string, message: string, retryInMs: number): void {
      const fields = { event: 'poolStuck', token, reason, retryInMs };
      const what = 'orders are refunded as they become due; it is tried again more and more rarely';
      logger.warn(fields, `the pool of ${token} cannot be served: ${message}; ${what}`);
    },
    executorFailed(token: string, error: unknown): void {
      logger.error({ event: 'executorFailed', token, err: error }, 'the executor failed on a pool');
    },
    built(seconds: number): void {
      builds.observe(seconds);
    },
  };
}

function traderEvents(logger: Logger, { counter }: Meters) {
  const actions = counter('trader_actions', 'What simulated traders did', ['action']);
  const refusals = counter('trader_refusals', 'What simulated traders were refused', ['action']);
  return {
    traderActed(trader: string, action: string, txHash: string, seconds: number): void {
      actions.inc({ action });
      logger.debug(
        { event: 'traderActed', trader, action, txHash, seconds },
        `${trader}: ${action}`,
      );
    },
    /** By the server, or by the trader's own check; ordinary in a market that moves. */
    traderRefused(trader: string, action: string, cause: string, message: string): void {
      refusals.inc({ action });
      const fields = { event: 'traderRefused', trader, action, cause };
      logger.debug(fields, `${trader}: ${action} was refused: ${message}`);
    },
    tradersFailed(message: string): void {
      logger.error({ event: 'tradersFailed' }, `simulated traders: ${message}`);
    },
  };
}
