/**
 * The port of uWebSockets.js (src/api/gateway/server.ts) in memory: the gateway, its routes and its
 * sockets run above it unchanged. Requests and frames arrive as events of the node, answers as
 * events of the caller, each after a latency.
 *
 * As in the library: static parts of a path win over parameters and these over `*`; a frame that
 * exceeds the client's room is buffered (0), and thrown away (2) once `maxBackpressure` is
 * exceeded; published frames go out at the end of the turn, in order with sent ones. Not modelled:
 * bodies that arrive in parts, clients that read a long body slowly, idle timeouts.
 */
import type {
  Handler,
  Method,
  Server,
  WebSocketBehavior,
} from '../../../src/api/gateway/server.ts';
import type { SimProcess, VirtualTime } from '../machine/virtualTime.ts';
import { MemoryRequest, MemoryResponse, type RequestOptions } from './memoryHttp.ts';
import { type ClientEnd, MemorySocket, type SocketPlace } from './memorySocket.ts';

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Pattern {
  readonly method: Method;
  readonly parts: readonly string[];
  readonly handler: Handler;
}

interface Endpoint {
  readonly path: string;
  readonly behavior: WebSocketBehavior<unknown>;
}

interface ServerPlace {
  readonly time: VirtualTime;
  /** Process of the node. */
  readonly process: SimProcess;
  readonly latencyMs: number;
  /** Bytes that the system's buffers of both sides hold for one connection. */
  readonly connectionBytes: number;
  handlerFailed(where: string, error: unknown): void;
}

const FIRST_PORT = 20_000;

export class MemoryServer implements Server {
  isListening = false;
  readonly #place: ServerPlace;
  readonly #patterns: Pattern[] = [];
  readonly #endpoints: Endpoint[] = [];
  readonly #sockets = new Set<MemorySocket<unknown>>();
  readonly #open = new Set<MemoryResponse>();
  readonly #clients = new Set<ClientEnd>();
  #opened: (res: MemoryResponse) => void = () => {};
  #closed = () => {};
  #isSorted = false;
  #isFlushing = false;

  constructor(place: ServerPlace) {
    this.#place = place;
  }

  handle(method: Method, pattern: string, handler: Handler): void {
    this.#patterns.push({ method, parts: partsOf(pattern), handler });
  }

  connections(opened: (res: MemoryResponse) => void, closed: () => void): void {
    this.#opened = opened;
    this.#closed = closed;
  }

  sockets<Data>(path: string, behavior: WebSocketBehavior<Data>): void {
    // trust: this behavior's `upgrade` set the socket's data
    this.#endpoints.push({ path, behavior: behavior as WebSocketBehavior<unknown> });
  }

