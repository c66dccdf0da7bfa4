/**
 * How a node is: the status that health and readiness report, what events mean for the list of
 * reasons (engine/runtime/reasons.ts), and the events after which the process cannot continue. A
 * row that cannot be read makes the node rebuild its state.
 */

import type { NodeStatus } from '../../api/operations/status.ts';
import { lastRollback } from '../../engine/fold/chainFold.ts';
import { TIP } from '../../engine/fold/chainRows.ts';
import type { Node } from '../../engine/node/node.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import { counted } from '../../engine/runtime/counted.ts';
import { messageOf } from '../../engine/runtime/errors.ts';
import type { Events } from '../../engine/runtime/events.ts';
import { type ReasonCode, Reasons } from '../../engine/runtime/reasons.ts';
import { isDamage } from '../../engine/store/damage.ts';
import { type PointRecord, readRecord } from '../../engine/store/records.ts';
import type { AppDeps } from './appDeps.ts';
import type { CacheWarmer } from './cacheWarmer.ts';
import type { ChainFeatures } from './chain.ts';

const ROOM = 'make room on the disk of DATA_DIR, or raise DATA_MAX_MB; it continues by itself';
const NATS_ROOM = 'see what the message says of NATS; where its storage is full, make room there';

/** How the node reacts to rows that cannot be read, or cannot be written to a damaged file. */
interface Repairs {
  repair(error: unknown): void;
  repairAtNextStart(error: unknown): void;
}

interface ReasonTracking {
  readonly events: Events;
  readonly reasons: Reasons;
  /** From now on damaged rows make `node` repair itself. */
  attach(node: Node): void;
}

/** `isShared`: the log is in NATS, not in a file of this node. */
export function trackReasons(events: Events, isShared: boolean): ReasonTracking {
  const reasons = new Reasons();
  let node: Repairs | null = null;
  const noted = [
    diskNotes(events, reasons, isShared, () => node),
    repairNotes(events, reasons, () => node),
    chainNotes(events, reasons),
    sideNotes(events, reasons),
  ];
  return {
    events: Object.assign({}, events, ...noted),
    reasons,
    attach: (opened) => {
      node = opened;
      watchNode(reasons, opened);
    },
  };
}

function watchNode(reasons: Reasons, node: Node): void {
  reasons.watch('POOLS_QUARANTINED', () => {
    const { quarantinedPairs: quarantinedPools } = node.fold;
    const rest = 'cannot be folded and answer 503; the others are served: see actorQuarantined';
    return quarantinedPools === 0 ? null : `${quarantinedPools} pools ${rest} in the log`;
  });
}

/** Log and state. */
function diskNotes(
  events: Events,
  reasons: Reasons,
  isShared: boolean,
  node: () => Repairs | null,
): Partial<Events> {
  return {
    appendFailed(error, attempt, retryInMs) {
      events.appendFailed(error, attempt, retryInMs);
      const remedy = isShared ? NATS_ROOM : ROOM;
      reasons.set('LOG_NOT_WRITTEN', `the log takes no entries: ${messageOf(error)}: ${remedy}`);
    },
    appendSettled() {
      events.appendSettled();
      reasons.clear('LOG_NOT_WRITTEN');
    },
    commitFailed(error, attempt, retryInMs) {
      events.commitFailed(error, attempt, retryInMs);
      const what = 'state.sqlite cannot be written, nothing new is shown';
      const isBroken = isDamage(error);
      if (isBroken) node()?.repairAtNextStart(error);
      const remedy = isBroken ? 'restart: it is made again from the log' : ROOM;
      reasons.set('STATE_NOT_WRITTEN', `${what}: ${messageOf(error)}: ${remedy}`);
    },
    committed(rows, seconds) {
      events.committed(rows, seconds);
      reasons.clear('STATE_NOT_WRITTEN');
    },
    snapshotFailed(error, isRepeated) {
      events.snapshotFailed(error, isRepeated);
      const what = `no snapshot can be taken, so the log grows: ${messageOf(error)}`;
      reasons.set('SNAPSHOT_NOT_WRITTEN', `${what}: ${isShared ? NATS_ROOM : ROOM}`);
    },
    snapshotTaken(seq, trimmedTo, seconds) {
      events.snapshotTaken(seq, trimmedTo, seconds);
      reasons.clear('SNAPSHOT_NOT_WRITTEN');
    },
  };
}

