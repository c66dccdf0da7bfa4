/**
 * The gateway: HTTP and WebSocket on one port. It takes the server and the streams as arguments,
 * because the streams publish through the server:
 *
 *   const server = createServer(observer);
 *   const streams = createHub({ nodeView, clock, observer, publish: server.publish });
 *   const gateway = createGateway({ server, streams, routes, topics, ... });
 */
import { type Clock, sleep } from '../../engine/runtime/clock.ts';
import type { Failure } from '../../engine/runtime/errors.ts';
import type { Rng } from '../../engine/runtime/rng.ts';
import { BodyBudget } from '../http/body.ts';
import type { HttpDeps } from '../http/enter.ts';
import { IdempotentAnswers } from '../http/idempotency.ts';
import { LocalHostGuard } from '../http/localHostGuard.ts';
import { PositionHeaders } from '../http/positionHeaders.ts';
import { RateLimits } from '../http/rateLimits.ts';
import { ResponseWriter } from '../http/responseWriter.ts';
import { mount } from '../http/route.ts';
import type { Streams, Topic } from '../topics/port.ts';
import type { Connection } from '../ws/connection.ts';
import { Delivery } from '../ws/delivery.ts';
import { Endpoint } from '../ws/endpoint.ts';
import { EpochRenewal } from '../ws/epochRenewal.ts';
import { EventStreams } from '../ws/eventStreams.ts';
import { Heartbeat } from '../ws/heartbeat.ts';
import { SlowSockets } from '../ws/slowSockets.ts';
import { SocketCounts } from '../ws/socketCounts.ts';
import { Subscriptions } from '../ws/subscriptions.ts';
import { type Caller, Callers } from './address.ts';
import { ApiKeys } from './apiKeys.ts';
import type { Observer } from './observer.ts';
import { GATEWAY_DEFAULTS, type GatewayOptions } from './options.ts';
import type { CallerLimits, NodeView, Route } from './port.ts';
import { PositionWaiters } from './positionWaiters.ts';
import type { Server } from './server.ts';

interface GatewayDeps {
  readonly server: Server;
  readonly streams: Streams;
  readonly routes: readonly Route[];
  readonly topics: readonly Topic[];
  /** The page that a browser gets for an unknown path; absent: the error that programs get. */
  readonly missingPage?: Route | null;
  readonly nodeView: NodeView;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly observer: Observer;
  /** Absent: there are none. */
  readonly apiKeys?: ApiKeys;
  readonly options?: Partial<GatewayOptions>;
}

export interface Gateway {
  /** Returns the port that was bound. */
  start(host: string, port: number): Promise<number | Failure>;
  /** Sends Shutdown to every socket, waits a bounded time for buffers and requests, closes. */
  stop(): Promise<void>;
}

const SOCKET_PATHS = ['/ws', '/websocket/ws', '/v1/websocket/ws'];
/** Clients of a stopped node are asked to reconnect after a random time in this range. */
const RECONNECT_MS = { from: 250, to: 2_000 };
const POLL_MS = 10;

export function createGateway(deps: GatewayDeps): Gateway {
  const { server, routes, nodeView, clock, observer } = deps;
  const options = { ...GATEWAY_DEFAULTS, ...deps.options };
  const callers = new Callers(options.trustedProxies);
  const apiKeys = deps.apiKeys ?? new ApiKeys();
  const limits = new RateLimits(clock, options);
  const positionWaiters = new PositionWaiters({
    nodeView,
    clock,
    observer,
    limits: options,
    isExempt: (caller) => limits.isExempt(caller),
  });
  const counts = new SocketCounts();
  const responses = new ResponseWriter(clock, observer, options.gzipCacheBytes);

  const places = { callers, counts, responses, positionWaiters, limits };
  const sockets = openSockets({ ...deps, options, apiKeys }, places);
  const { endpoint, eventStreams, heartbeat } = sockets;

  server.connections(
    (res) => callers.opened(res),
    () => callers.closed(),
  );
  for (const path of SOCKET_PATHS) server.sockets(path, endpoint.behavior());
  const http: HttpDeps = {
    nodeView,
    clock,
    responses,
    positionWaiters,
    callers,
    apiKeys,
    limits,
    idempotentAnswers: new IdempotentAnswers(clock),
    limitsOf: (caller) => limitsOf(caller, { limits, counts, options }),
    positions: new PositionHeaders(nodeView),
    bodyBudget: new BodyBudget(options),
    maxBodyBytes: options.maxBodyBytes,
    eventStreams,
    localHostGuard: new LocalHostGuard(options.publicUrl),
  };
  mount(server, routes, http, deps.missingPage ?? null);

  return {
    async start(host, port) {
      const bound = await server.listen(host, port, options.sharePort);
      if (typeof bound === 'number') heartbeat.start();
      return bound;
    },
    stop: () => stop({ ...deps, options }, sockets, () => responses.running === 0),
  };
}

