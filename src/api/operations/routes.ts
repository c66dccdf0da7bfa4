/**
 * Liveness, readiness, metrics and server time. Health and metrics have no rate limit and answer
 * while the node is syncing: operators need them when something is wrong.
 */
import type { Registry } from 'prom-client';
import type { Clock } from '../../engine/runtime/clock.ts';
import { metersIn } from '../../engine/runtime/meters.ts';
import { formatPosition } from '../../engine/runtime/position.ts';
import type { Answer, Route } from '../gateway/port.ts';
import { jsonAnswer, route } from '../gateway/route.ts';
import { Limits, Live, Ready, ServerTime } from './schema.ts';
import type { NodeStatus } from './status.ts';

const COMMON = {
  method: 'GET',
  tag: 'Operations',
  needsSync: false,
  positioned: false,
} as const satisfies Partial<Route>;

/** On the port of ADMIN_PORT where that is set, and then only there. */
export function adminRoutes(status: NodeStatus, registry: Registry): readonly Route[] {
  registerStatus(registry, status);
  return [liveRoute(), readyRoute(status), metricsRoute(registry)];
}

function liveRoute(): Route {
  const body = JSON.stringify({ live: true });
  return route({
    ...COMMON,
    path: '/health/live',
    operationId: 'healthLive',
    summary: 'The process answers',
    answers: { 200: { description: 'It does.', schema: Live } },
    rate: 'free',
    handle: () => ({ body }),
  });
}

function readyRoute(status: NodeStatus): Route {
  return route({
    ...COMMON,
    path: '/health/ready',
    operationId: 'healthReady',
    summary: 'The node has caught up and serves the market',
    answers: {
      200: { description: 'Synced.', schema: Ready },
      503: { description: 'Still syncing: the same body, with synced false.', schema: Ready },
    },
    rate: 'free',
    handle: () => readiness(status),
  });
}

function readiness(status: NodeStatus): Answer {
  const position = status.applied();
  const synced = status.synced();
  const quarantinedPools = status.quarantined();
  const reasons = status.reasons();
  const { slot, hash, time, lagMs } = status.tip();
  const body = JSON.stringify({
    node: status.node,
    role: status.role(),
    leader: status.leader(),
    term: status.term(),
    lagEntries: status.lagEntries(),
    position: formatPosition(position),
    epoch: position.epoch,
    seq: position.seq,
    stateHash: status.stateHash(),
    hashedSeq: status.hashedSeq(),
    synced,
    stale: status.stale(),
    degraded: reasons.length > 0,
    reasons,
    quarantinedPools,
    stuckPools: status.stuckPools(),
    mayNotLead: status.mayNotLead(),
    tip: { slot, hash, time, lagMs },
    sync: status.sync(),
  });
  return { status: synced ? 200 : 503, body };
}

function metricsRoute(registry: Registry): Route {
  const type = registry.contentType;
  return route({
    ...COMMON,
    path: '/metrics',
    operationId: 'metrics',
    summary: 'Metrics for Prometheus',
    answers: { 200: { description: 'Text exposition format.', type } },
    rate: 'free',
    handle: async () => ({ body: await registry.metrics(), type }),
  });
}

/** Routes about the server itself. */
export function utilityRoutes(clock: Clock): readonly Route[] {
  const time: Route = route({
    ...COMMON,
    path: '/v1/utility/server/time',
    operationId: 'serverTime',
    summary: 'Wall clock of the server',
    description: 'For clock skew only: market time is the time of the newest entry, never this.',
    answers: { 200: { description: 'The time now.', schema: ServerTime } },
    rate: 'read',
    handle: () => ({ body: JSON.stringify({ timestamp: clock.nowMs() }) }),
  });
  const limits: Route = route({
    ...COMMON,
    path: '/v1/limits',
    operationId: 'limits',
    summary: 'Your limits, and the remaining requests',
    description:
      'Limits of the API key in the request, otherwise of its address. This request costs nothing.',
    answers: { 200: { description: 'At this moment, on this node.', schema: Limits } },
    rate: 'free',
    tellsLimits: true,
    handle: (request) => jsonAnswer(request.limits ?? null),
  });
  return [time, limits];
}

/**
 * Registers the values of readiness as metrics, because alerts need numbers. `registry` must not
 * have them yet.
 */
export function registerStatus(registry: Registry, status: NodeStatus): void {
  const { reading, flags } = metersIn(registry);
  const bit = (is: boolean) => (is ? 1 : 0);
  reading('ready', '1 while /health/ready answers 200', () => bit(status.synced()));
  reading('degraded', '1 while it serves, but something is wrong: see /health/ready', () => {
    return bit(status.reasons().length > 0);
  });
  flags('reason', '1 for each code in reasons of /health/ready', 'code', () =>
    status.reasons().map(({ code }) => code),
  );
  reading('stale', '1 while the served state is right but no longer new', () =>
    bit(status.stale()),
  );
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
    'Percent of the slots up to the newest block of the node; 100 once caught up',
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
    'Pools with a step that fails, on the leader',
    () => status.stuckPools().length,
  );
}
