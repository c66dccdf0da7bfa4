/** This node among several: takes part in the election, watches the log, announces its state. */

import { timeGuard } from '../../cluster/clockCheck.ts';

import { Leadership, type Role } from '../../cluster/leadership.ts';
import type { Announcement } from '../../cluster/nats/announcements.ts';
import { LeaderWatch, LogWatch, type LogWatchDeps } from '../../cluster/watch.ts';
import type { Node } from '../../engine/node/node.ts';
import { sleep } from '../../engine/runtime/clock.ts';
import type { Events } from '../../engine/runtime/events.ts';
import type { Reasons } from '../../engine/runtime/reasons.ts';
import type { Service } from '../../engine/runtime/service.ts';
import type { AppDeps } from './appDeps.ts';
import type { Cluster } from './cluster.ts';

/** The role of this node among several. */
export interface RoleState {
  /** Name of this node. */
  readonly name: string;
  /** It never leads. */
  readonly isReader: boolean;
  leads(): boolean;
  /** Name of the leader that this node saw last; null: none. */
  leader(): string | null;
  /** Calls `listener` now and at every change. */
  onRole(listener: (leads: boolean) => void): void;
  /** Entries of the log that this node has not applied. */
  lagEntries(): number;
  /** Time since this node last confirmed that the log continues its state. */
  silentMs(): number;
  /** How long this node has applied no entry although it lacks some. */
  lagStalledMs(): number;
  /** Why this node must not lead; null: it may. */
  mayNotLead(): string | null;
}

interface Election {
  readonly state: RoleState;
  /** NATS is silent, or the log differs from this node's state. */
  isStale(): boolean;
  readonly services: readonly Service[];
}

/** A lost leader is replaced after little more than one lease. */
const LEADERLESS_LEASES = 2;
/** Time for messages on their way to NATS when this node stops. */
const CLOSE_MS = 500;

