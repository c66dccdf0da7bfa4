/** Events of the cluster and of snapshots; see events.ts. */

import type { Logger } from 'pino';
import { counted } from './counted.ts';
import type { Meters } from './meters.ts';

export function clusterEvents(logger: Logger, meters: Meters) {
  return {
    ...roleEvents(logger, meters),
    ...presenceEvents(logger, meters),
    ...copyEvents(logger, meters),
    ...messageEvents(logger, meters),
    ...marketEvents(logger),
  };
}

function presenceEvents(logger: Logger, { gauge }: Meters) {
  const ahead = gauge('clock_ahead_seconds', 'Clock of this machine minus that of NATS');
  const what = {
    right: 'the clock of this machine agrees with that of NATS',
    wrong: 'the clock of this machine is wrong: this node does not lead until it is set right',
    'NATS is wrong': 'all nodes agree that the clock of NATS is wrong: set it right',
  };
  return {
    /** Another process has this node's name. */
    nodeNameTaken(message: string): void {
      logger.fatal({ event: 'nodeNameTaken' }, message);
    },
    nodeNameWaits(node: string): void {
      const message = `NODE_NAME ${node} was another's a moment ago: waiting until it is free`;
      logger.info({ event: 'nodeNameWaits', node }, message);
    },
    clockMeasured(aheadMs: number): void {
      ahead.set(aheadMs / 1000);
    },
    clockJudged(verdict: keyof typeof what, aheadMs: number): void {
      const fields = { event: 'clockJudged', verdict, aheadMs };
      logger[verdict === 'right' ? 'info' : 'error'](fields, what[verdict]);
    },
  };
}

function roleEvents(logger: Logger, { counter, gauge }: Meters) {
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
    /** null: the obstacle is over. */
    mayNotLead(reason: string | null): void {
      if (reason === null) logger.info({ event: 'mayLead' }, 'this node may lead again');
      else logger.error({ event: 'mayNotLead', reason }, `this node must not lead: ${reason}`);
    },
    leadershipFailed(error: unknown): void {
      leads.set(0);
      logger.fatal(
        { event: 'leadershipFailed', err: error },
        'this node can neither lead nor follow: start it again',
      );
    },
    /** NATS answers, but this node's position cannot catch up with the other nodes. */
    nodeStuck(reason: string): void {
      const fields = { event: 'nodeStuck', reason };
      logger.fatal(fields, `this node cannot continue, start it again: ${reason}`);
    },
    natsStatus(status: 'disconnected' | 'reconnected' | 'closed'): void {
      connected.set(status === 'reconnected' ? 1 : 0);
      logger.warn({ event: 'natsStatus', status }, `NATS: ${status}`);
    },
    natsWaits(error: unknown): void {
      logger.warn({ event: 'natsWaits', err: error }, 'NATS is not ready: it is asked again');
    },
    /** The request was not carried out; its sender notices by a timeout. */
    natsRefused(reason: string): void {
      const fields = { event: 'natsRefused', reason };
      logger.error(fields, `NATS refused what this node asked: ${reason}; see docs/cluster.md`);
    },
    natsConnected(): void {
      connected.set(1);
    },
    /** The copy of the leader's ledger is old until the log continues. */
    ledgerWaits(error: unknown): void {
      logger.warn({ event: 'ledgerWaits', err: error }, "the copy of the leader's ledger waits");
    },
    /** The log does not continue this node's state; the node waits for the leader's epoch. */
    logDiverged(reason: string): void {
      const fields = { event: 'logDiverged', reason };
      logger.error(fields, `the log does not continue from what this node has: ${reason}`);
    },
  };
}

interface OddCopy {
  readonly server: string;
  readonly missing: number;
  readonly differsAt?: number;
}

function copyEvents(logger: Logger, { gauge }: Meters) {
  const lacking = gauge('log_copies_behind', 'Copies of the log on NATS servers that stay behind');
  return {
    /** The copies that lack entries or have others, by server; at every comparison. */
    copiesCompared(behind: readonly OddCopy[]): void {
      lacking.set(behind.length);
      for (const { server, missing, differsAt } of behind) {
        const copy = `the copy of the log on NATS server ${server}`;
        const lack = counted(missing, 'entry', 'entries');
        if (missing > 0) {
          logger.error({ event: 'copyBehind', server, missing }, `${copy} lacks ${lack}`);
        }
        if (differsAt === undefined) continue;
        const fields = { event: 'copyDiffers', server, seq: differsAt };
        logger.error(fields, `${copy} has another entry ${differsAt} than the log`);
      }
    },
  };
}

/** Kinds of messages through NATS, as in `cluster/nats/messages.ts`. */
const MESSAGE_KINDS = [
  'lease',
  'announcement',
  'process',
  'notice',
  'manifest',
  'file',
  'callRequest',
  'callReply',
  'webhook',
  'acknowledgement',
  'entry',
] as const;

function messageEvents(logger: Logger, { counter }: Meters) {
  const dropped = counter('nats_messages_dropped', 'Messages of NATS that do not fit', {
    kind: MESSAGE_KINDS,
  });
  const told = new Set<string>();
  return {
    /** Another program wrote it, or it came damaged. Each kind is logged once. */
    messageDropped(kind: (typeof MESSAGE_KINDS)[number], why: string): void {
      dropped.inc({ kind });
      const fields = { event: 'messageDropped', kind, why };
      const message = `a message of NATS that is no ${kind} of this market was dropped: ${why}`;
      logger[told.has(kind) ? 'debug' : 'error'](fields, message);
      told.add(kind);
    },
  };
}

function marketEvents(logger: Logger) {
  return {
    /** The log in NATS belongs to another market: this process ends. */
    otherMarket(error: Error): void {
      logger.fatal({ event: 'otherMarket', err: error }, error.message);
    },
    settingChanged(setting: string, stream: string, from: string, to: string): void {
      const fields = { event: 'settingChanged', setting, stream, from, to };
      logger.warn(fields, `NATS had ${setting} at ${from} for ${stream}; it is ${to} now`);
    },
    settingDiffers(setting: string, own: number, node: string, theirs: number): void {
      const fields = { event: 'settingDiffers', setting, own, node, theirs };
      logger.warn(
        fields,
        `${setting} is ${own} here and ${theirs} on node ${node}: the larger one holds in NATS`,
      );
    },
  };
}

/** On one node or on several. */
export function snapshotEvents(logger: Logger, { counter }: Meters) {
  const snapshots = counter('snapshots', 'Snapshots of the state, by outcome', {
    outcome: ['taken', 'failed'],
  });
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
