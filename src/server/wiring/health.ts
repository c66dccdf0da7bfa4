/**
 * How a node is: the status that health and readiness report, the troubles that readiness lists
 * until they are over, and the events after which the process cannot continue. A row that cannot
 * be read makes the node rebuild its state.
 */

import type { NodeStatus } from '../../api/operations/status.ts';
import { TIP } from '../../engine/actors/chainRows.ts';
import type { Node } from '../../engine/actors/node.ts';
import type { Events } from '../../engine/runtime/events.ts';
import { type Trouble, Troubles } from '../../engine/runtime/troubles.ts';
import { isDamage } from '../../engine/store/damage.ts';
import { type PointRecord, readRecord } from '../../engine/store/records.ts';
import type { ChainFeatures } from './chain.ts';
import type { MarketReads } from './marketReads.ts';
import type { World } from './world.ts';

const ROOM = 'make room on the disk of DATA_DIR, or raise DATA_MAX_MB; it continues by itself';

/** How the node reacts to rows that cannot be read, or cannot be written to a damaged file. */
interface Repairs {
  repair(error: unknown): void;
  repairAtNextStart(error: unknown): void;
}

interface TroubleTracking {
  readonly events: Events;
  readonly troubles: Troubles;
  /** From now on damaged rows make `node` repair itself. */
  attach(node: Repairs): void;
}

export function trackTroubles(events: Events): TroubleTracking {
  const troubles = new Troubles();
  let node: Repairs | null = null;
  return {
    events: { ...events, ...notes(events, troubles, () => node) },
    troubles,
    attach: (opened) => {
      node = opened;
    },
  };
}

function notes(events: Events, troubles: Troubles, node: () => Repairs | null): Partial<Events> {
  return {
    appendFailed(error, attempt, retryInMs) {
      events.appendFailed(error, attempt, retryInMs);
      troubles.set('LOG_NOT_WRITTEN', `the log takes no entries: ${messageOf(error)}: ${ROOM}`);
    },
    appendSettled() {
      events.appendSettled();
      troubles.clear('LOG_NOT_WRITTEN');
    },
    commitFailed(error, attempt, retryInMs) {
      events.commitFailed(error, attempt, retryInMs);
      const what = 'state.sqlite cannot be written, nothing new is shown';
      const isBroken = isDamage(error);
      if (isBroken) node()?.repairAtNextStart(error);
      const remedy = isBroken ? 'restart: it is made again from the log' : ROOM;
      troubles.set('STATE_NOT_WRITTEN', `${what}: ${messageOf(error)}: ${remedy}`);
    },
    committed(rows, seconds) {
      events.committed(rows, seconds);
      troubles.clear('STATE_NOT_WRITTEN');
    },
    actorQuarantined(pool, error) {
      events.actorQuarantined(pool, error);
      node()?.repair(error);
    },
    handlerFailed(where, error) {
      events.handlerFailed(where, error);
      if (isDamage(error)) node()?.repair(error);
    },
    executorMayNotTrade(why) {
      events.executorMayNotTrade(why);
      if (why === null) troubles.clear('EXECUTOR_MAY_NOT_TRADE');
      else troubles.set('EXECUTOR_MAY_NOT_TRADE', `no order is filled: ${why}`);
    },
    stateRebuilding(error) {
      events.stateRebuilding(error);
      const why = `state.sqlite has rows that cannot be read (${messageOf(error)})`;
      troubles.set('STATE_DAMAGED', `${why}: it is being made again from the log`);
    },
    stateRebuilt(seconds) {
      events.stateRebuilt(seconds);
      troubles.clear('STATE_DAMAGED');
    },
    stateNotRebuilt(error) {
      events.stateNotRebuilt(error);
      const what = 'state.sqlite has rows that cannot be read, and was not made again';
      troubles.set('STATE_DAMAGED', `${what}: ${messageOf(error)}`);
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What health and readiness say of a node. */
export function statusOf(
  { settings, rng, clock }: World,
  node: Node,
  chain: ChainFeatures | null,
  troubles: Troubles,
  reads: Pick<MarketReads, 'areDone'>,
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
    // Clients could ask another node of the cluster; a single node serves what it has.
    serves: () =>
      isRead() &&
      !isStuck() &&
      (roles === null || silentMs() <= settings.STALE_MAX_MS) &&
      (sync === null || sync.isSynced() || sync.isNodeAway()),
    sync: () => (sync === null || sync.isSynced() ? null : sync.progress()),
    stale: () => chain?.isStale() ?? false,
    mayNotLead: () => roles?.mayNotLead() ?? null,
    quarantined: () => node.fold.quarantinedPools,
    reasons: () => [...troubles.list(), ...quarantineOf(node), ...stuckOf(stuckSteps())],
    stuckPools: () => [...new Set(stuckSteps().map(({ token }) => token))],
    tip: () => {
      const { marketMs } = node.fold;
      const tip = newest();
      return {
        slot: tip?.slot ?? null,
        hash: tip?.hash ?? null,
        // Time of a replay cannot lag behind the wall clock.
        lagMs: tip === null ? null : Math.max(0, clock.nowMs() - tip.timeMs),
        time: marketMs === 0 ? null : Math.floor(marketMs / 1000),
      };
    },
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

function quarantineOf(node: Node): Trouble[] {
  const { quarantinedPools } = node.fold;
  if (quarantinedPools === 0) return [];
  const message =
    `${quarantinedPools} pools cannot be folded and answer 503; the others are served: ` +
    'see actorQuarantined in the log';
  return [{ code: 'POOLS_QUARANTINED', message }];
}

/** Steps that a reason names with their cause; the log has all. */
const MOST_LISTED = 5;

function stuckOf(steps: ReturnType<ChainFeatures['stuckSteps']>): Trouble[] {
  if (steps.length === 0) return [];
  const listed = steps.slice(0, MOST_LISTED).map((step) => {
    return `${step.kind} of ${step.token}: ${step.message}`;
  });
  const more = steps.length > MOST_LISTED ? [`${steps.length - MOST_LISTED} more`] : [];
  const message =
    `the executor cannot do these steps (${[...listed, ...more].join('; ')}); the others go on, ` +
    'these are tried again at least each minute: see poolStuck in the log';
  return [{ code: 'STEPS_STUCK', message }];
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
