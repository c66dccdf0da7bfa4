/** What readiness says, as metrics: an alert needs numbers. */
import type { Registry } from 'prom-client';
import { metersIn } from '../../engine/runtime/meters.ts';
import type { NodeStatus } from './status.ts';

/** `registry` must not hold them yet. */
export function registerStatus(registry: Registry, status: NodeStatus): void {
  const { reading } = metersIn(registry);
  const bit = (is: boolean) => (is ? 1 : 0);
  reading('ready', '1 while /health/ready answers 200', () => bit(status.synced()));
  reading('degraded', '1 while it serves, but something is wrong: see /health/ready', () => {
    return bit(status.reasons().length > 0);
  });
  reading('stale', '1 while what is served is right but no longer new', () => bit(status.stale()));
  reading('position_seq', 'Newest entry that answers include', () => status.applied().seq);
  reading('lag_entries', 'Entries written and not applied here yet', () => status.lagEntries());
  reading('tip_lag_seconds', 'Age of the newest block; 0 without a chain', () => {
    return (status.tip().lagMs ?? 0) / 1000;
  });
  reading('sync_blocks_behind', 'Blocks still to come while it catches up; 0 after that', () => {
    return status.sync()?.blocksBehind ?? 0;
  });
  reading(
    'sync_percent',
    'Of the slots to the newest block of the node; 100 once caught up',
    () => {
      const sync = status.sync();
      return sync === null ? 100 : (sync.percent ?? 0);
    },
  );
  reading('sync_blocks_per_second', 'Blocks a second while it catches up; 0 after that', () => {
    return status.sync()?.blocksPerSecond ?? 0;
  });
  reading('may_lead', '0 while disk or clock of this node forbid that it leads', () =>
    bit(status.mayNotLead() === null),
  );
  reading('quarantined_pools', 'Pools taken out after a repeated fault', () =>
    status.quarantined(),
  );
  reading(
    'stuck_pools',
    'Pools whose transactions are refused, on the leader',
    () => status.stuckPools().length,
  );
}