/** `byClock`: the leader writes time entries by its clock. */
export function joinElection(
  role: Role,
  cluster: Cluster,
  appDeps: AppDeps,
  node: Node,
  byClock: boolean,
  reasons: Reasons,
  events: Events,
): Election {
  const { clock } = appDeps;
  const { name, link } = cluster;
  let reconnectedMs: number | null = null;
  link.onStatus(({ status }) => {
    if (status === 'reconnected') reconnectedMs = clock.monotonicMs();
  });
  const mayNotLead = () => obstacleOf(cluster, node);
  const isTooLate = byClock ? timeGuard(() => cluster.presence.latestMs()) : () => false;
  const obstacle = mayNotLead;
  const limits = { obstacle, isTooLate, reconnectedMs: () => reconnectedMs };
  const leadership = new Leadership({ ...cluster, node, role, clock, ...limits }, events);
  leadership.onRole((leads) => {
    if (leads) label(cluster).catch(events.natsWaits);
  });
  const watching = watchLog(cluster, appDeps, node, events, {
    announce: (standing) => announce({ ...standing, ...cluster.settings }, cluster),
    leads: () => leadership.leads,
    lost: (why) => leadership.stepDown(why),
  });
  const { watch, seen } = watching;
  const isStale = () => watching.isStale() || (!leadership.leads && isLeaderless(seen, cluster));
  watchCluster(reasons, watching, cluster, () => leadership.leads, appDeps);
  reasons.watch('MAY_NOT_LEAD', () => {
    const obstacle = mayNotLead();
    return obstacle === null ? null : `this node must not lead: ${obstacle}`;
  });
  return {
    state: {
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
    isStale,
    services: [...watching.first, cluster.disk, watch, seen, cluster.copies, leadership],
  };
}

/** For a node that never leads. Without a leader its data gets old, as without NATS. */
export function observeElection(
  cluster: Cluster,
  appDeps: AppDeps,
  node: Node,
  reasons: Reasons,
  events: Events,
): Election {
  const { name } = cluster;
  const watching = watchLog(cluster, appDeps, node, events, {
    announce: (standing) => announce({ ...standing, reader: true }, cluster),
    lost: () => {},
  });
  const { watch, seen } = watching;
  watchCluster(reasons, watching, cluster, () => false, appDeps);
  return {
    state: {
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
    isStale: () => watching.isStale() || isLeaderless(seen, cluster),
    services: [...watching.first, watch, seen],
  };
}

/** The part that is the same for nodes that may lead and for readers. */
function watchLog(
  cluster: Cluster,
  { clock, settings }: AppDeps,
  node: Node,
  { nodeStuck, handlerFailed }: Events,
  own: Pick<LogWatchDeps, 'announce' | 'leads' | 'lost'>,
) {
  const { STALE_AFTER_MS: staleAfterMs, STALE_MAX_MS: stuckAfterMs } = settings;
  const { name, link, lease, leaseMs, announcements } = cluster;
  const failed = (error: unknown) => handlerFailed('watch', error);
  const deps = { ...cluster, ...own, node, clock, stuck: nodeStuck, stuckAfterMs, failed };
  // The log counts as silent after two checks without an answer.
  const watch = new LogWatch(deps, Math.min(staleAfterMs / 2, leaseMs / 3));
  link.onStatus(({ status }) => {
    if (status === 'reconnected') watch.wake();
  });
  const first: Service[] = [
    { name: 'NATS', start: () => {}, stop: () => link.close(sleep(clock, CLOSE_MS)) },
    // Withdrawn after the watch stops: the watch would announce this node again.
    { name: 'announcement', start: () => {}, stop: () => announcements.withdraw(name) },
    cluster.presence,
  ];
  return {
    watch,
    seen: new LeaderWatch({ holder: () => lease.lastHolder(), leaseMs, clock }),
    diverged: () => node.hasDiverged,
    isStale: () =>
      Math.max(watch.silentMs, watch.lagStalledMs) > staleAfterMs ||
      watch.isLost ||
      node.hasDiverged,
    first,
  };
}

/** Reports the reasons for which a node of a cluster waits. */
function watchCluster(
  reasons: Reasons,
  { watch, seen, diverged }: ReturnType<typeof watchLog>,
  cluster: Cluster,
  leads: () => boolean,
  { settings }: AppDeps,
): void {
  const { link, lease } = cluster;
  reasons.watch('NATS_AWAY', () => {
    if (watch.isLost || watch.silentMs <= settings.STALE_AFTER_MS) return null;
    if (watch.failure !== null)
      return `the log cannot be compared (${watch.failure}): see handlerFailed in the log`;
    const what = link.connected ? 'NATS is connected and does not answer' : 'NATS is away';
    const why = watch.silence === null ? '' : ` (${watch.silence})`;
    return `${what}${why}: see NATS_URL, the log of nats-server and its disk`;
  });
  reasons.watch('NO_LEADER', () => {
    if (leads() || !isLeaderless(seen, cluster)) return null;
    const why = lease.problem === null ? '' : `; NATS refuses the lease: ${lease.problem}`;
    const remedy = 'see mayNotLead of every node, and whether the storage of NATS is full';
    return `no node leads, so nothing new is written${why}: ${remedy}`;
  });
  reasons.watch('LOG_DIVERGED', () =>
    watch.isLost || diverged()
      ? 'the log is not the one that this node has: it waits for the leader to open an epoch'
      : null,
  );
}

/** No node writes the log. */
function isLeaderless({ absentMs }: LeaderWatch, { leaseMs }: Cluster): boolean {
  return absentMs > LEADERLESS_LEASES * leaseMs;
}

/** Why this node must not lead; null: it may. */
function obstacleOf({ disk, presence }: Cluster, node: Node): string | null {
  const refusal = node.diskRefusal ?? disk.refusal;
  return refusal === null ? presence.obstacle() : `its disk takes nothing: ${refusal}`;
}

function announce(standing: Announcement, { announcements, record }: Cluster) {
  const market = record.known === null ? {} : { market: record.known };
  return announcements.announce({ ...standing, ...market });
}

async function label({ log, record }: Cluster): Promise<void> {
  if (record.known !== null) await log.setLabel(record.known);
}
