/**
 * All wiring, top to bottom in start order; stop is the reverse. Tests start the same app in
 * another world: other settings, clock, randomness, log output.
 */
import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { dataFiles } from './actors/files.ts';
import { Node } from './actors/node.ts';
import { FIRST_TERM, recover } from './actors/recovery.ts';
import type { Settings } from './config/table.ts';
import { createGateway, type Gateway } from './gateway/gateway.ts';
import type { GatewayOptions } from './gateway/options.ts';
import type { Route, Vantage } from './gateway/port.ts';
import { createServer } from './gateway/server.ts';
import { Replay, type ReplayCounts, type ReplayOptions } from './ingest/replay.ts';
import { LocalLog } from './log/local.ts';
import { LogWriter } from './log/writer.ts';
import type { Clock } from './runtime/clock.ts';
import { Failure } from './runtime/errors.ts';
import { createEvents, type Events } from './runtime/events.ts';
import { collectProcessMetrics, createRegistry } from './runtime/metrics.ts';
import type { Rng } from './runtime/rng.ts';
import { runServices, type Service } from './runtime/service.ts';
import { chartRoutes } from './services/charts/routes.ts';
import { lastBarTopic } from './services/charts/topics.ts';
import { docsRoutes } from './services/docs/routes.ts';
import { adminRoutes, utilityRoutes } from './services/operations/routes.ts';
import type { NodeStatus } from './services/operations/status.ts';
import { healthTopic } from './services/operations/topics.ts';
import { createHub } from './topics/hub.ts';
import type { Topic } from './topics/port.ts';

export interface World {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly logger: Logger;
  readonly version: string;
  /** Gives up a start that takes long (a rebuild) with `Interrupted`. */
  readonly signal?: AbortSignal;
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
  const { clock, rng, logger } = world;
  const registry = createRegistry();
  collectProcessMetrics(registry);
  const events = createEvents(logger, registry);

  const market = await openMarket(world, events);
  const { node, log, writer } = market;
  const doors = openDoors(world, node, events, registry);

  let replay: Replay | null = null;
  let stopping = false;
  const ingest: Service = {
    name: 'ingest',
    start: () => {},
    stop: () => {
      stopping = true;
      writer.stop();
      replay?.stop();
    },
  };
  const folding: Service = {
    name: 'node',
    start: () => node.start(doors.streams),
    stop: () => node.stop(),
  };
  const limits = { clock, stopDeadlineMs: STOP_DEADLINE_MS };
  const running = await runServices([folding, ...doors.services, ingest], limits);

  return {
    port: doors.port(),
    node,
    async replay(input, options) {
      // What goes wrong before it is read is thrown when it is; it must not end the process now.
      input.on('error', () => {});
      // A file continues behind its last entry in the log, which the state may not have yet.
      await node.reached(writer.tail.seq);
      replay = new Replay({ node, log, writer, rng, clock }, events, options);
      if (stopping) replay.stop();
      return replay.run(input);
    },
    async stop(reason) {
      const startMs = clock.monotonicMs();
      events.stopping(reason);
      for (const { service, error } of await running.stop()) {
        events.serviceStopFailed(service, error);
      }
      events.stopped((clock.monotonicMs() - startMs) / 1000);
    },
  };
}

/** Log and state brought together, the fold over them, and the pen of the log. */
async function openMarket({ settings, clock, rng, signal }: World, events: Events) {
  const files = dataFiles(settings.DATA_DIR);
  const options = nodeOptionsOf(settings);
  const log = new LocalLog(files.log, clock, settings.DATA_MAX_MB);
  const store = await recover(log, files, {
    ...options,
    clock,
    rng,
    signal,
    quarantined: events.actorQuarantined,
    epochStarted: events.epochStarted,
    stateUnreadable: events.stateUnreadable,
  });
  const tail = await log.last();
  const node = new Node(store, tail.seq, log, files, clock, options, events);
  return { node, log, writer: new LogWriter(log, tail, FIRST_TERM, clock, events) };
}

/** The public port, and the admin port where one is set. */
function openDoors(world: World, node: Node, events: Events, registry: Registry) {
  const { settings, clock, rng, version } = world;
  const status = statusOf(node, rng);
  const vantage: Vantage = {
    applied: () => node.applied(),
    synced: () => node.synced(),
    tip: () => status.tip(),
    onApplied: (listener) => node.onApplied(listener),
  };
  const admin = adminRoutes(status, registry);
  const apart = settings.ADMIN_PORT !== undefined;
  const market = [...chartRoutes(node), ...utilityRoutes(clock), ...(apart ? [] : admin)];
  const topics = [lastBarTopic(node), healthTopic(status)];
  const documents = docsRoutes({ title: 'upcurve', version }, market, topics);
  const options = { ...gatewayOptionsOf(settings), ...world.gateway };

  const door = (routes: readonly Route[], offered: readonly Topic[]) => {
    const server = createServer(events);
    const streams = createHub({ vantage, clock, observer: events, publish: server.publish });
    const common = { vantage, clock, rng, observer: events, options };
    const gateway = createGateway({ ...common, server, streams, routes, topics: offered });
    return { gateway, streams };
  };
  const open = door([...market, ...documents], topics);
  let port = 0;
  const gateway: Service = {
    name: 'gateway',
    start: async () => {
      port = await listen('market', open.gateway, settings.HOST, settings.PORT, events);
    },
    stop: () => open.gateway.stop(),
  };
  const services = [gateway];
  if (settings.ADMIN_PORT !== undefined) {
    const adminPort = settings.ADMIN_PORT;
    const back = door(admin, []);
    services.unshift({
      name: 'admin',
      start: async () => {
        await listen('admin', back.gateway, settings.HOST, adminPort, events);
      },
      stop: () => back.gateway.stop(),
    });
  }
  return { streams: open.streams, services, port: () => port };
}

async function listen(
  what: string,
  gateway: Gateway,
  host: string,
  port: number,
  events: Events,
): Promise<number> {
  const bound = await gateway.start(host, port);
  if (bound instanceof Failure) throw new Error(bound.message);
  events.listening(what, host, bound);
  return bound;
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
