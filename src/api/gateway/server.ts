/**
 * The only file that imports uWebSockets.js: a thin port with the parts that the gateway uses. A
 * simulation serves the same port in memory.
 *
 * Listening is exclusive, unless it is to be shared. By default uWebSockets.js sets SO_REUSEPORT,
 * so a second process on one port would silently take half of the connections instead of failing.
 */
import './headerLimit.ts';

import * as uWS from 'uWebSockets.js';
import { Failure } from '../../engine/runtime/errors.ts';
import type { Observer } from './observer.ts';

type Text = string | Uint8Array;
export type UpgradeContext = uWS.us_socket_context_t;

/** As much of the library's request as is used. It is gone once the handler has returned. */
export interface HttpRequest {
  /** '' where it was not sent. */
  getHeader(lowerCaseName: string): string;
  getParameter(index: number): string | undefined;
  getUrl(): string;
  /** In lower case. */
  getMethod(): string;
  getCaseSensitiveMethod(): string;
  getQuery(): string | undefined;
  getQuery(name: string): string | undefined;
  forEach(take: (name: string, value: string) => void): void;
}

/** As much of the library's response as is used. It is gone once `onAborted` was called. */
export interface HttpResponse {
  /** Reads nothing more from the connection. */
  pause(): void;
  resume(): void;
  writeStatus(status: string): unknown;
  writeHeader(name: string, value: string): unknown;
  end(body?: Text, closeConnection?: boolean): unknown;
  endWithoutBody(reportedLength?: number, closeConnection?: boolean): unknown;
  /** [the whole `chunk` was taken, the response is complete]. */
  tryEnd(chunk: Text, totalBytes: number): [boolean, boolean];
  /** Part of a body without a known length; false: some bytes have not left yet. */
  write(chunk: Text): boolean;
  onWritable(run: (offset: number) => boolean): unknown;
  onAborted(run: () => void): unknown;
  onData(take: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  cork(run: () => void): unknown;
  /** At once: aborted. */
  close(): unknown;
  getRemoteAddress(): ArrayBuffer;
  upgrade<Data>(
    data: Data,
    key: string,
    protocol: string,
    extensions: string,
    context: UpgradeContext,
  ): void;
}

/** As much of the library's socket as is used. It is gone once `close` was called. */
export interface RawSocket<Data> {
  /** 0: it waits for the network, 1: sent, 2: thrown away. */
  send(message: Text, isBinary: boolean): number;
  getBufferedAmount(): number;
  end(code: number, reason: string): void;
  subscribe(channel: string): unknown;
  unsubscribe(channel: string): unknown;
  cork(run: () => void): unknown;
  getUserData(): Data;
}

export interface WebSocketBehavior<Data> {
  readonly maxPayloadLength: number;
  readonly maxBackpressure: number;
  readonly closeOnBackpressureLimit: boolean;
  readonly idleTimeout: number;
  readonly sendPingsAutomatically: boolean;
  upgrade(res: HttpResponse, req: HttpRequest, context: UpgradeContext): void;
  open(socket: RawSocket<Data>): void;
  message(socket: RawSocket<Data>, bytes: ArrayBuffer, isBinary: boolean): void;
  ping(socket: RawSocket<Data>): void;
  pong(socket: RawSocket<Data>): void;
  dropped(socket: RawSocket<Data>): void;
  drain(socket: RawSocket<Data>): void;
  close(socket: RawSocket<Data>, code: number): void;
}

export type Handler = (res: HttpResponse, req: HttpRequest) => void;
export type Method = 'get' | 'post' | 'del' | 'head' | 'options' | 'any';

export interface Server {
  /** A handler that throws loses its connection; the exception would end the process. */
  handle(method: Method, pattern: string, handler: Handler): void;
  /** An upgrade to a WebSocket does not call `closed`. */
  connections(opened: (res: HttpResponse) => void, closed: () => void): void;
  sockets<Data>(pattern: string, behavior: WebSocketBehavior<Data>): void;
  /** Sends to every socket subscribed to `channel`, at the end of this turn of the event loop. */
  publish(channel: string, bytes: Uint8Array, isBinary: boolean): void;
  /**
   * Returns the port that was bound; port 0 picks a free one. `isShared`: other processes of the
   * same user may listen on it as well, and the system spreads connections over them.
   */
  listen(host: string, port: number, isShared: boolean): Promise<number | Failure>;
  /** Accepts no new connections; open ones continue. */
  stopListening(): void;
  /** Closes all connections at once. */
  close(): void;
}

/** An overload that the typings leave out. */
interface ListenWithOptions {
  listen(
    host: string,
    port: number,
    options: number,
    done: (socket: uWS.us_listen_socket | false) => void,
  ): unknown;
}

const LISTEN_SHARED = 0;
const LISTEN_EXCLUSIVE = 1;

function ignore(): void {}

export function createServer(observer: Observer): Server {
  const app = uWS.App();
  let listening: uWS.us_listen_socket | null = null;

  return {
    handle(method, pattern, handler) {
      app[method](pattern, (res, req) => {
        try {
          // Also for handlers that answer at once: an answer longer than the library's buffer is
          // written while they run, and a client found gone there would end the process.
          res.onAborted(ignore);
          handler(res, req);
        } catch (error) {
          observer.handlerFailed(pattern, error);
          res.close();
        }
      });
    },
    connections(opened, closed) {
      app.filter((res, change) => (Number(change) > 0 ? opened(res) : closed()));
    },
    sockets: (pattern, behavior) => void app.ws(pattern, behavior),
    publish: (channel, bytes, isBinary) => void app.publish(channel, bytes, isBinary),
    listen(host, port, isShared) {
      // trust: the library's typings lack this overload; the method takes these four arguments.
      const listener = app as uWS.TemplatedApp & ListenWithOptions;
      return new Promise((resolve) => {
        listener.listen(host, port, isShared ? LISTEN_SHARED : LISTEN_EXCLUSIVE, (socket) => {
          if (socket === false) {
            resolve(new Failure('SERVER_ERROR', `cannot listen on ${host}:${port}: is it in use?`));
            return;
          }
          listening = socket;
          resolve(uWS.us_socket_local_port(socket));
        });
      });
    },
    stopListening() {
      if (listening !== null) uWS.us_listen_socket_close(listening);
      listening = null;
    },
    close() {
      listening = null;
      app.close();
    },
  };
}
