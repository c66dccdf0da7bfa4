/** This node among the others: it leads at its turn, watches the log, and says how it is. */

import { LeaderSeen } from '../../cluster/leaderSeen.ts';
import { type Crew, Leadership } from '../../cluster/leadership.ts';
import { Watch } from '../../cluster/watch.ts';
import type { Node } from '../../engine/actors/node.ts';
import { sleep } from '../../engine/runtime/clock.ts';
import type { Events } from '../../engine/runtime/events.ts';
import type { Service } from '../../engine/runtime/service.ts';
import type { Cluster } from './cluster.ts';
import type { World } from './world.ts';

/** This node among the others. */
export interface Roles {
  /** Of this node. */
  readonly name: string;
  /** It never leads. */
  readonly isReader: boolean;
  leads(): boolean;
  /** Name of the node that leads, as this one saw it last; null: none. */
  leader(): string | null;
  /** Now and at every change. */
  onRole(listener: (leads: boolean) => void): void;
  /** Entries of the log that this node has not applied. */
  lagEntries(): number;
  /** Since the log was last seen to go on from what this node has. */
  silentMs(): number;
  /** For how long entries of the log were there and none of them was applied. */
  lagStalledMs(): number;
  /** Why this node must not lead; null: it may. */
  mayNotLead(): string | null;
}

export interface Turns {
  readonly roles: Roles;
  /** The log is not heard of, or is not what this node has. */
  isStale(): boolean;
  readonly services: readonly Service[];
}

/** A leader that is gone is replaced within a lease and a bit. */
const LEADERLESS_LEASES = 2;
/** What is on its way to NATS has so long when we stop. */
const CLOSE_MS = 500;

export function takingTurns(
  crew: Crew,
  cluster: Cluster,
  { clock, settings }: World,
  node: Node,
  events: Events,
): Turns {
  const { STALE_AFTER_MS: staleAfterMs, STALE_MAX_MS: patienceMs } = settings;
  const { name, link, leaseMs, announcements, disk } = cluster;
  let backMs: number | null = null;
  const mayNotLead = () => {
    const refusal = node.diskRefusal ?? disk.refusal;
    return refusal === null ? null : `its disk takes nothing: ${refusal}`;
  };
  const leading = { ...cluster, node, crew, clock, backMs: () => backMs, obstacle: mayNotLead };
  const leadership = new Leadership(leading, events);
  const watch = new Watch(
    {
      ...cluster,
      node,
      clock,
      announce: (standing) => announcements.announce(standing),
      leads: () => leadership.leads,
      lost: (why) => leadership.stepDown(why),
      stuck: (why) => events.nodeStuck(why),
      patienceMs,
    },
    // Two looks that found nothing out are silence.
    Math.min(staleAfterMs / 2, leaseMs / 3),
  );
  link.onStatus(({ status }) => {
    if (status !== 'reconnected') return;
    backMs = clock.monotonicMs();
    watch.wake();
  });
  const seen = new LeaderSeen({ holder: () => cluster.lease.holder(), leaseMs, clock });
  return {
    roles: {
      name,
      isReader: false,
      leader: () => (leadership.leads ? name : seen.leader),
      leads: () => leadership.leads,
      onRole: (listener) => leadership.onRole(listener),
      lagEntries: () => watch.lagEntries,
      silentMs: () => watch.silentMs,
      lagStalledMs: () => watch.lagStalledMs,
      mayNotLead,
    },
    isStale: () =>
      Math.max(watch.silentMs, watch.lagStalledMs) > staleAfterMs ||
      watch.isLost ||
      node.hasDiverged,
    services: [
      { name: 'NATS', start: () => {}, stop: () => link.close(sleep(clock, CLOSE_MS)) },
      // Withdrawn after the watch has stopped, which would announce this node again.
      { name: 'announcement', start: () => {}, stop: () => announcements.withdraw(name) },
      disk,
      watch,
      seen,
      leadership,
    ],
  };
}

/** The same for a node that never leads. Without a leader what it has gets old, as without NATS. */
export function onlyReading(
  cluster: Cluster,
  { clock, settings }: World,
  node: Node,
  { nodeStuck }: Pick<Events, 'nodeStuck'>,
): Turns {
  const { STALE_AFTER_MS: staleAfterMs, STALE_MAX_MS: patienceMs } = settings;
  const { name, link, leaseMs, announcements } = cluster;
  const watch = new Watch(
    {
      ...cluster,
      node,
      clock,
      announce: (standing) => announcements.announce({ ...standing, reader: true }),
      lost: () => {},
      stuck: nodeStuck,
      patienceMs,
    },
    Math.min(staleAfterMs / 2, leaseMs / 3),
  );
  link.onStatus(({ status }) => {
    if (status === 'reconnected') watch.wake();
  });
  const seen = new LeaderSeen({ holder: () => cluster.lease.holder(), leaseMs, clock });
  return {
    roles: {
      name,
      isReader: true,
      leader: () => seen.leader,
      leads: () => false,
      onRole: (listener) => listener(false),
      lagEntries: () => watch.lagEntries,
      silentMs: () => Math.max(watch.silentMs, seen.absentMs),
      lagStalledMs: () => watch.lagStalledMs,
      mayNotLead: () => null,
    },
    isStale: () =>
      Math.max(watch.silentMs, watch.lagStalledMs) > staleAfterMs ||
      seen.absentMs > LEADERLESS_LEASES * leaseMs ||
      watch.isLost ||
      node.hasDiverged,
    services: [
      { name: 'NATS', start: () => {}, stop: () => link.close(sleep(clock, CLOSE_MS)) },
      { name: 'announcement', start: () => {}, stop: () => announcements.withdraw(name) },
      watch,
      seen,
    ],
  };
}