  /** Handed on without its server. */
  readonly publish = (channel: string, bytes: Uint8Array, isBinary: boolean): void => {
    let isHeard = false;
    for (const socket of this.#sockets) isHeard = socket.hear(channel, bytes, isBinary) || isHeard;
    if (!isHeard || this.#isFlushing) return;
    this.#isFlushing = true;
    this.#place.time.at(this.#place.process, 0, () => {
      this.#isFlushing = false;
      for (const socket of this.#sockets) socket.flush();
    });
  };

  async listen(_host: string, port: number): Promise<number> {
    this.isListening = true;
    return port === 0 ? FIRST_PORT : port;
  }

  stopListening(): void {
    this.isListening = false;
  }

  close(): void {
    this.isListening = false;
    for (const res of this.#open) res.close();
    for (const socket of this.#sockets) socket.cut();
    this.vanish();
  }

  /** Its process was killed: connections break, and no code of the node runs. */
  vanish(): void {
    this.isListening = false;
    for (const res of this.#open) res.vanish();
    for (const client of this.#clients) client.broken();
    this.#open.clear();
    this.#clients.clear();
    this.#sockets.clear();
  }

  /** null: the connection broke before an answer. It may never resolve: a node may hang. */
  request(options: RequestOptions): Promise<HttpAnswer | null> {
    const { time, process, latencyMs } = this.#place;
    const caller = time.current;
    const { promise, resolve } = Promise.withResolvers<HttpAnswer | null>();
    const answer = (found: HttpAnswer | null) =>
      void time.at(caller, latencyMs, () => resolve(found));
    const res = new MemoryResponse(answer, options.address);
    this.#open.add(res);
    time.at(process, latencyMs, () => this.#receive(res, options));
    return promise;
  }

  connect(path: string, options: Omit<RequestOptions, 'method' | 'path'>, client: ClientEnd): void {
    const { time, process, latencyMs } = this.#place;
    const [url = '', query = ''] = path.split('?');
    this.#clients.add(client);
    time.at(process, latencyMs, () => {
      const endpoint = this.#endpoints.find(({ path }) => path === url);
      if (!this.isListening || endpoint === undefined) return client.broken();
      const headers = { ...UPGRADE_HEADERS, ...options.headers };
      const req = new MemoryRequest({ method: 'GET', path: `${url}?${query}`, headers }, {});
      const res = new MemoryResponse(() => client.broken(), options.address);
      res.onUpgrade = (data) => this.#upgraded(data, endpoint.behavior, client);
      this.#opened(res);
      endpoint.behavior.upgrade(res, req, {});
      if (!res.isUpgraded) this.#closed();
    });
  }

  #upgraded(data: unknown, behavior: WebSocketBehavior<unknown>, client: ClientEnd): void {
    const { connectionBytes } = this.#place;
    const place: SocketPlace<unknown> = { connectionBytes, behavior, data, client };
    const socket = new MemorySocket(place, () => {
      this.#sockets.delete(socket);
      this.#clients.delete(client);
    });
    this.#sockets.add(socket);
    client.opened(socket);
    behavior.open(socket);
  }

  #receive(res: MemoryResponse, options: RequestOptions): void {
    if (!this.isListening || res.isOver) {
      res.close();
      this.#open.delete(res);
      return;
    }
    const { method, path, body } = options;
    const [url = ''] = path.split('?');
    const found = this.#find(method.toLowerCase(), partsOf(url));
    if (found === null) {
      res.close();
      return;
    }
    this.#opened(res);
    res.onOver = () => {
      this.#open.delete(res);
      this.#closed();
    };
    try {
      found.pattern.handler(res, new MemoryRequest(options, found.parameters));
    } catch (error) {
      this.#place.handlerFailed(path, error);
      res.close();
    }
    res.receiveBody(typeof body === 'string' ? Buffer.from(body) : (body ?? Buffer.alloc(0)));
  }

  #find(method: string, parts: readonly string[]) {
    if (!this.#isSorted) this.#patterns.sort(bySpecificity);
    this.#isSorted = true;
    for (const wanted of [method, 'any']) {
      for (const pattern of this.#patterns) {
        if (pattern.method !== wanted) continue;
        const parameters = match(pattern.parts, parts);
        if (parameters !== null) return { pattern, parameters };
      }
    }
    return null;
  }
}

const UPGRADE_HEADERS = {
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

function partsOf(path: string): string[] {
  return path.split('/').slice(1);
}

/** Parameters by index; null: no match. */
function match(
  pattern: readonly string[],
  parts: readonly string[],
): Readonly<Record<number, string>> | null {
  const parameters: string[] = [];
  for (const [index, wanted] of pattern.entries()) {
    if (wanted === '*') return { ...parameters };
    const part = parts[index];
    if (part === undefined) return null;
    if (wanted.startsWith(':')) parameters.push(part);
    else if (wanted !== part) return null;
  }
  return parts.length === pattern.length ? { ...parameters } : null;
}

function bySpecificity(a: Pattern, b: Pattern): number {
  const most = Math.max(a.parts.length, b.parts.length);
  for (let index = 0; index < most; index += 1) {
    const difference = rank(a.parts[index]) - rank(b.parts[index]);
    if (difference !== 0) return difference;
  }
  return 0;
}

function rank(part: string | undefined): number {
  if (part === '*') return 2;
  return part?.startsWith(':') === true ? 1 : 0;
}