/** Rows that cannot be read, and faults of the program. */
function repairNotes(
  events: Events,
  reasons: Reasons,
  node: () => Repairs | null,
): Partial<Events> {
  return {
    actorQuarantined(pool, error) {
      events.actorQuarantined(pool, error);
      node()?.repair(error);
    },
    handlerFailed(where, error) {
      events.handlerFailed(where, error);
      if (isDamage(error)) node()?.repair(error);
    },
    stateRebuilding(error) {
      events.stateRebuilding(error);
      const why = `state.sqlite has rows that cannot be read (${messageOf(error)})`;
      reasons.set('STATE_DAMAGED', `${why}: it is being made again from the log`);
    },
    stateRebuilt(seconds) {
      events.stateRebuilt(seconds);
      reasons.clear('STATE_DAMAGED');
    },
    stateNotRebuilt(error) {
      events.stateNotRebuilt(error);
      const what = 'state.sqlite has rows that cannot be read, and was not made again';
      reasons.set('STATE_DAMAGED', `${what}: ${messageOf(error)}`);
    },
    foldFailed(error) {
      events.foldFailed(error);
      const remedy = 'restart, and report the line foldFailed of the log';
      reasons.set('FOLD_STOPPED', `entries are not applied: ${messageOf(error)}: ${remedy}`);
    },
  };
}

/** The devnet of this process, Kupo and the executor; `chain.ts` and `election.ts` add theirs. */
function chainNotes(events: Events, reasons: Reasons): Partial<Events> {
  return {
    devnetStalled(message) {
      events.devnetStalled(message);
      put(reasons, 'DEVNET_NOT_WRITTEN', message);
    },
    kupoHealth(health) {
      events.kupoHealth(health);
      const why = health === null ? 'Kupo does not answer' : 'Kupo has lost its node';
      const rest = 'wallets cannot be looked up, no order is built or filled: start it, or see its';
      put(reasons, 'KUPO_AWAY', health?.connected === true ? null : `${why}: ${rest} log`);
    },
    executorMayNotTrade(why) {
      events.executorMayNotTrade(why);
      put(reasons, 'EXECUTOR_MAY_NOT_TRADE', why === null ? null : `no order is filled: ${why}`);
    },
  };
}

function sideNotes(events: Events, reasons: Reasons): Partial<Events> {
  return {
    copiesCompared(behind) {
      events.copiesCompared(behind);
      if (behind.length === 0) reasons.clear('LOG_COPY_BEHIND');
      else reasons.set('LOG_COPY_BEHIND', copiesMessage(behind));
    },
    webhooksNotSaved(why) {
      events.webhooksNotSaved(why);
      reasons.set('WEBHOOKS_NOT_SAVED', `${why}; what was delivered may be delivered again`);
    },
    webhooksSaved() {
      reasons.clear('WEBHOOKS_NOT_SAVED');
    },
    apiKeysRefused(file, why) {
      events.apiKeysRefused(file, why);
      const rest = 'the keys stay as they were: correct it and send SIGHUP';
      reasons.set('API_KEYS_NOT_READ', `${file} cannot be used (${why}); ${rest}`);
    },
    apiKeysRead(file, count, revoked) {
      events.apiKeysRead(file, count, revoked);
      reasons.clear('API_KEYS_NOT_READ');
    },
    leadEnded(reason) {
      events.leadEnded(reason);
      // The next leader takes snapshots and delivers.
      reasons.clear('SNAPSHOT_NOT_WRITTEN');
      reasons.clear('WEBHOOKS_NOT_SAVED');
    },
  };
}

function put(reasons: Reasons, code: ReasonCode, message: string | null): void {
  if (message === null) reasons.clear(code);
  else reasons.set(code, message);
}

function copiesMessage(behind: Parameters<Events['copiesCompared']>[0]): string {
  const which = behind.map(({ server, missing, differsAt }) => {
    const lack = missing > 0 ? [`lacks ${counted(missing, 'entry', 'entries')}`] : [];
    const odd = differsAt === undefined ? [] : [`has another entry ${differsAt}`];
    return `${server} ${[...lack, ...odd].join(' and ')}`;
  });
  return (
    `copies of the log in NATS are not as the log: ${which.join(', ')}. ` +
    'Until they are, the loss of one server may lose entries: have these copies made again, see ' +
    '"A copy of the log stays behind" in docs/cluster.md'
  );
}

