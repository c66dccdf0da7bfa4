import { TIP } from '../actors/chainRows.ts';
import type { Node } from '../actors/node.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Rng } from '../runtime/rng.ts';
import type { NodeStatus } from '../services/operations/status.ts';
import { type PointRecord, readRecord } from '../store/records.ts';
import type { ChainKit } from './chain.ts';

/** What health and readiness say of a node. */
export function statusOf(node: Node, chain: ChainKit | null, rng: Rng, clock: Clock): NodeStatus {
  const newest = newestBlock(node);
  return {
    node: rng.token(6),
    role: 'leader',
    applied: () => node.applied(),
    stateHash: () => node.stateHash(),
    synced: () => node.synced(),
    stale: () => chain?.stale() ?? false,
    quarantined: () => node.fold.quarantinedPools,
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
