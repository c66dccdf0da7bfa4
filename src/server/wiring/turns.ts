/** This node among the others: it leads at its turn, watches the log, and says how it is. */

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
  leads(): boolean;
  /** Now and at every change. */
  onRole(listener: (leads: boolean) => void): void;
  /** Entries of the log that this node has not applied. */
  lagEntries(): number;
  /** Since the log was last seen to go on from what this node has. */
  silentMs(): number;
}

export interface Turns {
  readonly roles: Roles;
  /** The log is not heard of, or is not what this node has. */
  isStale(): boolean;
  readonly services: readonly Service[];
}

/** NATS is asked every few seconds; two that were missed are silence. */
const SILENCE_MS = 12_000;
/** What is on its way to NATS has so long when we stop. */
const CLOSE_MS = 500;

export function takingTurns(
  crew: Crew,
  cluster: Cluster,
  { clock }: World,
  node: Node,
  events: Events,
): Turns {
  const { name, link, leaseMs, announcements } = cluster;
  let backMs: number | null = null;
  const leading = { ...cluster, node, crew, clock, backMs: () => backMs };
  const leadership = new Leadership(leading, events);
  const watch = new Watch(
    {
      ...cluster,
      node,
      clock,
      announce: (standing) => announcements.announce(standing),
      leads: () => leadership.leads,
      lost: (why) => leadership.stepDown(why),
    },
    Math.min(SILENCE_MS / 2, leaseMs / 3),
  );
  link.onStatus(({ status }) => {
    if (status !== 'reconnected') return;
    backMs = clock.monotonicMs();
    watch.wake();
  });
  return {
    roles: {
      name,
      leads: () => leadership.leads,
      onRole: (listener) => leadership.onRole(listener),
      lagEntries: () => watch.lagEntries,
      silentMs: () => watch.silentMs,
    },
    isStale: () => watch.silentMs > SILENCE_MS || watch.isLost || node.hasDiverged,
    services: [
      { name: 'NATS', start: () => {}, stop: () => link.close(sleep(clock, CLOSE_MS)) },
      watch,
      leadership,
      { name: 'announcement', start: () => {}, stop: () => announcements.withdraw(name) },
    ],
  };
}