/** The answers of a node's health and readiness. */
export function statusOf(
  { settings, rng, clock }: AppDeps,
  node: Node,
  chain: ChainFeatures | null,
  reasons: Reasons,
  reads: Pick<CacheWarmer, 'areDone'>,
): NodeStatus {
  const newest = newestBlock(node);
  const roles = chain?.roles ?? null;
  const sync = chain?.sync ?? null;
  const silentMs = () => (roles ?? sync)?.silentMs() ?? 0;
  const name = roles?.name ?? settings.NODE_NAME ?? rng.token(6);
  const isSynced = () => sync === null || sync.isSynced();
  // Other nodes have the entries that this one lacks: send clients there.
  const isStuck = () => (roles?.lagStalledMs() ?? 0) > 2 * settings.STALE_AFTER_MS;
  const isRead = () => node.synced() && reads.areDone;
  const stuckSteps = () => chain?.stuckSteps() ?? [];
  const lagOf = tipLag(clock);
  return {
    node: name,
    role: () => {
      if (roles?.isReader === true) return 'reader';
      return roles === null || roles.leads() ? 'leader' : 'follower';
    },
    leader: () => (roles === null ? name : roles.leader()),
    term: () => node.fold.store.checkpoint?.term ?? 0,
    lagEntries: () => roles?.lagEntries() ?? 0,
    applied: () => node.applied(),
    stateHash: () => node.stateHash(),
    hashedSeq: () => node.hashedSeq(),
    synced: () => isRead() && !isStuck() && isSynced() && silentMs() <= settings.STALE_MAX_MS,
    // Clients could ask another node of the cluster; a single node serves its own state.
    serves: () =>
      isRead() &&
      !isStuck() &&
      (roles === null || silentMs() <= settings.STALE_MAX_MS) &&
      (sync === null || sync.isSynced() || sync.isNodeAway()),
    sync: () => (sync === null || sync.isSynced() ? null : sync.progress()),
    stale: () => chain?.isStale() ?? false,
    mayNotLead: () => roles?.mayNotLead() ?? null,
    quarantined: () => node.fold.quarantinedPairs,
    reasons: () => reasons.list(),
    submits: () => reasons.refusal() === null,
    stuckPools: () => [...new Set(stuckSteps().map(({ token }) => token))],
    tip: () => {
      const { marketMs } = node.fold;
      const tip = newest();
      return {
        slot: tip?.slot ?? null,
        hash: tip?.hash ?? null,
        lagMs: tip === null ? null : lagOf(tip),
        time: marketMs === 0 ? null : Math.floor(marketMs / 1000),
        height: tip?.height ?? null,
      };
    },
    rollback: () => lastRollback(node.fold.store),
  };
}

/**
 * The age of the newest block. A wall clock that was set back would give a wrong age, so the time
 * since the block was first seen counts too.
 */
function tipLag(clock: Clock): (tip: PointRecord) => number {
  let seen: { readonly hash: string; readonly atMs: number } | null = null;
  return ({ hash, timeMs }) => {
    const nowMs = clock.monotonicMs();
    if (seen?.hash !== hash) seen = { hash, atMs: nowMs };
    return Math.max(0, Math.floor(nowMs - seen.atMs), clock.nowMs() - timeMs);
  };
}

/** Cached by position, because every answer has it in its headers. */
function newestBlock(node: Node): () => PointRecord | null {
  let checkpoint: unknown;
  let tip: PointRecord | null = null;
  return () => {
    const { store } = node.fold;
    if (store.checkpoint === checkpoint) return tip;
    checkpoint = store.checkpoint;
    const text = store.get('market', TIP);
    tip = text === null ? null : readRecord<PointRecord>(text);
    return tip;
  };
}

/** `failed` resolves at the first event after which only a new process can continue. */
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
      resolve(`this node made no progress for STALE_MAX_MS (${reason})`);
    },
  };
  return { events: { ...events, ...fatal }, failed };
}
