/**
 * How a node is: the status that health and readiness report, and the events after which the
 * process cannot continue.
 */

import type { NodeStatus } from '../../api/operations/status.ts';
import { TIP } from '../../engine/actors/chainRows.ts';
import type { Node } from '../../engine/actors/node.ts';
import type { Events } from '../../engine/runtime/events.ts';
import type { Reasons } from '../../engine/runtime/reasons.ts';
import { type PointRecord, readRecord } from '../../engine/store/records.ts';
import type { ChainFeatures } from './chain.ts';
import type { MarketReads } from './marketReads.ts';
import type { World } from './world.ts';

/** What health and readiness say of a node. */
export function statusOf(
  { settings, rng, clock }: World,
  node: Node,
  chain: ChainFeatures | null,
  reasons: Reasons,
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
    reasons: () => reasons.list(),
    submits: () => reasons.refusal() === null,
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
