/**
 * Ogmios 6 over a devnet: JSON-RPC 2.0 over WebSocket and, for requests without a state of their
 * own, over `POST /`; `GET /health`; and the devnet's own routes. The only import of ws.
 *
 * `MAX_BYTES` bounds a client's request. `FULL_BYTES` and the number of requests in flight bound
 * the queue for a slow client.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../../engine/runtime/clock.ts';
import { type JsonValue, jsonText } from '../../engine/runtime/exactJson.ts';
import { type Guard, isForeign, LocalHttpServer } from '../localHttp.ts';
import { epochAt, eraAt } from './networkFacts.ts';
import { isError } from './rpc.ts';
import type { ServedNode } from './served.ts';
import { Session } from './session.ts';

/** Limit of a request: one holds at most a transaction of 16 kB and the outputs it needs. */
const MAX_BYTES = 1 << 20;
/** Queued for a client, in bytes: no further answer is made before some of it is sent. */
const FULL_BYTES = 1 << 20;
/** Answers to queries may exceed FULL_BYTES; a client that does not read is cut off here. */
const MAX_QUEUED_BYTES = 16 << 20;
const MAX_SESSIONS = 1_000;
/** HTTP requests that are answered at once. */
const MAX_REQUESTS = 256;
const REQUEST_MS = 30_000;

interface OgmiosOptions {
  readonly host: string;
  /** 0: any. */
  readonly port: number;
  readonly guard: Guard;
  readonly clock: Clock;
  readonly version: string;
  /** Answers `POST /devnet/v1/*`; null: no such route. */
  readonly route: (path: string, body: string) => Promise<RouteAnswer> | null;
}

export interface RouteAnswer {
  readonly status: number;
  /** Becomes JSON. */
  readonly body: unknown;
}

export class OgmiosServer {
  readonly #node: ServedNode;
  readonly #options: OgmiosOptions;
  readonly #http: LocalHttpServer;
  readonly #upgrades = new WebSocketServer({ noServer: true, maxPayload: MAX_BYTES });
  readonly #sessions = new Map<Session, WebSocket>();
  readonly #unlisten: () => void;
  readonly #startTime: string;
  #tipTime: string;
  #requests = 0;
  #connections = 0;
  #messages = 0;

  constructor(node: ServedNode, options: OgmiosOptions) {
    this.#node = node;
    this.#options = options;
    this.#startTime = this.#now();
    this.#tipTime = this.#startTime;
    this.#http = new LocalHttpServer(
      (request, response) => void this.#handle(request, response),
      REQUEST_MS,
    );
    this.#http.http.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
    this.#unlisten = node.chain.listen({
      changed: () => {
        this.#tipTime = this.#now();
      },
      shortened: () => {},
    });
  }

  async start(): Promise<void> {
    await this.#http.listen('Ogmios', this.#options);
  }

  async stop(): Promise<void> {
    this.#unlisten();
    for (const [session, socket] of this.#sessions) {
      session.end();
      socket.terminate();
    }
    this.#upgrades.close();
    await this.#http.close();
  }

  get port(): number {
    return this.#http.port;
  }

  #now(): string {
    return new Date(this.#options.clock.nowMs()).toISOString();
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const foreign = isForeign(request.headers, this.#options.guard);
    if (foreign !== null) refuse(socket, '403 Forbidden', foreign);
    else if (this.#sessions.size >= MAX_SESSIONS) {
      refuse(socket, '503 Service Unavailable', `${MAX_SESSIONS} connections are open`);
    } else {
      this.#upgrades.handleUpgrade(request, socket, head, (client) => this.#connected(client));
    }
  }

  #connected(socket: WebSocket): void {
    this.#connections += 1;
    const session = new Session(this.#node, {
      send: (text) => {
        socket.send(text, () => socket.bufferedAmount === 0 && session.pump());
        if (socket.bufferedAmount > MAX_QUEUED_BYTES) socket.terminate();
      },
      isFull: () => socket.bufferedAmount > FULL_BYTES,
      close: (reason) => socket.close(1008, reason),
    });
    this.#sessions.set(session, socket);
    // `close` follows; unheard, it would end the process.
    socket.on('error', () => {});
    socket.on('close', () => {
      session.end();
      this.#sessions.delete(session);
    });
    socket.on('message', (data) => {
      this.#messages += 1;
      session.receive(data.toString());
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const foreign = isForeign(request.headers, this.#options.guard);
    if (foreign !== null) {
      send(response, 403, { error: foreign });
      return;
    }
    if (this.#requests >= MAX_REQUESTS) {
      send(response, 503, { error: `${MAX_REQUESTS} requests are under way: try again` });
      return;
    }
    this.#requests += 1;
    try {
      await this.#answer(request, response);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else send(response, 500, { error: String(error) });
    } finally {
      this.#requests -= 1;
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = '' } = request;
    const [path = ''] = url.split('?');
    if (method === 'OPTIONS') {
      response.writeHead(200, { ...CORS, 'access-control-allow-headers': 'content-type' }).end();
    } else if (method === 'GET' && path === '/health') {
      const isWell = (this.#node.facts.problem ?? null) === null;
      const body = health(this.#node, this.#activity(), this.#options.version);
      send(response, isWell ? 200 : 503, body);
    } else if (method !== 'POST') {
      const isKnown = path === '/' || path === '/health';
      send(response, isKnown ? 406 : 404, { error: 'POST / and GET /health are here.' });
    } else await this.#post(path, request, response);
  }

  async #post(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    if (body === null) {
      send(response, 413, { error: `A request has at most ${MAX_BYTES} bytes.` });
      return;
    }
    if (path === '/') {
      this.#messages += 1;
      const { text, status } = await this.#call(body);
      response.writeHead(status, JSON_TYPE).end(text);
      return;
    }
    const answer = await this.#options.route(path, body);
    if (answer === null) send(response, 404, { error: `There is no ${path} here.` });
    else send(response, answer.status, answer.body);
  }

  /** One request in a session that ends with its answer: no cursor or snapshot outlives it. */
  #call(text: string): Promise<{ readonly status: number; readonly text: string }> {
    const answered = Promise.withResolvers<{ status: number; text: string }>();
    const session = new Session(this.#node, {
      send: (answer) => answered.resolve({ status: isError(answer) ? 400 : 200, text: answer }),
      isFull: () => false,
      close: (reason) => answered.resolve({ status: 500, text: jsonText({ error: reason }) }),
    });
    session.receive(text);
    return answered.promise.finally(() => session.end());
  }

  #activity(): Activity {
    return {
      startTime: this.#startTime,
      lastTipUpdate: this.#tipTime,
      activeConnections: this.#sessions.size,
      totalConnections: this.#connections,
      totalMessages: this.#messages,
    };
  }
}

