/**
 * A gateway on a virtual clock that moves only when the gateway works: each call into the library
 * or a topic takes a millisecond. So a test can count how long a crowd holds the event loop.
 */
import { createGateway } from '../../../src/api/gateway/gateway.ts';
import { GATEWAY_DEFAULTS, type GatewayOptions } from '../../../src/api/gateway/options.ts';
import type {
  Handler,
  HttpRequest,
  HttpResponse,
  RawSocket,
  Server,
  WebSocketBehavior,
} from '../../../src/api/gateway/server.ts';
import { eventStreamRoutes } from '../../../src/api/sse/routes.ts';
import { createHub } from '../../../src/api/topics/hub.ts';
import type { Source, Topic } from '../../../src/api/topics/port.ts';
import type { Origin } from '../../../src/api/ws/connection.ts';
import { Failure } from '../../../src/engine/runtime/errors.ts';
import { seededRng } from '../../../src/engine/runtime/rng.ts';
import { silentObserver } from '../silentObserver.ts';
import { VirtualClock } from '../topics/world.ts';
import { Market } from './market.ts';

/** Milliseconds of virtual time that a call takes. */
export const CALL_MS = 1;

type Frame = Readonly<Record<string, unknown>>;

/** A socket of the library: `buffered` bytes are not read yet. */
export class FakeSocket implements RawSocket<Origin> {
  readonly frames: Frame[] = [];
  /** Steps that take time. */
  costs: readonly ('send' | 'look')[] = ['send'];
  buffered = 0;
  closed: number | null = null;
  readonly #origin: Origin;
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock, key: string) {
    this.#clock = clock;
    const caller = { key, address: key, loopback: false, apiKey: null };
    this.#origin = { encoding: 'json', caller, refusal: null, connection: null };
  }

  getUserData = () => this.#origin;
  subscribe = () => true;
  unsubscribe = () => true;

  send(message: string | Uint8Array): number {
    if (this.costs.includes('send')) this.#clock.ms += CALL_MS;
    this.frames.push(JSON.parse(Buffer.from(message).toString()));
    return 1;
  }

  getBufferedAmount(): number {
    if (this.costs.includes('look')) this.#clock.ms += CALL_MS;
    return this.buffered;
  }

  end(code: number): void {
    this.closed = code;
  }

  cork(run: () => void): void {
    run();
  }

  /** Request ids of the frames of an event, in order. */
  ids(event: string): unknown[] {
    return this.frames.filter((each) => each.event === event).map(({ requestId }) => requestId);
  }
}

/** A response of the library that does not end; each write takes a millisecond. */
class FakeResponse {
  readonly written: string[] = [];
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  write = (chunk: string | Uint8Array): boolean => {
    this.#clock.ms += CALL_MS;
    this.written.push(Buffer.from(chunk).toString());
    return true;
  };
  writeHeader = () => {
    this.#clock.ms += CALL_MS;
  };
  cork = (run: () => void) => run();
  getRemoteAddress = () => Uint8Array.from([10, 0, 0, 1]).buffer;
  onWritable = () => {};
  onAborted = () => {};
  end = () => {};
  close = () => {};
  resume = () => {};
}

export function crowdWorld(given: Partial<GatewayOptions> = {}) {
  const clock = new VirtualClock();
  const market = new Market();
  const costs = { accept: 0, release: 0 };
  const handlers = new Map<string, Handler>();
  const endpoints: WebSocketBehavior<Origin>[] = [];
  const published: string[] = [];
  const server: Server = {
    handle: (method, path, handler) => void handlers.set(`${method} ${path}`, handler),
    connections: () => {},
    // trust: the gateway's behavior is of these sockets
    sockets: (_path, behavior) => void endpoints.push(behavior as WebSocketBehavior<Origin>),
    publish: (_channel, bytes) => void published.push(Buffer.from(bytes).toString()),
    listen: async () => 1,
    stopListening: () => {},
    close: () => {},
  };
  const observer = silentObserver;
  const streams = createHub({ nodeView: market, clock, observer, publish: server.publish });
  market.hub = streams;
  const topics = market.topics().map((topic) => costly(topic, costs, clock));
  const rng = seededRng(1);
  const routes = eventStreamRoutes();
  const deps = { server, streams, routes, topics, nodeView: market, clock, rng, observer };
  const gateway = createGateway({ ...deps, options: { ...GATEWAY_DEFAULTS, ...given } });
  const [endpoint] = endpoints;
  if (endpoint === undefined) throw new Error('no endpoint');
  /** Answers how long it held the loop. */
  const turn = (run: () => void): number => {
    const startMs = clock.ms;
    run();
    return clock.ms - startMs;
  };
  return {
    ...{ clock, market, costs, streams, gateway, turn, endpoint, published },
    connect(key = '10.0.0.1') {
      const socket = new FakeSocket(clock, key);
      endpoint.open(socket);
      return socket;
    },
    send: (socket: FakeSocket, frame: unknown) => {
      const bytes = new TextEncoder().encode(JSON.stringify(frame)).buffer;
      endpoint.message(socket, bytes, false);
    },
    stream(subscription: object) {
      const res = new FakeResponse(clock);
      const sub = encodeURIComponent(JSON.stringify(subscription));
      const req: HttpRequest = {
        getHeader: () => '',
        getParameter: () => '',
        getUrl: () => '/v1/stream',
        getMethod: () => 'get',
        getCaseSensitiveMethod: () => 'GET',
        getQuery: () => `sub=${sub}`,
        forEach: (take) => take('host', 'here'),
      };
      // trust: as much of a response as event streams use
      handlers.get('get /v1/stream')?.(res as unknown as HttpResponse, req);
      return res;
    },
  };
}

/** Checking its data, and leaving its stream, takes as long as the test says. */
function costly(
  topic: Topic,
  costs: { readonly accept: number; readonly release: number },
  clock: VirtualClock,
): Topic {
  const wrap = (source: Source): Source => ({
    ...source,
    get tags() {
      clock.ms += costs.release;
      return source.tags;
    },
  });
  return {
    ...topic,
    accept(data) {
      clock.ms += costs.accept;
      const open = topic.accept(data);
      if (open instanceof Failure) return open;
      return () => {
        const source = open();
        return source instanceof Failure ? source : wrap(source);
      };
    },
  };
}
