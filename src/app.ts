/**
 * All wiring, top to bottom in start order; stop is the reverse. Tests start the same app in
 * another world: other settings, clock, randomness, log output.
 */
import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { dataFiles } from './actors/files.ts';
import { Node } from './actors/node.ts';
import { FIRST_TERM, type RecoveryOptions, recover } from './actors/recovery.ts';
import type { Settings } from './config/table.ts';
import { createGateway } from './gateway/gateway.ts';
import type { GatewayOptions } from './gateway/options.ts';
import type { Route, Vantage } from './gateway/port.ts';
import { createServer } from './gateway/server.ts';
import { Replay, type ReplayCounts, type ReplayOptions } from './ingest/replay.ts';
import { LocalLog } from './log/local.ts';
import { LogWriter } from './log/writer.ts';
import type { Clock } from './runtime/clock.ts';
import { Failure } from './runtime/errors.ts';
import { createEvents } from './runtime/events.ts';
import { collectProcessMetrics, createRegistry } from './runtime/metrics.ts';
import type { Rng } from './runtime/rng.ts';
import { type Running, runServices, type Service } from './runtime/service.ts';
import { chartRoutes } from './services/charts/routes.ts';
import { lastBarTopic } from './services/charts/topics.ts';
import { docsRoutes } from './services/docs/routes.ts';
import { adminRoutes, utilityRoutes } from './services/operations/routes.ts';
import type { NodeStatus } from './services/operations/status.ts';
import { healthTopic } from './services/operations/topics.ts';
import { createHub } from './topics/hub.ts';

export interface World {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
  readonly version: string;
  /** Tests shorten waits and limits with these. */
  readonly gateway?: Partial<GatewayOptions>;
}

export interface App {
  /** What was bound. */
  readonly port: number;
  readonly node: Node;
  /** Feeds lines to the end of `input`, or until the app stops. One at a time. */
  replay(input: Readable, options: ReplayOptions): Promise<ReplayCounts>;
  stop(reason: string): Promise<void>;
}

const STOP_DEADLINE_MS = 9_000;

export async function startApp(world: World): Promise<App> {
  const { settings, clock, rng, logger, version } = world;
  const registry = createRegistry();
  collectProcessMetrics(registry);
  const events = createEvents(logger, registry);

  const files = dataFiles(settings.DATA_DIR);
  const nodeOptions = nodeOptionsOf(settings);
  const log = new LocalLog(files.log, clock, settings.DATA_MAX_MB);
  const recovery: RecoveryOptions = {
    ...nodeOptions,
    clock,
    rng,
    quarantined: events.actorQuarantined,
    epochStarted: events.epochStarted,
    stateUnreadable: events.stateUnreadable,
  };
  const store = await recover(log, files, recovery);
  const tail = await log.last();
  const node = new Node(store, tail.seq, log, files, clock, nodeOptions, events);
  const writer = new LogWriter(log, tail, FIRST_TERM, clock, events);

  const status = statusOf(node, rng);
  const vantage: Vantage = {
    applied: () => node.applied(),
    synced: () => node.synced(),
    tip: () => status.tip(),
    onApplied: (listener) => node.onApplied(listener),
  };
  const server = createServer(events);
  const streams = createHub({ vantage, clock, observer: events, publish: server.publish });
  const topics = [lastBarTopic(node), healthTopic(status)];
  const admin = adminRoutes(status, registry);
  const market: readonly Route[] = [...chartRoutes(node), ...utilityRoutes(clock)];
  const adminApart = settings.ADMIN_PORT !== undefined;
  const served = adminApart ? market : [...market, ...admin];
  const routes = [...served, ...docsRoutes({ title: 'upcurve', version }, served, topics)];
  const options = { ...gatewayOptionsOf(settings), ...world.gateway };
  const common = { vantage, clock, rng, observer: events, options };
  const gateway = createGateway({ ...common, server, streams, routes, topics });

  let port = 0;
  let replay: Replay | null = null;
  const listen = async (what: string, start: () => Promise<number | Failure>) => {
    const bound = await start();
    if (bound instanceof Failure) throw new Error(bound.message);
    events.listening(what, settings.HOST, bound);
    return bound;
  };
  const services: Service[] = [
    { name: 'node', start: () => node.start(streams), stop: () => node.stop() },
    {
      name: 'gateway',
      start: async () => {
        port = await listen('market', () => gateway.start(settings.HOST, settings.PORT));
      },
      stop: () => gateway.stop(),
    },
    {
      name: 'ingest',
      start: () => {},
      stop: () => {
        writer.stop();
        replay?.stop();
      },
    },
  ];
  if (adminApart) services.splice(1, 0, adminService());
  const running: Running = await runServices(services, { clock, stopDeadlineMs: STOP_DEADLINE_MS });

  function adminService(): Service {
    const adminServer = createServer(events);
    const publish = adminServer.publish;
    const none = createHub({ vantage, clock, observer: events, publish });
    const parts = { ...common, server: adminServer, streams: none, routes: admin, topics: [] };
    const adminGateway = createGateway(parts);
    const start = () => adminGateway.start(settings.HOST, settings.ADMIN_PORT ?? 0);
    return {
      name: 'admin',
      start: async () => {
        await listen('admin', start);
      },
      stop: () => adminGateway.stop(),
    };
  }

  return {
    port,
    node,
    replay(input, replayOptions) {
      const place = { node, log, writer, rng };
      replay = new Replay(place, clock, events, replayOptions);
      return replay.run(input);
    },
    async stop(reason) {
      const startMs = clock.monotonicMs();
      events.stopping(reason);
      for (const { service, error } of await running.stop())
        events.serviceStopFailed(service, error);
      events.stopped((clock.monotonicMs() - startMs) / 1000);
    },
  };
}

function nodeOptionsOf(settings: Settings) {
  return {
    horizonBlocks: settings.HORIZON_BLOCKS,
    maxMb: settings.DATA_MAX_MB,
    maxLoadedPools: settings.MAX_LOADED_POOLS,
    commitEveryMs: settings.COMMIT_EVERY_MS,
  };
}

function gatewayOptionsOf(settings: Settings): Partial<GatewayOptions> {
  const { RATE_READS_PER_S, RATE_READS_BURST, RATE_BUILDS_PER_S, RATE_LAUNCHES_PER_MIN } = settings;
  return {
    trustedProxies: settings.TRUSTED_PROXIES,
    limitLoopback: settings.RATE_LIMIT_LOOPBACK,
    reads: { perSecond: RATE_READS_PER_S, burst: RATE_READS_BURST },
    builds: { perSecond: RATE_BUILDS_PER_S, burst: RATE_BUILDS_PER_S },
    launches: { perSecond: RATE_LAUNCHES_PER_MIN / 60, burst: RATE_LAUNCHES_PER_MIN },
    maxSocketsPerAddress: settings.MAX_SOCKETS_PER_ADDRESS,
  };
}

function statusOf(node: Node, rng: Rng): NodeStatus {
  return {
    node: rng.token(6),
    role: 'leader',
    applied: () => node.applied(),
    stateHash: () => node.stateHash(),
    synced: () => node.synced(),
    stale: () => false,
    quarantined: () => node.fold.quarantinedPools,
    tip: () => {
      const { marketMs } = node.fold;
      // No chain here: a replay has market time, but neither slots nor a wall clock to lag behind.
      return {
        slot: null,
        hash: null,
        lagMs: null,
        time: marketMs === 0 ? null : Math.floor(marketMs / 1000),
      };
    },
  };
}
