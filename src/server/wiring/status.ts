import type { NodeStatus } from '../../api/operations/status.ts';
import { TIP } from '../../engine/actors/chainRows.ts';
import type { Node } from '../../engine/actors/node.ts';
import type { Trouble, Troubles } from '../../engine/runtime/troubles.ts';
import { type PointRecord, readRecord } from '../../engine/store/records.ts';
import type { ChainFeatures } from './chain.ts';
import type { World } from './world.ts';

/** What health and readiness say of a node. */
export function statusOf(
  { settings, rng, clock }: World,
  node: Node,
  chain: ChainFeatures | null,
  troubles: Troubles,
): NodeStatus {
  const newest = newestBlock(node);
  const roles = chain?.roles ?? null;
  const sync = chain?.sync ?? null;
  const silentMs = () => (roles ?? sync)?.silentMs() ?? 0;
  const name = roles?.name ?? settings.NODE_NAME ?? rng.token(6);
  const isSynced = () => sync === null || sync.isSynced();
  // Other nodes have what this one lacks: clients are sent to them.
  const isStuck = () => (roles?.lagStalledMs() ?? 0) > 2 * settings.STALE_AFTER_MS;
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
    synced: () => node.synced() && !isStuck() && isSynced() && silentMs() <= settings.STALE_MAX_MS,
    // Nodes that share a log could be asked instead; a node that is alone serves what it has.
    serves: () =>
      node.synced() &&
      !isStuck() &&
      (roles === null || silentMs() <= settings.STALE_MAX_MS) &&
      (sync === null || sync.isSynced() || sync.isNodeAway()),
    sync: () => (sync === null || sync.isSynced() ? null : sync.progress()),
    stale: () => chain?.isStale() ?? false,
    mayNotLead: () => roles?.mayNotLead() ?? null,
    quarantined: () => node.fold.quarantinedPools,
    reasons: () => [...troubles.list(), ...quarantineOf(node)],
    stuckPools: () => chain?.stuckPools() ?? [],
    tip: () => {
      const { marketMs } = node.fold;
      const tip = newest();
      return {
        slot: tip?.slot ?? null,
        hash: tip?.hash ?? null,
        // A replay has market time, but no wall clock to lag behind.
        lagMs: tip === null ? null : Math.max(0, clock.nowMs() - tip.timeMs),
        time: marketMs === 0 ? null : Math.floor(marketMs / 1000),
      };
    },
  };
}

/** Read once per position: every answer names it in its headers. */
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