async function stop(
  { server, clock, rng, options }: GatewayDeps & { readonly options: GatewayOptions },
  { connections, endpoint, eventStreams, heartbeat, delivery }: ReturnType<typeof openSockets>,
  areAnswered: () => boolean,
): Promise<void> {
  const settled = (done: () => boolean) => waitUntil(done, clock, options.stopMs);
  endpoint.stopping = true;
  eventStreams.stopping = true;
  server.stopListening();
  heartbeat.stop();
  for (const connection of connections) {
    const reconnectAfterMs = reconnectDelayMs(rng);
    connection.send(null, 'Shutdown', { reconnectAfterMs }, delivery.facts());
  }
  await sleep(clock, connections.size > 0 ? options.shutdownGraceMs : 0);
  await settled(() => [...connections].every(({ bufferedBytes }) => bufferedBytes === 0));
  for (const connection of connections) connection.close(4001, 'going away');
  await settled(areAnswered);
  await sleep(clock, POLL_MS);
  server.close();
}

function limitsOf(
  caller: Caller,
  parts: { limits: RateLimits; counts: SocketCounts; options: GatewayOptions },
): CallerLimits {
  const { limits, counts, options } = parts;
  const { apiKey, key } = caller;
  return {
    caller: apiKey?.name ?? key,
    scope: 'node',
    exempt: limits.isExempt(caller),
    classes: limits.state(caller),
    sockets: {
      limit: apiKey?.limits.sockets ?? options.maxSocketsPerAddress,
      open: counts.of(key),
    },
  };
}

interface SocketParts {
  readonly callers: Callers;
  readonly counts: SocketCounts;
  readonly responses: ResponseWriter;
  readonly positionWaiters: PositionWaiters;
  readonly limits: RateLimits;
}

/** Sockets and event streams: their subscriptions, and their pings. */
function openSockets(
  deps: GatewayDeps & { readonly options: GatewayOptions; readonly apiKeys: ApiKeys },
  { callers, counts, responses, positionWaiters, limits }: SocketParts,
) {
  const { server, streams, topics, nodeView, clock, rng, observer, options, apiKeys } = deps;
  const connections = new Set<Connection>();
  const delivery = new Delivery(nodeView, streams, clock, observer);
  const wired = { clock, observer, options, delivery, nodeView, connections };
  const subscriptions = new Subscriptions({ ...wired, topics, positionWaiters, limits });
  const renewal = new EpochRenewal({ ...wired, subscriptions });
  const slow = new SlowSockets({ ...wired, subscriptions, renewal });
  const heartbeat = new Heartbeat({ ...wired, server, streams, slow });
  const shared = { ...wired, subscriptions, slow, counts, heartbeat, rng };
  const endpoint = new Endpoint({ ...shared, callers, apiKeys, limits });
  const eventStreams = new EventStreams({ ...shared, responses });
  subscriptions.onBehind = (connection) => slow.fallBehind(connection);
  streams.onEpoch(() => renewal.begin());
  apiKeys.onReplaced(() => endRevoked(connections, apiKeys, delivery));

  return { connections, endpoint, eventStreams, heartbeat, delivery };
}

/** Ends connections that were opened with a key that is no longer known. */
function endRevoked(
  connections: ReadonlySet<Connection>,
  apiKeys: ApiKeys,
  delivery: Delivery,
): void {
  for (const connection of [...connections]) {
    const { apiKey } = connection.caller;
    if (apiKey !== null && !apiKeys.has(apiKey)) connection.revoke(delivery.facts());
  }
}

function reconnectDelayMs(rng: Rng): number {
  return RECONNECT_MS.from + Math.floor(rng.unit() * (RECONNECT_MS.to - RECONNECT_MS.from));
}

/** Waits until `done`, for `maxMs` at most. */
async function waitUntil(done: () => boolean, clock: Clock, maxMs: number): Promise<void> {
  const untilMs = clock.monotonicMs() + maxMs;
  while (!done() && clock.monotonicMs() < untilMs) await sleep(clock, POLL_MS);
}