/** Pages of other origins are refused before: see localHttp.ts. */
const CORS = { 'access-control-allow-origin': '*' };
const JSON_TYPE = { ...CORS, 'content-type': 'application/json; charset=utf-8' };

/** The client may reset the connection, or keep its half open: neither may last. */
function refuse(socket: Duplex, status: string, why: string): void {
  // It is refused already: how it ends is of no interest.
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n${why}\n`, () => socket.destroy());
}

function send(response: ServerResponse, status: number, body: unknown): void {
  // trust: callers pass what JSON can say
  response.writeHead(status, JSON_TYPE).end(jsonText(body as Parameters<typeof jsonText>[0]));
}

/** null: longer than `MAX_BYTES`, or cut off. */
async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) return null;
      chunks.push(chunk);
    }
  } catch {
    // The client went away in the middle of its body.
    return null;
  }
  return Buffer.concat(chunks).toString();
}

/**
 * The answer of `GET /health` of Ogmios, and `problem` if there is one. Source: Ogmios' HTTP
 * interface, version 6.
 */
export interface Activity {
  readonly startTime: string;
  /** ISO 8601; when the tip was seen to change last. */
  readonly lastTipUpdate: string;
  readonly activeConnections: number;
  readonly totalConnections: number;
  readonly totalMessages: number;
}

export function health(
  { chain, facts }: ServedNode,
  activity: Activity,
  version: string,
): JsonValue {
  const { tip } = chain;
  const slot = Number(tip?.slot ?? 0);
  const { startSlot, epochSlots } = eraAt(facts.eras, slot);
  const isKnown = facts.isConnected;
  const { startTime, lastTipUpdate, ...connections } = activity;
  return {
    startTime,
    lastKnownTip: tip === null ? 'origin' : { slot: tip.slot, id: tip.id, height: tip.height },
    lastTipUpdate: isKnown ? lastTipUpdate : null,
    networkSynchronization: isKnown ? facts.synchronization : null,
    currentEra: isKnown ? (tip?.era ?? eraAt(facts.eras, slot).era) : null,
    metrics: {
      totalUnrouted: 0,
      ...connections,
      runtimeStats: { gcCpuTime: 0, cpuTime: 0, maxHeapSize: 0, currentHeapSize: 0 },
      sessionDurations: { max: 0, mean: 0, min: 0 },
    },
    connectionStatus: isKnown ? 'connected' : 'disconnected',
    currentEpoch: isKnown ? epochAt(facts.eras, slot) : null,
    slotInEpoch: isKnown ? (slot - startSlot) % epochSlots : null,
    version,
    network: facts.network,
    ...(facts.problem == null ? {} : { problem: facts.problem }),
  };
}
