/** Events of the chain: following, catching up, Ogmios, Kupo, executor, traders; see events.ts. */

import type { Logger } from 'pino';
import { counted } from './counted.ts';
import { messageOf } from './errors.ts';
import { DEPTHS, LATENCY_S, type Meters } from './meters.ts';

export function chainEvents(logger: Logger, meters: Meters) {
  return {
    ...followingEvents(logger, meters),
    ...syncEvents(logger, meters),
    ...parameterEvents(logger, meters),
    ...kupoEvents(logger, meters),
    ...ogmiosEvents(logger, meters),
    ...executorEvents(logger, meters),
    ...traderEvents(logger, meters),
  };
}

/** As `chain/recognise/rules.ts` names them. */
const ORDER_TERMS = ['layout', 'fee', 'deposit'] as const;

function followingEvents(logger: Logger, { counter, gauge, histogram }: Meters) {
  const height = gauge('chain_height', 'Height of the newest block in the log');
  const transactions = counter('chain_transactions', 'Transactions in blocks that were followed');
  const refused = counter(
    'chain_orders_refused',
    'Orders in blocks that miss a term of the deployment',
    { term: ORDER_TERMS },
  );
  const refusedTerms = new Set<string>();
  const rolledBack = histogram('chain_rollback_blocks', 'Blocks that a fork undid', DEPTHS);
  return {
    chainFollowed(newest: number, count: number): void {
      height.set(newest);
      transactions.inc(count);
    },
    chainRolledBack(toHeight: number, blocks: number): void {
      height.set(toHeight);
      rolledBack.observe(blocks);
      const message = `the chain went back ${counted(blocks, 'block')} to height ${toHeight}`;
      logger.info({ event: 'chainRolledBack', toHeight, blocks }, message);
    },
    /** Only the first order of each term is logged. */
    orderRefused(term: (typeof ORDER_TERMS)[number]): void {
      refused.inc({ term });
      if (refusedTerms.has(term)) return;
      refusedTerms.add(term);
      const message =
        `an order on the chain is not filled: its ${term} is not that of the deployment file ` +
        '(orderLayout, fees). Its owner can cancel it; chain_orders_refused counts further ones';
      logger.warn({ event: 'orderRefused', term }, message);
    },
    /** A fault of the program: the chain is not followed any more. */
    followerFailed(error: unknown): void {
      logger.fatal({ event: 'followerFailed', err: error }, 'the chain is no longer followed');
    },
    /** Blocks wait for the disk; nothing is lost, it is tried again. null: it writes again. */
    devnetStalled(message: string | null): void {
      if (message !== null) logger.error({ event: 'devnetStalled' }, message);
      else logger.info({ event: 'devnetWrites' }, 'the devnet writes blocks again');
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
  const batches = counter('executor_transactions', 'Transactions of the executor', {
    kind: ['batch', 'graduate', 'collect', 'consolidate'],
  });
  const rejected = counter('executor_rejected', 'Transactions of the executor that were refused');
  const builds = histogram('build_seconds', 'Time to build one transaction', LATENCY_S);
  return {
    /** `kind` is batch, graduate, collect or consolidate. */
    executorSubmitted(kind: string, token: string, txHash: string, orders: number): void {
      batches.inc({ kind });
      const fields = { event: 'executorSubmitted', kind, token, txHash, orders };
      logger.debug(fields, `${kind} of ${counted(orders, 'order')} submitted`);
    },
    /** Ordinary: a cancel won the race, the chain went back. It looks again. */
    executorRejected(kind: string, token: string, reason: string, message: string): void {
      rejected.inc();
      const fields = { event: 'executorRejected', kind, token, reason };
      logger.info(fields, `${kind} was refused: ${message}`);
    },
    /** `kind` is fill, refund, graduate or collect. */
    poolStuck(token: string, kind: string, message: string, retryInMs: number): void {
      const fields = { event: 'poolStuck', token, kind, retryInMs };
      const what = 'the other steps go on; it is tried again more and more rarely';
      logger.warn(fields, `${kind} fails for the pool of ${token}: ${message}; ${what}`);
    },
    /** null: it may trade again, or this node does not lead any more. */
    executorMayNotTrade(why: string | null): void {
      const event = 'executorMayNotTrade';
      if (why === null) logger.info({ event }, 'the executor may trade, or another node leads');
      else logger.warn({ event }, `the executor may not trade: ${why}`);
    },
    executorFailed(token: string, error: unknown): void {
      logger.error({ event: 'executorFailed', token, err: error }, 'the executor failed on a pool');
    },
    built(seconds: number): void {
      builds.observe(seconds);
    },
  };
}

/** An order that was made counts as `buy`, `sell`, or `cancel` where it was taken back. */
const TRADER_ACTIONS = [
  ...['order', 'buy', 'sell', 'cancel'],
  ...['launch', 'lock', 'withdraw', 'transfer', 'consolidate'],
];

function traderEvents(logger: Logger, { counter }: Meters) {
  const actions = counter('trader_actions', 'Actions of simulated traders', {
    action: TRADER_ACTIONS,
  });
  const refusals = counter('trader_refusals', 'Refused actions of simulated traders', {
    action: TRADER_ACTIONS,
  });
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

interface Health {
  readonly connected: boolean;
  readonly checkpointSlot: number | null;
  readonly nodeTipSlot: number | null;
}

function kupoEvents(logger: Logger, { counter, gauge, histogram }: Meters) {
  const asked = counter('kupo_questions', 'Queries to Kupo', {
    outcome: ['answered', 'failed', 'refused'],
  });
  const duration = histogram('kupo_seconds', 'Time of one question to Kupo', LATENCY_S);
  const connected = gauge('kupo_connected', 'Whether Kupo answers and has its node');
  const lag = gauge('kupo_lag_slots', 'Slots that Kupo is behind its node');
  let wasWell: boolean | null = null;
  return {
    kupoAsked(outcome: 'answered' | 'failed' | 'refused', seconds: number): void {
      asked.inc({ outcome });
      duration.observe(seconds);
    },
    /** Logged when it changes. */
    kupoHealth(health: Health | null): void {
      const isWell = health?.connected === true;
      connected.set(isWell ? 1 : 0);
      if (health !== null) lag.set((health.nodeTipSlot ?? 0) - (health.checkpointSlot ?? 0));
      if (isWell === wasWell) return;
      wasWell = isWell;
      if (isWell) logger.info({ event: 'kupoHealth', ...health }, 'Kupo answers');
      else logger.warn({ event: 'kupoHealth', ...health }, problemOf(health));
    },
  };
}

function problemOf(health: Health | null): string {
  return health === null ? 'Kupo does not answer' : 'Kupo has lost its node';
}

/** As `chain/ogmios/observer.ts` names them. */
const NODE_FAULT_KINDS = [
  'unreachable',
  'closed',
  'stalled',
  'garbage',
  'oversized',
  'unreadable',
  'foreign',
] as const;

function ogmiosEvents(logger: Logger, { counter }: Meters) {
  const labels = { connection: ['chain', 'mempool', 'questions'] };
  const connected = counter('node_connected', 'Connections made to the node', labels);
  const lost = counter('node_lost', 'Connections to the node that ended or failed, by cause', {
    ...labels,
    cause: NODE_FAULT_KINDS,
  });
  return {
    /** `connection` is chain, mempool or questions. */
    nodeConnected(connection: string): void {
      connected.inc({ connection });
      logger.info({ event: 'nodeConnected', connection }, `connected to the node (${connection})`);
    },
    nodeLost(
      connection: string,
      cause: (typeof NODE_FAULT_KINDS)[number],
      message: string,
      retryInMs: number | null,
    ): void {
      lost.inc({ connection, cause });
      const next = retryInMs === null ? 'when it is needed' : `in ${Math.round(retryInMs)} ms`;
      const fields = { event: 'nodeLost', connection, cause, retryInMs };
      logger.warn(fields, `no connection to the node (${connection}): ${message}; again ${next}`);
    },
    untriedVersion(server: string, version: string): void {
      const fields = { event: 'untriedVersion', server, version };
      logger.warn(
        fields,
        `${server} ${version} was not tried with this program: see docs/mainnet.md`,
      );
    },
    partPassedOver(part: string): void {
      const fields = { event: 'partPassedOver', part };
      logger.warn(fields, `the node told of something unknown here, which is passed over: ${part}`);
    },
    ogmiosFailed(error: unknown): void {
      logger.fatal({ event: 'ogmiosFailed', err: error }, 'the node is no longer followed');
    },
  };
}

interface Progress {
  readonly slot: number | null;
  readonly tipSlot: number | null;
  readonly blocksBehind: number | null;
  readonly percent: number | null;
  readonly blocksPerSecond: number;
  readonly secondsLeft: number | null;
}

function parameterEvents(logger: Logger, { counter, gauge }: Meters) {
  const evaluated = gauge('scripts_evaluated', '0: nothing that runs a script can be built');
  const byNode = gauge('scripts_evaluated_by_node', '1: the node evaluates scripts, not upcurve');
  const unequal = counter('units_unequal', 'Builds whose units the node found to be others');
  return {
    parametersChanged(): void {
      const message = 'transactions are built by the parameters that the node says';
      logger.info({ event: 'parametersChanged' }, message);
    },
    /** `unknown`: of the node's parameters, to our evaluator; `why`: the node does not evaluate. */
    evaluatorChanged(evaluator: { by: string; unknown?: string; why?: string }): void {
      const { by, unknown = '', why = '' } = evaluator;
      evaluated.set(by === 'none' ? 0 : 1);
      byNode.set(by === 'node' ? 1 : 0);
      const fields = { event: 'evaluatorChanged', ...evaluator };
      if (by === 'upcurve') logger.info(fields, 'scripts are evaluated here');
      else if (by === 'node') logger.warn(fields, `the node evaluates scripts: it has ${unknown}`);
      else logger.error(fields, `no script can be evaluated: ${unknown}; the node: ${why}`);
    },
    /** For each script `purpose index: memory/CPU`. */
    unitsDiffer(kind: string, ours: string, nodes: string): void {
      unequal.inc();
      const message = `the node finds other units for ${kind}: ours are ${ours}, its ${nodes}`;
      logger.warn({ event: 'unitsDiffer', kind, ours, nodes }, message);
    },
    /** Asked for again soon; why it has no connection, the node's own lines say. */
    parametersFailed(error: unknown): void {
      logger.debug({ event: 'parametersFailed', err: error }, 'no protocol parameters');
    },
  };
}

function syncEvents(logger: Logger, { counter }: Meters) {
  const interrupted = counter('chain_interrupted', 'Times that following ended and started again');
  return {
    syncProgress(progress: Progress): void {
      logger.info({ event: 'syncProgress', ...progress }, textOf(progress));
    },
    syncFinished(progress: Progress): void {
      const message = `caught up with the chain at slot ${progress.slot}`;
      logger.info({ event: 'syncFinished', ...progress }, message);
    },
    /** The server's answers stay right meanwhile, and grow older with every block. */
    followingInterrupted(error: unknown, retryInMs: number): void {
      interrupted.inc();
      const fields = { event: 'followingInterrupted', retryInMs, err: error };
      const why = messageOf(error);
      logger.error(fields, `the chain is not followed: ${why}; again in ${retryInMs} ms`);
    },
    /** Among several nodes: the log has what our Cardano node does not have yet. */
    nodeBehind(height: number, loggedHeight: number): void {
      const message = `our node has block ${height}, the log ${loggedHeight}: it is waited for`;
      logger.warn({ event: 'nodeBehind', height, loggedHeight }, message);
    },
    /** Another node follows the chain, if one can. */
    nodeAwayTooLong(seconds: number): void {
      const message = `our Cardano node is away or behind for ${seconds} s: another one may lead`;
      logger.warn({ event: 'nodeAwayTooLong', seconds }, message);
    },
    executorIdle(why: string): void {
      logger.warn({ event: 'executorIdle', why }, `no order is filled here: ${why}`);
    },
    startPointUnused(slot: number): void {
      const why = `the state in DATA_DIR continues from slot ${slot}`;
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
